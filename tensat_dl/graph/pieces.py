"""A model as the bytes of its file, one piece after the other.

Enters: a model in memory.  Leaves: what protobuf writes of it, so that the pieces together are its
file: whole, it would be in memory two more times.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx
from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet

from tensat_dl.graph.copies import copy_fields

#: What stands before the length of a message in a field: the field's number and the kind 2.
_LENGTH = 2
_GRAPH = onnx.ModelProto.GRAPH_FIELD_NUMBER << 3 | _LENGTH
_INITIALIZER = onnx.GraphProto.INITIALIZER_FIELD_NUMBER << 3 | _LENGTH


def pieces(proto: onnx.ModelProto) -> Iterator[bytes]:
    """The model in the order that protobuf has, each initializer by itself."""
    graph = proto.graph
    if len(UnknownFieldSet(proto)) or len(UnknownFieldSet(graph)):
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


def _head(tag: int, size: int) -> bytes:
    """What stands before a message of `size` bytes in a field."""
    return bytes([tag]) + _varint(size)


def _varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; all bytes but the last have the eighth bit set."""
    digits = []
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])
