"""Sizes to try for the symbolic dims of a model's inputs.

Enters: the inputs to feed, sizes that the user gave.  Leaves: sizes of all dims, the most telling
first.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from tensat_dl.graph.verifying.slots import Inputs

#: Sizes to fall back on before those of constants, in this order.
LADDER = (4, 8, 16, 32, 64, 128, 224, 256, 320, 512)

#: All inputs together have no more elements at a size to fall back on: drawing takes time.
_MOST_ELEMENTS = 1 << 24

#: Size of leading (batch) dims in the fallbacks, by sample.
_LEADS = (2, 1, 3)


@dataclass(frozen=True)
class SizeChoices:
    """`fixed`: sizes that the user gave."""

    inputs: Inputs
    fixed: Mapping[str, int]

    def for_sample(self, sample: int) -> Iterator[dict[str, int]]:
        """The best first: all different in sample 0, all 1 in sample 1; then fallbacks: common
        sizes, and those that constants of the model have, unless inputs get too large."""
        choices = self._for_sample(sample)
        first = next(choices)
        yield first
        tried = [first]
        for choice in filter(self._is_affordable, choices):
            if choice not in tried:
                tried.append(choice)
                yield choice

    def near(self, sizes: Mapping[str, int], sample: int) -> dict[str, int]:
        """Sizes that an earlier sample had, with the leading ones of this one."""
        lead = _LEADS[sample % len(_LEADS)]
        symbols = self._free_symbols()
        return self._complete({s: lead if self._is_leading(s) else sizes[s] for s in symbols})

    def _is_affordable(self, sizes: Mapping[str, int]) -> bool:
        return sum(math.prod(slot.shape(sizes)) for slot in self.inputs.slots) <= _MOST_ELEMENTS

    def _for_sample(self, sample: int) -> Iterator[dict[str, int]]:
        symbols = self._free_symbols()
        if not symbols:
            yield dict(self.fixed)
            return
        yield self._complete(_preferred(symbols, sample))
        batch = {symbol for symbol in symbols if self._is_leading(symbol)}
        lead = _LEADS[sample % len(_LEADS)]
        for size in dict.fromkeys((*LADDER, *self.inputs.sizes)):
            yield self._complete({s: lead if s in batch else size for s in symbols})
            yield self._complete({s: 1 if s in batch else size for s in symbols})
            yield self._complete(dict.fromkeys(symbols, size))
        yield self._complete(dict.fromkeys(symbols, 1))

    def mixed(
        self, choices: Sequence[Mapping[str, int]], rng: np.random.Generator
    ) -> dict[str, int]:
        """The size of each dim from one of the choices, drawn for itself."""
        symbols = self._free_symbols()
        drawn = rng.integers(len(choices), size=len(symbols))
        return self._complete(
            {s: choices[place][s] for s, place in zip(symbols, drawn, strict=True)}
        )

    def _complete(self, sizes: Mapping[str, int]) -> dict[str, int]:
        known = {**sizes, **self.fixed}
        return {**{name: _evaluate(name, known) for name in self._expressions()}, **known}

    def _names(self) -> dict[str, None]:
        slots = self.inputs.slots
        return {dim: None for slot in slots for dim in slot.dims if isinstance(dim, str)}

    def _free_symbols(self) -> list[str]:
        derived = set(self._expressions())
        return [name for name in self._names() if name not in self.fixed and name not in derived]

    def _expressions(self) -> list[str]:
        """Dim names such as `past + 1` whose parts are dims of their own."""
        names = set(self._names())
        return sorted(name for name in names if _parts(name) and _parts(name) <= names)

    def _is_leading(self, symbol: str) -> bool:
        return any(slot.dims[:1] == (symbol,) for slot in self.inputs.slots)


def _preferred(symbols: Sequence[str], sample: int) -> dict[str, int]:
    if sample == 1:
        return dict.fromkeys(symbols, 1)
    sizes = (2, 3, 5, 7, 11) if sample == 0 else (3, 7, 4, 6, 2)
    return {symbol: sizes[index % len(sizes)] for index, symbol in enumerate(symbols)}


def _parts(name: str) -> set[str]:
    """Names in an arithmetic expression; empty where it is not one."""
    if name.isidentifier() or not any(mark in name for mark in "+-*/"):
        return set()
    text = name
    for mark in "+-*/() ":
        text = text.replace(mark, "\n")
    return {part for part in text.split("\n") if part and not part.isdigit()}


def _evaluate(expression: str, sizes: Mapping[str, int]) -> int:
    """2 for what is no expression, though it looks like one, and for what is no size."""
    import onnx_ir

    try:
        value = onnx_ir.SymbolicDim(expression).evaluate(dict(sizes))
    except (ValueError, ArithmeticError):
        return 2
    return value if isinstance(value, int) and value >= 0 else 2
