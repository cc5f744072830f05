"""What one attempt at an instance draws from: few sizes, few shapes, so that things meet.

Enters: a random generator.  Leaves: sizes, dims, element types, numbers.  An attempt has one pool
of sizes and one favoured rank, because tensors that are drawn apart must often fit together.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import TypeVar

from tensat_dl.soundness.design import Design, Factor
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.dtypes import DType

Dims = tuple[int, ...]

_T = TypeVar("_T", bound=Hashable)

_POOLS = (
    *((2, 3), (1, 2, 3), (2, 3), (3,), (2,), (1, 2), (2, 4), (2, 3, 4), (4, 6)),
    *((1,), (1, 3), (0, 2), (2, 5), (2,), (3,)),
)
_SQUARE_POOLS = ((2,), (3,), (2,), (1, 2))
#: The only size in most attempts with a design: the usual one is what two narrow axes are together.
_ONE_SIZE = (2, 2, 2, 3, 1)
_SMALL_POOLS = ((1, 2), (2,), (1,), (2, 3), (1, 2, 3), (0, 1, 2))
#: Large dims that are drawn in one attempt.
_MOST_LARGE = 2
_RANKS = (0, 1, 1, 2, 2, 2, 2, 3, 3, 4, 4, 4, 5)

_DTYPES = (
    *((DType.F32,) * 10 + (DType.F64,) * 2 + (DType.F16,) + (DType.BF16,)),
    *((DType.I64,) * 3 + (DType.I32,) * 2 + (DType.I8, DType.U8, DType.BOOL)),
)

#: Numbers that a known constant is filled with.
_FILLS = (0, 1, 0, 1, 2, -1, 3)
_FLOAT_FILLS = (0.0, 1.0, 0.0, 1.0, 2.0, 0.5, -1.0, 3.0)


@dataclass(frozen=True)
class Earlier:
    """An operator application that was drawn: dims of its inputs (None: absent), attributes."""

    inputs: tuple[Dims | None, ...]
    attributes: Mapping[str, AttributeValue]


@dataclass
class Draw:
    """The state of one attempt; `small` keeps sizes small, for counterexamples; `square` makes dims
    equal, so that what mixes them up is not seen by its type; `design`: what choices of kinds are
    left to, None where they are drawn; `applied`: what was drawn for each operator; `made`:
    shapes that others may have again; `asked`: large sizes that the rule's conditions name."""

    random: Random
    small: bool = False
    square: bool = False
    design: Design | None = None
    pool: Dims = ()
    rank: int = 2
    element: DType = DType.F32
    applied: dict[str, list[Earlier]] = field(default_factory=dict)
    made: list[Dims] = field(default_factory=list)
    asked: Dims = ()
    _seen: list[Dims] = field(default_factory=list)
    _large: int = 0

    def __post_init__(self) -> None:
        self.pool = self.random.choice(self._pools())
        self.rank = self.random.choice(_RANKS)
        self.element = self.random.choice(_DTYPES)

    def _pools(self) -> Sequence[Dims]:
        if self.square:
            return _SQUARE_POOLS
        if self.small:
            return _SMALL_POOLS
        only = None if self.design is None else self.pick(("", "sizes"), (*_ONE_SIZE, None))
        return _POOLS if only is None else ((only,),)

    def pick(self, factor: Factor, options: Sequence[_T]) -> _T:
        """One of some kinds; what stands there twice is likelier."""
        if self.design is None:
            return self.random.choice(options)
        return self.design.choose(factor, options)

    @contextmanager
    def free(self) -> Iterator[None]:
        """What is drawn here is not left to the design, nor of one size."""
        design, pool = self.design, self.pool
        if design is not None:
            self.design, self.pool = None, self.random.choice(_POOLS)
        try:
            yield
        finally:
            self.design, self.pool = design, pool

    def chance(self, probability: float) -> bool:
        """True with that probability."""
        return self.random.random() < probability

    def size(self) -> int:
        """One dim; now and then one that is asked for, as two large ones are work enough."""
        if self.asked and self._large < _MOST_LARGE and self.chance(0.4):
            self._large += 1
            return self.random.choice(self.asked)
        return self.random.choice(self.pool)

    def extent(self) -> int:
        """One spatial dim, on which a window can slide."""
        return self.random.randint(1, 4 if self.small else 6)

    def any_rank(self, least: int = 0, most: int = 5) -> int:
        """Mostly the attempt's favourite."""
        if self.chance(0.6) and least <= self.rank <= most:
            return self.rank
        choices = [rank for rank in _RANKS if least <= rank <= most]
        return self.random.choice(choices) if choices else least

    def dims(self, least: int = 0, most: int = 5) -> Dims:
        """New dims, or those of a tensor that was drawn before."""
        fitting = [dims for dims in self._seen if least <= len(dims) <= most]
        if fitting and self.chance(0.5):
            return self.random.choice(fitting)
        return tuple(self.size() for _ in range(self.any_rank(least, most)))

    def remember(self, dims: Dims) -> None:
        """Let later tensors have these dims too."""
        if dims not in self._seen:
            self._seen.append(dims)

    def fills(self, dtype: DType, dims: Dims) -> tuple[int | float | bool, ...]:
        """A small known value: mostly one number, else several."""
        count = math.prod(dims)
        if dtype is DType.BOOL:
            one = self.chance(0.5)
            return tuple(one if self.chance(0.8) else not one for _ in range(count))
        choices: tuple[int | float, ...] = _FLOAT_FILLS if dtype.is_float else _FILLS
        if not dtype.is_float and not dtype.is_signed:
            choices = tuple(max(int(choice), 0) for choice in choices)
        if dtype.is_integer and dtype.bits >= 8 and self.chance(0.05):
            choices = _ends(dtype)
        if self.chance(0.6):
            return (self.random.choice(choices),) * count
        return tuple(self.random.choice(choices) for _ in range(count))

    def permutation(self, rank: int) -> Dims:
        """An order of the axes; often only two trade places, sometimes none."""
        axes = list(range(rank))
        if rank > 1 and self.chance(0.4):
            first, second = self.random.sample(axes, 2)
            axes[first], axes[second] = axes[second], axes[first]
        elif self.chance(0.8):
            self.random.shuffle(axes)
        return tuple(axes)

    def axis(self, rank: int) -> int:
        """An axis, now and then counted from the end."""
        if rank == 0:
            return 0
        axis = self.random.randrange(rank)
        return axis - rank if self.chance(0.3) else axis

    def axes(self, rank: int) -> Dims:
        """Some axes in ascending order, now and then some of them counted from the end."""
        count = self.random.randint(1, rank) if rank else 0
        chosen = sorted(self.random.sample(range(rank), count))
        return tuple(axis - rank if self.chance(0.2) else axis for axis in chosen)


def _ends(dtype: DType) -> tuple[int, ...]:
    """The least and the largest number of an integer type."""
    low = -(2 ** (dtype.bits - 1)) if dtype.is_signed else 0
    return low, low + 2**dtype.bits - 1
