"""All tensors of a model, wherever they stand, and how large the model is as one message."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator

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
    """Tensors in attributes, in sparse ones, in subgraphs, in functions and in what is said of
    training."""
    yield from _body_tensors(proto.graph)
    for function in proto.functions:
        yield from _body_tensors(function)
    for info in proto.training_info:
        yield from _graph_tensors(info.initialization)
        yield from _graph_tensors(info.algorithm)


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


def _graph_tensors(graph: onnx.GraphProto) -> Iterator[onnx.TensorProto]:
    yield from graph.initializer
    yield from _body_tensors(graph)


def _body_tensors(body: onnx.GraphProto | onnx.FunctionProto) -> Iterator[onnx.TensorProto]:
    if isinstance(body, onnx.GraphProto):
        yield from _parts(body.sparse_initializer)
    for node in body.node:
        for attribute in node.attribute:
            if attribute.type == onnx.AttributeProto.TENSOR:
                yield attribute.t
            yield from attribute.tensors
            if attribute.type == onnx.AttributeProto.SPARSE_TENSOR:
                yield from _parts([attribute.sparse_tensor])
            yield from _parts(attribute.sparse_tensors)
        for graph in subgraphs(node):
            yield from _graph_tensors(graph)


def _parts(tensors: Iterable[onnx.SparseTensorProto]) -> Iterator[onnx.TensorProto]:
    for tensor in tensors:
        yield tensor.values
        yield tensor.indices
