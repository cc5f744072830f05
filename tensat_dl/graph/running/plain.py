"""Element types that numpy arrays can carry through onnxruntime, at the border of a model.

Enters: a model.  Leaves: the same with casts where an input or output has another type (bf16, fp8,
int4, ..): floats are cast to f32, integers to i8 or u8, all exactly.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import onnx
from onnx import TensorProto

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.names import Names, subgraphs, value_names
from tensat_dl.graph.structure import initializer_names
from tensat_dl.graph.subgraphs import rename_captured, rename_inputs

#: Element types onnxruntime takes from numpy and gives to it.
_PLAIN = frozenset(
    (
        *(TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.BOOL),
        *(TensorProto.INT8, TensorProto.INT16, TensorProto.INT32, TensorProto.INT64),
        *(TensorProto.UINT8, TensorProto.UINT16, TensorProto.UINT32, TensorProto.UINT64),
        *(TensorProto.STRING, TensorProto.UNDEFINED),
    )
)
_NARROW_INTEGERS: Mapping[int, int] = {
    TensorProto.INT4: TensorProto.INT8,
    TensorProto.UINT4: TensorProto.UINT8,
    TensorProto.INT2: TensorProto.INT8,
    TensorProto.UINT2: TensorProto.UINT8,
}


def plain_interface(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The same model with casts where inputs or outputs have a type numpy cannot carry.

    Names and order stay; the model itself is returned where there is nothing to do.
    """
    if all(map(is_plain, (*proto.graph.input, *proto.graph.output))):
        return proto
    plain = copy_model(proto)
    graph = plain.graph
    names = Names(value_names(graph))
    given = set(initializer_names(graph))
    fed = [value for value in graph.input if value.name not in given]
    for value in [value for value in fed if not is_plain(value)]:
        _cast_input(graph, value, names.fresh(f"{value.name}/inner"))
    passed = {value.name for value in fed}
    for value in [value for value in graph.output if not is_plain(value)]:
        if value.name in passed:  # what is fed comes out
            value.type.tensor_type.elem_type = plain_code(value.type.tensor_type.elem_type)
        else:
            _cast_output(graph, value, names.fresh(f"{value.name}/inner"))
    return plain


def plain_code(code: int) -> int:
    """The element type that carries values of an element type without loss."""
    if code in _PLAIN:
        return code
    return int(_NARROW_INTEGERS.get(code, TensorProto.FLOAT))


def is_plain(value: onnx.ValueInfoProto) -> bool:
    """Numpy arrays carry its element type (or it is no tensor)."""
    return value.type.tensor_type.elem_type in _PLAIN


def _cast_input(graph: onnx.GraphProto, value: onnx.ValueInfoProto, inner: str) -> None:
    code = value.type.tensor_type.elem_type
    _rename_reads(graph, value.name, inner)
    graph.node.insert(0, _cast(value.name, inner, code))
    value.type.tensor_type.elem_type = plain_code(code)


def _cast_output(graph: onnx.GraphProto, value: onnx.ValueInfoProto, inner: str) -> None:
    code = plain_code(value.type.tensor_type.elem_type)
    _rename_reads(graph, value.name, inner)
    for node in graph.node:
        _rename(node.output, value.name, inner)
    sparse = (tensor.values for tensor in graph.sparse_initializer)
    for made in (*graph.initializer, *sparse, *graph.input, *graph.value_info):
        made.name = inner if made.name == value.name else made.name
    graph.node.append(_cast(inner, value.name, code))
    value.type.tensor_type.elem_type = code


def _rename_reads(graph: onnx.GraphProto, old: str, new: str) -> None:
    for node in graph.node:
        rename_inputs(node, {old: new})
        for subgraph in subgraphs(node):
            rename_captured(subgraph, {old: new})


def _rename(names: Any, old: str, new: str) -> None:
    for index, name in enumerate(names):
        if name == old:
            names[index] = new


def _cast(source: str, target: str, code: int) -> onnx.NodeProto:
    return onnx.helper.make_node("Cast", [source], [target], to=code)
