"""Is the new model faster?  Both are timed as wholes, since a runtime fuses what it likes.

Enters: both models.  Leaves: a :class:`Comparison`.  Both run in onnxruntime with all its
optimisations on the same input, in rounds in which they take turns in random order, so that what
disturbs one disturbs the other; the ratio of a round is that of the least times.
"""

from __future__ import annotations

import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tensat_dl.cost.measured.timer import Clock, bound_run, clock_for, least_of
from tensat_dl.graph.feeds import Feed, FeedSearch
from tensat_dl.graph.given import read_given, sizes_of
from tensat_dl.graph.run import CannotRun, open_runner, ort_errors
from tensat_dl.graph.slots import InputSlot, input_slots
from tensat_dl.graph.source import Source

#: Fewest rounds that allow an interval of 95 %, and as many as are worth while.
FEWEST, MOST = 7, 41
_CONFIDENCE = 0.95
#: Fewest runs in a turn; the first finds the caches as the other model left them.
_RUNS = 2


@dataclass(frozen=True)
class Comparison:
    """`before` and `after`: median seconds of a run; `ratio`: the median of before / after, within
    `low` and `high` with a confidence of 95 %.  `sizes`: what symbolic dims were.  `refused`: why
    nothing was compared, "" where something was."""

    before: float = 0.0
    after: float = 0.0
    ratio: float = 1.0
    low: float = 1.0
    high: float = 1.0
    rounds: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    refused: str = ""

    @property
    def faster(self) -> bool:
        """The new model is faster, and not by chance."""
        return self.low > 1.0


@dataclass(frozen=True)
class Conditions:
    """What both run under: sizes of symbolic dims, those of the rest, threads (0: the runtime's
    choice), seconds for all of it, and an .npz file of inputs ("": made up)."""

    dims: Mapping[str, int]
    symbol_size: int
    threads: int
    seconds: float
    input_data: str = ""


def compare_models(before: Source, after: Source, conditions: Conditions) -> Comparison:
    """Time both models."""
    try:
        feed = _feed(before, conditions)
        runs = [_open(source, feed, conditions.threads) for source in (before, after)]
    except CannotRun as reason:
        return Comparison(refused=str(reason))
    clock = clock_for(conditions.threads)
    once = sum(least_of(run, clock, _RUNS) for run in runs)
    if FEWEST * once > 2 * conditions.seconds:
        return Comparison(refused=f"a run of both takes {once:.1f} s, too long for the time given")
    return summarise(_times(runs, clock, conditions.seconds), feed.plan.sizes)


def summarise(
    times: Sequence[tuple[float, float]], sizes: Mapping[str, int] | None = None
) -> Comparison:
    """The comparison that pairs of seconds, one a round, amount to."""
    ratios = sorted(before / after for before, after in times)
    low, high = interval(ratios)
    return Comparison(
        median(before for before, _ in times),
        median(after for _, after in times),
        median(ratios),
        low,
        high,
        len(times),
        sizes or {},
    )


def interval(ordered: Sequence[float]) -> tuple[float, float]:
    """Bounds of the median of what `ordered` was drawn from, by order statistics (the sign
    test): the chance that k or more of n values fall on one side is binomial."""
    count = len(ordered)
    outside, place = 0.0, -1
    for k in range(count // 2):
        outside += 2 * math.comb(count, k) / 2**count
        if outside > 1 - _CONFIDENCE:
            break
        place = k
    if place < 0:
        return 0.0, math.inf
    return ordered[place], ordered[count - 1 - place]


def _times(
    runs: Sequence[Callable[[], object]], clock: Clock, seconds: float
) -> list[tuple[float, float]]:
    """As many rounds as there is time for; how they turn out has no part in it."""
    order = random.Random(0)
    end = time.monotonic() + seconds
    found: list[tuple[float, float]] = []
    while len(found) < FEWEST or (len(found) < MOST and time.monotonic() < end):
        turns = [0, 1]
        order.shuffle(turns)
        took = {place: least_of(runs[place], clock, _RUNS) for place in turns}
        found.append((took[0], took[1]))
    return found


def _feed(source: Source, conditions: Conditions) -> Feed:
    """An input that the original takes, at the sizes wanted where it takes those."""
    given = read_given(conditions.input_data, source.proto)
    slots = tuple(slot for slot in input_slots(source.proto) if slot.name not in given)
    runner = open_runner(source)
    known = {**sizes_of(given, source.proto), **conditions.dims}
    wanted = dict.fromkeys(_symbols(slots), conditions.symbol_size)
    try:
        return FeedSearch(slots, runner, {**wanted, **known}, given).find(0, 0)
    except CannotRun:
        return FeedSearch(slots, runner, known, given).find(0, 0)


def _symbols(slots: Sequence[InputSlot]) -> set[str]:
    """Names of dims; expressions in them follow."""
    names = {dim for slot in slots for dim in slot.dims if isinstance(dim, str)}
    return {name for name in names if not any(mark in name for mark in "+-*/")}


def _open(source: Source, feed: Feed, threads: int) -> Callable[[], object]:
    session: Any = open_runner(source, optimise=True, threads=threads).session
    try:
        return bound_run(session, feed.values)
    except ort_errors() as error:
        raise CannotRun(str(error).splitlines()[0]) from None
