"""Is the new model faster?  Both are timed as wholes, since a runtime fuses what it likes.

Enters: both models.  Leaves: a :class:`Comparison`.  Both run in onnxruntime with all its
optimisations on the same input, run by run in turns, so that what disturbs one disturbs the other;
the ratio of a round is that of the least times.  Rounds end as soon as they tell which is faster:
the interval holds however often one looks.

With several threads the clock is that of the wall, and a busy machine may leave it open which is
faster.  Then both are timed with one thread, by the time of the processor, which others hardly
change.
"""

from __future__ import annotations

import dataclasses
import math
import random
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tensat_dl.cost.measured.timer import Clock, bound_run, clock_for
from tensat_dl.graph.feeds import Feed, FeedSearch
from tensat_dl.graph.given import read_given, sizes_of
from tensat_dl.graph.run import CannotRun, Loader, OrtRunner, first_line, ort_errors
from tensat_dl.graph.slots import InputSlot, inputs_to_feed
from tensat_dl.graph.source import Source

#: Fewest rounds that allow an interval of 95 %, and as many as are worth while.
FEWEST, MOST = 8, 60
_CONFIDENCE = 0.95
#: A gain below this share is none: rounds end when there is no more to be had.
_GAIN = 0.005
#: Where noise may hide a gain above this share, the comparison is vague.
_HIDDEN = 0.05
#: A round takes so many seconds or so many runs of each, whichever is less, but at least one run.
_SECONDS, _ENOUGH = 0.01, 50


@dataclass(frozen=True)
class Comparison:
    """`before` and `after`: median seconds of a run; `ratio`: the median of before / after, within
    `low` and `high` with a confidence of 95 %.  `sizes`: what symbolic dims were.  `refused`: why
    nothing was compared, "" where something was.  `cached`: an earlier run made it.  `threads`: of
    onnxruntime, 0 is its own choice."""

    before: float = 0.0
    after: float = 0.0
    ratio: float = 1.0
    low: float = 1.0
    high: float = 1.0
    rounds: int = 0
    sizes: Mapping[str, int] = field(default_factory=dict)
    refused: str = ""
    cached: bool = False
    threads: int = 0

    @property
    def faster(self) -> bool:
        """The new model is faster, and not by chance."""
        return self.low > 1.0

    @property
    def vague(self) -> bool:
        """The new model may be faster by more than a little, but noise hides whether it is."""
        return not (self.refused or self.faster) and self.high > 1.0 + _HIDDEN

    @property
    def advice(self) -> str:
        """Of a vague comparison: what one can do about it; "" where there is nothing to say."""
        if not self.vague:
            return ""
        longer = " or give it more time (cost.compare_seconds)" if self.rounds < MOST else ""
        return (
            f"times vary, so that {self.high:.3g} times as fast would not show: run again when the "
            f"machine does less{longer}"
        )

    @property
    def tells(self) -> bool:
        """Another comparison would hardly tell more: which is faster, or that the new model is by a
        little at most."""
        return self.decides or not (self.refused or self.vague or self.rounds < FEWEST)

    @property
    def decides(self) -> bool:
        """The new model is faster, or not by a share that is worth while, and not by chance."""
        return not self.refused and _is_clear(self.low, self.high)


@dataclass(frozen=True)
class Conditions:
    """What both run under: sizes of symbolic dims, those of the rest, seconds for all rounds, and
    an .npz file of inputs ("": made up)."""

    dims: Mapping[str, int]
    symbol_size: int
    seconds: float
    input_data: str = ""


def compare_models(
    before: Source, after: Source, conditions: Conditions, loader: Loader
) -> Comparison:
    """Time both models, with as many threads as `loader` gives them, and where that leaves open
    which is faster, with one: what tells more is taken."""
    found = _timed(before, after, conditions, loader)
    if found.decides or loader.threads == 1:
        return found
    alone = _timed(before, after, conditions, Loader(1))
    narrower = alone.high / alone.low < found.high / found.low
    clearer = found.refused or alone.decides or narrower
    return alone if not alone.refused and clearer else found


