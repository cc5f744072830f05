"""Questions of type inference as the tests write them, and answers as text."""

from __future__ import annotations

from typing import Any

from tensat_dl.vocabulary import catalog, dims
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.dims import Dim, symbol
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.types import TensorType, Type, TypeFault

N, M, H = symbol("N"), symbol("M"), symbol("H")


def f32(*sizes: Dim) -> TensorType:
    return TensorType(DType.F32, sizes)


def ints(*values: Dim) -> TensorType:
    return TensorType(DType.I64, (len(values),), values)


def scalar(value: Dim) -> TensorType:
    return TensorType(DType.I64, (), (value,))


def unknown_ints(length: Dim) -> TensorType:
    return TensorType(DType.I64, (length,))


def ask(
    name: str, *inputs: Type, outputs: int = 1, identity: str = "", **attributes: Any
) -> tuple[Type, ...] | TypeFault:
    op = catalog.operator(name)
    assert op is not None
    canonical = canonical_attributes(op, attributes, inputs)
    return infer(op, canonical, inputs, outputs, identity)


def shapes(name: str, *inputs: Type, outputs: int = 1, **attributes: Any) -> list[str]:
    found = ask(name, *inputs, outputs=outputs, **attributes)
    assert not isinstance(found, TypeFault), found
    return [shape_of(type_) for type_ in found]


def shape_of(type_: Type) -> str:
    assert isinstance(type_, TensorType)
    if type_.dims is None:
        return "?"
    sizes = ("?" if dims.is_unknown(dim) else str(dim) for dim in type_.dims)
    return "[" + ", ".join(sizes) + "]"
