"""Types of what operators of onnxruntime's own domain give: those that its tools write.

Enters: a node of `com.microsoft`, and the types of what it reads.  Leaves: types for its outputs,
none for operators that are not in the table.  ONNX has no schema of them; what is said here is
what onnxruntime documents, and no more than follows for all their attributes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import onnx

from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.catalog import operator
from tensat_dl.vocabulary.dims import Dim, unknown
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.types import UNDECLARED, TensorType, Type, TypeFault

Shape = tuple[Dim, ...] | None


class _Node:
    """A node with the types of what it reads."""

    def __init__(self, node: onnx.NodeProto, types: Mapping[str, Type]) -> None:
        self.name = node.output[0]
        self.types = [types[name] if name else UNDECLARED for name in node.input]
        self.attributes = {attribute.name: attribute for attribute in node.attribute}

    def tensor(self, place: int) -> TensorType | None:
        given = self.types[place] if place < len(self.types) else None
        return given if isinstance(given, TensorType) else None

    def dims(self, place: int) -> Shape:
        tensor = self.tensor(place)
        return None if tensor is None else tensor.dims

    def integer(self, name: str, default: int = 0) -> int:
        return self.attributes[name].i if name in self.attributes else default

    def unknown(self, axis: int) -> Dim:
        return unknown(f"{self.name}[{axis}]")

    def like(self, name: str, *places: int) -> Shape:
        """The dims that ONNX's operator of that name gives of those inputs, as of floats."""
        op, shapes = operator(name), [self.dims(place) for place in places]
        if op is None or None in shapes:
            return None
        given = tuple(TensorType(DType.F32, shape) for shape in shapes)
        found = infer(op, Attributes(), given, 1)
        if isinstance(found, TypeFault) or not isinstance(found[0], TensorType):
            return None
        return found[0].dims


def _same(node: _Node) -> Shape:
    return node.dims(0)


def _product(node: _Node) -> Shape:
    flags = ("transA", "transB", "transBatchA", "transBatchB")
    return None if any(map(node.integer, flags)) else node.like("MatMul", 0, 1)


def _quantised_sum(node: _Node) -> Shape:
    return node.like("Add", 0, 3)


def _blocked_product(node: _Node) -> Shape:
    given = node.dims(0)
    return None if given is None or len(given) < 2 else (*given[:-1], node.integer("N"))


def _blocked_rows(node: _Node) -> Shape:
    data, indices = node.dims(0), node.dims(1)
    if data is None or indices is None or node.integer("gather_axis"):
        return None
    axes = range(len(indices), len(indices) + len(data) - 1)
    return (*indices, *map(node.unknown, axes))


def _attention(node: _Node) -> Shape:
    given = node.dims(0)
    return (*given[:2], node.unknown(2)) if given is not None and len(given) == 3 else None


#: Operator -> the input that has the element type of the first output, and the dims of that.
_TYPES: Mapping[str, tuple[int, Callable[[_Node], Shape]]] = {
    "Attention": (0, _attention),
    "BiasGelu": (0, _same),
    "DequantizeLinear": (1, _same),
    "DynamicQuantizeMatMul": (0, _product),
    "FastGelu": (0, _same),
    "FusedMatMul": (0, _product),
    "GatherBlockQuantized": (2, _blocked_rows),
    "Gelu": (0, _same),
    "MatMulIntegerToFloat": (2, _product),
    "MatMulNBits": (0, _blocked_product),
    "MultiHeadAttention": (0, _attention),
    "QLinearAdd": (0, _quantised_sum),
    "QLinearMul": (0, _quantised_sum),
    "QLinearSigmoid": (0, _same),
    "QLinearSoftmax": (0, _same),
    "QuantizeLinear": (2, _same),
    "QuickGelu": (0, _same),
    "SkipLayerNormalization": (0, _same),
    "SkipSimplifiedLayerNormalization": (0, _same),
}


def contrib_types(node: onnx.NodeProto, types: Mapping[str, Type]) -> dict[str, Type]:
    """The type of the first output of `node`, by its name; nothing where that is not known."""
    if node.domain != "com.microsoft" or node.op_type not in _TYPES or not node.output[0]:
        return {}
    known = _Node(node, types)
    place, shape = _TYPES[node.op_type]
    element = known.tensor(place)
    return {} if element is None else {node.output[0]: TensorType(element.dtype, shape(known))}
