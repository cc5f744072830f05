"""What is known of a rule after `verify`: plain data, that can be stored and printed.

Enters: nothing (data only).  Written by `check`, kept by `store`, read by `findings`, `report` and
`cli/`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Any


class Status(Enum):
    """How a rule came out."""

    HOLDS = "holds"
    REFUTED = "refuted"
    NO_INSTANCE = "no instance"
    NOT_EVALUATED = "not evaluated"


class Method(Enum):
    """How an instance was judged, from the strongest on."""

    MODULAR = "modular"
    EXACT = "exact"
    FLOAT64 = "float64"


class Computed(StrEnum):
    """How the two sides of a counterexample were told apart."""

    MODULAR = "modulo 2^31 - 1"
    REALS = "over the reals, in float64"
    NATIVE = "in the element types themselves, NaN and rounding included"
    WRAPPED = "in integers, which wrap"
    TYPES = "by their types"
    WRITTEN = "both written at that opset, and run"
    READ = "the left as the language has it, the right written at that opset, and run"


@dataclass(frozen=True)
class Tensor:
    """A tensor of a counterexample: its type as text, its elements as nested lists."""

    name: str
    type: str
    elements: Any


@dataclass(frozen=True)
class Counterexample:
    """An instance on which the sides differ.

    `names`: dims, element types and attributes, as text; `applied`: the operators of both sides
    with their attributes and types; `inputs`: what the left side leaves open; `left` and `right`:
    the outputs that differ, first at `index`, where they are `left_element`, `right_element`.
    Where the sides differ in type, `left` and `right` say so and have no elements, unless it is a
    value that their types know.  `opset`: where they differ only as models of that opset have
    them, else 0; `unwritable`: why they cannot be written there, or "".
    """

    names: Mapping[str, str]
    applied: tuple[str, ...]
    inputs: tuple[Tensor, ...]
    left: Tensor
    right: Tensor
    index: tuple[int, ...]
    left_element: Any
    right_element: Any
    computed: Computed
    opset: int = 0
    unwritable: str = ""


@dataclass(frozen=True)
class Verdict:
    """`methods`: how many instances were judged by which method, `method` the weakest of them;
    `apart`: instances besides, on which the sides differ in type, so that the exploration keeps
    them apart; with `unguarded` they refute; `error`: the probability that an instance that was
    proved modulo the prime is none; `reason`: what stood in the way; `needed`: conditions without
    which it was refuted; `unneeded`: those without which it was not, though instances were found
    that only they leave out; `opsets`: those at which instances were written, and run."""

    rule: str
    base: str
    status: Status
    real: bool
    instances: int
    methods: Mapping[str, int]
    error: float
    apart: int = 0
    unguarded: bool = False
    counterexample: Counterexample | None = None
    reason: str = ""
    needed: tuple[str, ...] = ()
    unneeded: tuple[str, ...] = ()
    opsets: tuple[int, ...] = ()
    seconds: float = 0.0

    @property
    def method(self) -> str:
        """The weakest method used; "" where there was none."""
        used = [method.value for method in Method if self.methods.get(method.value)]
        return used[-1] if used else ""
