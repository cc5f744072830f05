"""A model as the bytes of its file, one piece after the other.

Enters: a model in memory.  Leaves: what protobuf writes of it, so that the pieces together are its
file: whole, it would be in memory two more times.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from google.protobuf.message import Message

from tensat_dl.graph.copies import copy_fields
from tensat_dl.graph.wire import Kind, has_unknown_fields, tag, varint

_GRAPH = tag(onnx.ModelProto.GRAPH_FIELD_NUMBER, Kind.LENGTH)
_INITIALIZER = tag(onnx.GraphProto.INITIALIZER_FIELD_NUMBER, Kind.LENGTH)


def pieces(proto: onnx.ModelProto) -> Iterator[bytes]:
    """The model in the order that protobuf has, each initializer by itself."""
    graph = proto.graph
    if has_unknown_fields(proto) or has_unknown_fields(graph):
        yield proto.SerializeToString()
        return
    first, rest = _around(proto, "graph")
    before, after = _around(graph, "initializer")
    sizes = [tensor.ByteSize() for tensor in graph.initializer]
    framed = sum(len(_head(_INITIALIZER, size)) + size for size in sizes)
    yield first + _head(_GRAPH, len(before) + framed + len(after)) + before
    for tensor, size in zip(graph.initializer, sizes, strict=True):
        yield _head(_INITIALIZER, size)
        yield tensor.SerializeToString()
    yield after + rest


def _around(message: Message, name: str) -> tuple[bytes, bytes]:
    """The fields before and after the field `name`."""
    fields = message.DESCRIPTOR.fields_by_name
    place = fields[name].number
    before = {key for key, field in fields.items() if field.number < place}
    parts = []
    for skipped in (set(fields) - before, before | {name}):
        part = type(message)()
        copy_fields(message, part, skip=skipped)
        parts.append(part.SerializePartialToString())
    return parts[0], parts[1]


def _head(field: bytes, size: int) -> bytes:
    """What stands before a message of `size` bytes in a field of that tag."""
    return field + varint(size)
