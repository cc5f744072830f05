"""The sizes of one operator application, as plain numbers.

Enters: types, whose dims may be symbolic or unknown.  Leaves: :class:`Shapes`, on which the
formulas of FLOPs and bytes are written.  A symbolic dim counts every symbol in it as one
declared size, because a price is one number: give sizes with `--dim` for a better estimate.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.dims import Dim, SymbolicDim, substitute
from tensat_dl.vocabulary.types import AbsentType, TensorType, Type


@dataclass(frozen=True)
class Tensor:
    """Dims and bits per element.  `known` is False where the rank is not known."""

    dims: tuple[int, ...]
    bits: int = 32
    known: bool = True

    @property
    def numel(self) -> int:
        """Number of elements."""
        return math.prod(self.dims)

    @property
    def nbytes(self) -> int:
        """Size in bytes, packed for types of less than a byte."""
        return (self.numel * self.bits + 7) // 8


#: Stands for a missing input and has no elements.
NOTHING = Tensor((0,), 0)
#: Stands for a tensor of unknown rank and for what is no tensor; counts as empty.
UNKNOWN = Tensor((0,), 0, known=False)


@dataclass(frozen=True)
class Shapes:
    """Inputs, outputs and attributes of one application; beyond the end there is NOTHING.  The
    inputs at `repeats` are the same tensors as earlier ones."""

    inputs: tuple[Tensor, ...]
    outputs: tuple[Tensor, ...]
    attributes: Mapping[str, AttributeValue]
    repeats: tuple[int, ...] = ()

    def input(self, index: int) -> Tensor:
        """The input at `index`."""
        return self.inputs[index] if index < len(self.inputs) else NOTHING

    def output(self, index: int) -> Tensor:
        """The output at `index`."""
        return self.outputs[index] if index < len(self.outputs) else NOTHING

    @property
    def known(self) -> bool:
        """No tensor of unknown rank takes part."""
        return all(tensor.known for tensor in (*self.inputs, *self.outputs))

    def number(self, name: str, default: float) -> float:
        """A numeric attribute."""
        value = self.attributes.get(name)
        return value if isinstance(value, int | float) else default

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        value = self.attributes.get(name)
        return value if isinstance(value, str) else default

    def integers(self, name: str) -> tuple[int, ...]:
        """A list attribute; empty where absent."""
        value = self.attributes.get(name)
        return tuple(int(item) for item in value) if isinstance(value, tuple) else ()


def shapes_of(
    attributes: Attributes,
    inputs: Sequence[Type],
    outputs: Sequence[Type],
    sizes: SymbolSizes,
    repeats: tuple[int, ...] = (),
) -> Shapes:
    """The sizes of an application; symbols count as `sizes` says."""
    return Shapes(
        tuple(_tensor(type_, sizes) for type_ in inputs),
        tuple(_tensor(type_, sizes) for type_ in outputs),
        attributes.as_dict(),
        repeats,
    )


def concrete(type_: Type, sizes: SymbolSizes) -> Type:
    """`type_` with numbers for its dims; its value stays."""
    if not isinstance(type_, TensorType) or type_.dims is None:
        return type_
    dims = tuple(size_of(dim, sizes) for dim in type_.dims)
    return TensorType(type_.dtype, dims, type_.value)


@lru_cache(maxsize=1 << 14)
def _tensor(type_: Type, sizes: SymbolSizes) -> Tensor:
    if isinstance(type_, AbsentType):
        return NOTHING
    if not isinstance(type_, TensorType) or type_.dims is None:
        return UNKNOWN
    return Tensor(tuple(size_of(dim, sizes) for dim in type_.dims), type_.dtype.bits)


def size_of(dim: Dim, sizes: SymbolSizes) -> int:
    """`dim` as a number, symbols in it counting as `sizes` says; never negative."""
    if not isinstance(dim, SymbolicDim):
        return dim
    try:
        size = substitute(dim, sizes.of_all(dim.symbols()))
    except ZeroDivisionError:
        return sizes.usual
    return max(0, size) if isinstance(size, int) else sizes.usual
