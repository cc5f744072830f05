"""What dims without a number count as.

Enters: a graph, and the size that every symbol has for want of a better one.  Leaves: the size of
each symbol.  Where a model cannot run at that size (a convolution over 512 samples has no place in
16 of them, and an operator of no places cannot be timed), the symbols behind it are larger, by
powers of two, and no larger than it takes: what is larger takes longer to time.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tensat_dl.graph.model import Graph
from tensat_dl.vocabulary.dims import Dim, SymbolicDim, is_unknown, substitute
from tensat_dl.vocabulary.types import TensorType

#: No symbol is made larger than this.
_MOST = 1 << 16


@dataclass(frozen=True)
class SymbolSizes:
    """`usual`: of every symbol but those in `larger`, which are named with theirs."""

    usual: int
    larger: tuple[tuple[str, int], ...] = ()

    def of(self, name: str) -> int:
        """The size of a symbol."""
        return dict(self.larger).get(name, self.usual)

    def of_all(self, names: frozenset[str]) -> dict[str, int]:
        """The sizes of several."""
        known = dict(self.larger)
        return {name: known.get(name, self.usual) for name in names}


def symbol_sizes(graph: Graph, usual: int) -> SymbolSizes:
    """Sizes at which every dim of `graph` can be, as far as one symbol at a time tells."""
    larger: dict[str, int] = {}
    for dim in sorted(set(_dims(graph)), key=str):
        sizes = {name: larger.get(name, usual) for name in dim.symbols()}
        if _least(dim, sizes) <= 0:
            larger |= _enlarged(dim, sizes)
    return SymbolSizes(usual, tuple(sorted(larger.items())))


def _dims(graph: Graph) -> Iterator[SymbolicDim]:
    for type_ in graph.types.values():
        if isinstance(type_, TensorType):
            known = (dim for dim in type_.dims or () if isinstance(dim, SymbolicDim))
            yield from (dim for dim in known if not is_unknown(dim))


def _enlarged(dim: SymbolicDim, sizes: Mapping[str, int]) -> dict[str, int]:
    """The symbol that takes the least to make `dim` 1 or more, with its new size; empty where none
    does."""
    factors = [1 << power for power in range(1, _MOST.bit_length())]
    for factor, name in itertools.product(factors, sorted(sizes)):
        size = sizes[name] * factor
        if size <= _MOST and _least(dim, {**sizes, name: size}) > 0:
            return {name: size}
    return {}


def _least(dim: Dim, sizes: Mapping[str, int]) -> int:
    """The size of `dim`; 1 where it has none, of which there is nothing to mend."""
    try:
        size = substitute(dim, sizes)
    except ZeroDivisionError:
        return 1
    return size if isinstance(size, int) else 1
