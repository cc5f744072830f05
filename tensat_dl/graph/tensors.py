"""All tensors of a model, wherever they stand, and how large the model is as one message."""

from __future__ import annotations

import math
from collections.abc import Iterator

import onnx

from tensat_dl.graph.external import is_external
from tensat_dl.graph.names import subgraphs
from tensat_dl.vocabulary import dtypes

#: Largest protobuf message that can be serialised, less what is not in tensors.
PROTO_LIMIT = (1 << 31) - (1 << 26)


def all_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Initializers, and what `inner_tensors` finds."""
    yield from proto.graph.initializer
    yield from inner_tensors(proto)


def inner_tensors(proto: onnx.ModelProto) -> Iterator[onnx.TensorProto]:
    """Tensors in attributes, in subgraphs and in functions."""
    for node in proto.graph.node:
        yield from _node_tensors(node)
    for function in proto.functions:
        for node in function.node:
            yield from _node_tensors(node)


def is_too_large(proto: onnx.ModelProto) -> bool:
    """The model does not fit one protobuf message.

    Estimated from the dims of its tensors: `ByteSize` serialises everything, and fails where that
    is too large.
    """
    return sum(map(inside_bytes, all_tensors(proto))) >= PROTO_LIMIT


def inside_bytes(tensor: onnx.TensorProto) -> int:
    """Bytes of its data, as its dims say; 0 where that is outside the model."""
    dtype = dtypes.from_onnx(tensor.data_type)
    if dtype is None or is_external(tensor):
        return 0
    return int(math.prod(tensor.dims)) * dtype.bits // 8


def _node_tensors(node: onnx.NodeProto) -> Iterator[onnx.TensorProto]:
    for attribute in node.attribute:
        if attribute.type == onnx.AttributeProto.TENSOR:
            yield attribute.t
        yield from attribute.tensors
    for graph in subgraphs(node):
        yield from graph.initializer
        for inner in graph.node:
            yield from _node_tensors(inner)
