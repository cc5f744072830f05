"""The work that one operator application is: FLOPs, bytes, nodes.

Enters: an application with its types.  Leaves: :class:`Work`, from which every built-in cost
model takes its number.  A virtual operator is the work of what it is lowered to, but moves only
the bytes of its own inputs and outputs, because that is what declaring it claims: a runtime
runs it as one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

from tensat_dl.cost.bytes_moved import bytes_moved
from tensat_dl.cost.flops import flops
from tensat_dl.cost.occupancy import slowdown
from tensat_dl.cost.shapes import Shapes, shapes_of
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.egraph.snapshot import Application
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import Type


@dataclass(frozen=True)
class Part:
    """An application with the types it is applied at.

    `constant[i]`: input i depends on constants alone, so that a runtime has it beforehand; empty
    where nothing is known of that.  `repeats` are the inputs that are the same tensor as an earlier
    one.
    """

    application: Application
    inputs: tuple[Type, ...]
    outputs: tuple[Type, ...]
    constant: tuple[bool, ...] = ()
    repeats: tuple[int, ...] = ()

    @cached_property
    def _hash(self) -> int:
        return hash((self.application, self.inputs, self.outputs, self.constant, self.repeats))

    def __hash__(self) -> int:
        return self._hash  # asked for again and again, and the types are deep


@dataclass(frozen=True)
class Chain:
    """`outer` applied to the first output of `inner` at its input `slot`: a runtime may run both
    as one."""

    outer: Part
    slot: int
    inner: Part | Chain

    @cached_property
    def _hash(self) -> int:
        return hash((self.outer, self.slot, self.inner))

    def __hash__(self) -> int:
        return self._hash

    @property
    def parts(self) -> tuple[Part, ...]:
        """All that it is made of, the first one first."""
        return (*parts_of(self.inner), self.outer)


def repeated(inputs: Sequence[object]) -> tuple[int, ...]:
    """The places of those that stand before, too."""
    return tuple(place for place, name in enumerate(inputs) if name in inputs[:place])


#: What can be timed.
Timed = Part | Chain


def parts_of(timed: Timed) -> tuple[Part, ...]:
    """The applications in it."""
    return timed.parts if isinstance(timed, Chain) else (timed,)


def each_priced(parts: Sequence[Part], price: Callable[[Part], float]) -> list[float]:
    """The prices of `parts` in order, equal ones priced once."""
    known = {part: price(part) for part in dict.fromkeys(parts)}
    return [known[part] for part in parts]


#: What a virtual operator is made of; empty where that cannot be said.
Lower = Callable[[Part], Sequence[Part]]


#: Operators of many inputs that have a twin for two; runtimes fuse the twin.
_HAVE_TWINS = frozenset({"Sum"})


@dataclass(frozen=True)
class Work:
    """Operations, bytes read and written, and ONNX nodes.  `slots` are the operations that take as
    long where all arithmetic units are busy; `has_twin`: another operator does the same, and is
    the one that runtimes know."""

    flops: float
    slots: float
    bytes: float
    nodes: int
    has_twin: bool = False


@dataclass(frozen=True)
class Meter:
    """Measures work.  `declared`: FLOPs of operators whose declaration says so.

    `sizes` says what the symbols of dims stand for.
    """

    lower: Lower
    declared: Callable[[Part], float | None]
    sizes: SymbolSizes

    def work(self, part: Part) -> Work:
        """The work of `part`, once."""
        operator = part.application.operator
        parts = self.lower(part) if operator.kind is OperatorKind.VIRTUAL else ()
        shapes = self._shapes(part)
        declared = self.declared(part)
        inner = [self.work(each) for each in parts]
        operations = sum(work.flops for work in inner) if inner else flops(operator, shapes)
        slots = sum(work.slots for work in inner) or operations * slowdown(operator, shapes)
        return Work(
            operations if declared is None else declared,
            slots if declared is None else declared,
            bytes_moved(operator, shapes),
            sum(work.nodes for work in inner) or 1,
            not operator.domain and operator.name in _HAVE_TWINS and len(part.inputs) == 2,
        )

    def _shapes(self, part: Part) -> Shapes:
        attributes = part.application.attributes
        return shapes_of(attributes, part.inputs, part.outputs, self.sizes, part.repeats)
