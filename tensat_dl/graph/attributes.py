"""Attributes between protobuf and canonical form, see `vocabulary.attributes`.

The payload of a :class:`Blob` is the field that holds it: a TensorProto, GraphProto, TypeProto,
SparseTensorProto, or a tuple of those; its kind is the attribute type in lower case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import onnx

from tensat_dl.graph.constants import content_digest
from tensat_dl.graph.subgraphs import captured
from tensat_dl.vocabulary.attributes import AttributeValue, Blob
from tensat_dl.vocabulary.operators import AttributeKind, FormalAttribute

Kind = onnx.AttributeProto


def read_attributes(node: onnx.NodeProto) -> dict[str, AttributeValue]:
    """Name -> value of all attributes of a node."""
    return {attribute.name: _READERS[attribute.type](attribute) for attribute in node.attribute}


def write_attribute(
    name: str, value: AttributeValue, formal: FormalAttribute | None
) -> onnx.AttributeProto:
    """The attribute as protobuf; `formal` tells the type where the value does not."""
    proto = onnx.AttributeProto(name=name)
    match value:
        case Blob():
            _write_blob(proto, value)
        case float():
            proto.type, proto.f = Kind.FLOAT, value
        case int():
            proto.type, proto.i = Kind.INT, int(value)
        case str() | bytes():
            proto.type, proto.s = Kind.STRING, _bytes(value)
        case tuple():
            _write_list(proto, value, formal)
    if formal is not None and formal.kind is AttributeKind.FLOAT and proto.type == Kind.INT:
        proto.Clear()
        proto.name, proto.type, proto.f = name, Kind.FLOAT, float(value)  # type: ignore[arg-type]
    return proto


def _write_list(
    proto: onnx.AttributeProto, values: tuple[Any, ...], formal: FormalAttribute | None
) -> None:
    kind = formal.kind if formal is not None else _list_kind(values)
    match kind:
        case AttributeKind.FLOATS:
            proto.type = Kind.FLOATS
            proto.floats.extend(values)
        case AttributeKind.STRINGS:
            proto.type = Kind.STRINGS
            proto.strings.extend(_bytes(value) for value in values)
        case _:
            proto.type = Kind.INTS
            proto.ints.extend(values)


def _list_kind(values: tuple[Any, ...]) -> AttributeKind:
    if any(isinstance(value, float) for value in values):
        return AttributeKind.FLOATS
    if any(isinstance(value, str | bytes) for value in values):
        return AttributeKind.STRINGS
    return AttributeKind.INTS


def _write_blob(proto: onnx.AttributeProto, blob: Blob) -> None:
    proto.type = Kind.AttributeType.Value(blob.kind.upper())
    field = _BLOB_FIELDS[proto.type]
    if isinstance(blob.payload, tuple):
        getattr(proto, field).extend(blob.payload)
    else:
        getattr(proto, field).CopyFrom(blob.payload)


def _text(content: bytes) -> str | bytes:
    try:
        return content.decode()
    except UnicodeDecodeError:
        return content


def _bytes(value: str | bytes) -> bytes:
    return value.encode() if isinstance(value, str) else value


def _blob_reader(field: str) -> Callable[[onnx.AttributeProto], Blob]:
    def read(attribute: onnx.AttributeProto) -> Blob:
        payload = getattr(attribute, field)
        content = payload.SerializeToString(deterministic=True)
        return Blob.of(_kind_name(attribute), content, payload)

    return read


def _blob_list_reader(field: str) -> Callable[[onnx.AttributeProto], Blob]:
    def read(attribute: onnx.AttributeProto) -> Blob:
        payloads = tuple(getattr(attribute, field))
        content = b"\0".join(_message_digests(payloads))
        names = tuple(name for payload in payloads for name in _captured(payload))
        return Blob.of(_kind_name(attribute), content, payloads, names)

    return read


def _read_graph(attribute: onnx.AttributeProto) -> Blob:
    content = attribute.g.SerializeToString(deterministic=True)
    return Blob.of("graph", content, attribute.g, captured(attribute.g))


def _read_tensor(attribute: onnx.AttributeProto) -> Blob:
    return Blob("tensor", content_digest(attribute.t), attribute.t)


def _captured(payload: Any) -> tuple[str, ...]:
    return captured(payload) if isinstance(payload, onnx.GraphProto) else ()


def _message_digests(payloads: Iterable[Any]) -> Iterable[bytes]:
    return (
        Blob.of("", p.SerializeToString(deterministic=True), None).digest.encode() for p in payloads
    )


def _kind_name(attribute: onnx.AttributeProto) -> str:
    return str(Kind.AttributeType.Name(attribute.type)).lower()


_BLOB_FIELDS: Mapping[int, str] = {
    Kind.TENSOR: "t",
    Kind.GRAPH: "g",
    Kind.SPARSE_TENSOR: "sparse_tensor",
    Kind.TYPE_PROTO: "tp",
    Kind.TENSORS: "tensors",
    Kind.GRAPHS: "graphs",
    Kind.SPARSE_TENSORS: "sparse_tensors",
    Kind.TYPE_PROTOS: "type_protos",
}

_READERS: Mapping[int, Callable[[onnx.AttributeProto], Any]] = {
    Kind.FLOAT: lambda a: a.f,
    Kind.INT: lambda a: a.i,
    Kind.STRING: lambda a: _text(a.s),
    Kind.FLOATS: lambda a: tuple(a.floats),
    Kind.INTS: lambda a: tuple(a.ints),
    Kind.STRINGS: lambda a: tuple(_text(s) for s in a.strings),
    Kind.TENSOR: _read_tensor,
    Kind.GRAPH: _read_graph,
    Kind.SPARSE_TENSOR: _blob_reader("sparse_tensor"),
    Kind.TYPE_PROTO: _blob_reader("tp"),
    Kind.TENSORS: _blob_list_reader("tensors"),
    Kind.GRAPHS: _blob_list_reader("graphs"),
    Kind.SPARSE_TENSORS: _blob_list_reader("sparse_tensors"),
    Kind.TYPE_PROTOS: _blob_list_reader("type_protos"),
}