def _timed(before: Source, after: Source, conditions: Conditions, loader: Loader) -> Comparison:
    try:
        runners = [loader.open(source) for source in (before, after)]
        feed = _feed(before, runners[0], conditions)
        runs = [_bound(runners[0], feed, feed.outputs), _bound(runners[1], feed)]
        clock = clock_for(loader.threads)
        once = sum(_seconds(run, clock) for run in runs)
        if FEWEST * once > 2 * conditions.seconds:
            text = f"a run of both takes {once:.2g} s, too long for cost.compare_seconds"
            return Comparison(refused=text)
        rounds = take_rounds(lambda order: least_in_turns(runs, clock, order), conditions.seconds)
    except CannotRun as reason:
        return Comparison(refused=str(reason))
    except ort_errors() as error:
        return Comparison(refused=first_line(error))
    return dataclasses.replace(summarise(rounds, feed.plan.sizes), threads=loader.threads)


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
    """Bounds of the median of what `ordered` was drawn from.

    They hold at all numbers of rounds at once, so that one may stop when they please.  Of n values
    k are below the median with the chance C(n, k) / 2^n; below another quantile, any of which is
    as likely, with 1 / (n + 1).  The second divided by the first ever exceeds 1 / a with a chance
    of a at most (Ville 1939; Robbins 1970), so that a value where it does is not the median.
    """
    count = len(ordered)
    below = 0
    while 2**count >= (count + 1) * math.comb(count, below) / (1 - _CONFIDENCE):
        below += 1
    if not below:
        return 0.0, math.inf
    return ordered[below - 1], ordered[count - below]


def take_rounds(
    round_of: Callable[[Sequence[int]], tuple[float, float]], seconds: float
) -> list[tuple[float, float]]:
    """Pairs of seconds until they tell enough or time is up; `round_of` times both models, in the
    order that it is given."""
    order = random.Random(0)
    end = time.monotonic() + seconds
    found: list[tuple[float, float]] = []
    while len(found) < FEWEST or (len(found) < MOST and time.monotonic() < end):
        found.append(round_of(order.sample((0, 1), 2)))
        low, high = interval(sorted(before / after for before, after in found))
        if _is_clear(low, high):
            break
    return found


def _is_clear(low: float, high: float) -> bool:
    return low > 1.0 or high < 1.0 + _GAIN


def least_in_turns(
    runs: Sequence[Callable[[], object]], clock: Clock, order: Sequence[int]
) -> tuple[float, float]:
    """The least seconds of each of two in one round."""
    best = [math.inf, math.inf]
    end = time.perf_counter() + _SECONDS
    for _ in range(_ENOUGH):
        for place in order:
            best[place] = min(best[place], _seconds(runs[place], clock))
        if time.perf_counter() > end:
            break
    return best[0], best[1]


def _seconds(run: Callable[[], object], clock: Clock) -> float:
    started = clock()
    run()
    return clock() - started


def _feed(source: Source, runner: OrtRunner, conditions: Conditions) -> Feed:
    """An input that the original takes, at the sizes wanted where it takes those."""
    given = read_given(conditions.input_data, source.proto)
    inputs = inputs_to_feed(source.proto, given)
    known = {**sizes_of(given, source.proto), **conditions.dims}
    wanted = dict.fromkeys(_symbols(inputs.slots), conditions.symbol_size)
    try:
        return FeedSearch(inputs, runner, {**wanted, **known}, given).find(0, 0)
    except CannotRun:
        return FeedSearch(inputs, runner, known, given).find(0, 0)


def _symbols(slots: Sequence[InputSlot]) -> list[str]:
    """Names of dims in their order; expressions in them follow."""
    names = dict.fromkeys(dim for slot in slots for dim in slot.dims if isinstance(dim, str))
    return [name for name in names if not any(mark in name for mark in "+-*/")]


def _bound(
    runner: OrtRunner, feed: Feed, outputs: Sequence[Any] | None = None
) -> Callable[[], object]:
    """What runs the model, after a first run; without places for outputs where onnxruntime takes
    none, as of a shape that the model does not declare."""
    try:
        run = bound_run(runner.session, feed.values, outputs)
        run()
    except ort_errors():
        return lambda: runner.run(feed.values)
    return run
