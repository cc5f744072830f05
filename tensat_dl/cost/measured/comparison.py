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
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from tensat_dl.cost.measured.rounds import (
    ERROR,
    MOST,
    Allowance,
    fewest,
    interval,
    is_clear,
    is_gain,
    least_in_turns,
    take_rounds,
)
from tensat_dl.cost.measured.timer import bound_run, clock_for
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.graph.running.run import CannotRun, Loader, OrtRunner, first_line, ort_errors
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.feeds import Feed, FeedSearch
from tensat_dl.graph.verifying.given import read_given, sizes_of
from tensat_dl.graph.verifying.slots import InputSlot, inputs_to_feed
from tensat_dl.resources import processors

#: Where noise may hide a gain above this share, the comparison is vague.
_HIDDEN = 0.05


@dataclass(frozen=True)
class Comparison:
    """`before` and `after`: median seconds of a run; `ratio`: the median of before / after, within
    `low` and `high` with a confidence of 95 % at least.  `sizes`: what symbolic dims were.
    `refused`: why nothing was compared, "" where something was; where it was for lack of time, the
    seconds are those of one run.  `cached`: an earlier run made it.  `threads`: of onnxruntime, 0
    is its own choice."""

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
        """The new model is faster, not by chance, and by a share that is worth while."""
        return is_gain(self.low, self.ratio)

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
        return self.decides or not (self.refused or self.vague or self.rounds < fewest(ERROR))

    @property
    def decides(self) -> bool:
        """The new model is faster, or not by a share that is worth while, and not by chance."""
        return not self.refused and is_clear(self.low, self.ratio, self.high)


@dataclass(frozen=True)
class Conditions:
    """What both run under: sizes of symbolic dims, those of the rest, seconds for all rounds, and
    an .npz file of inputs ("": made up)."""

    dims: Mapping[str, int]
    sizes: SymbolSizes
    seconds: float
    input_data: str = ""


def compare_models(
    before: Source, after: Source, conditions: Conditions, loader: Loader
) -> Comparison:
    """Time both models, with as many threads as `loader` gives them, and where that leaves open
    which is faster, with one: what tells more is taken.  That there may be two comparisons makes
    the interval of each wider: together they err as rarely as one.

    The runs take `conditions.seconds`, or up to 1.5 times as many where fewer could not tell;
    loading, and the search for an input, come on top."""
    return _or_refused(lambda: _compared((before, after), conditions, loader))


def _or_refused(compare: Callable[[], Comparison]) -> Comparison:
    try:
        return compare()
    except CannotRun as reason:
        return Comparison(refused=str(reason))
    except ort_errors() as error:
        return Comparison(refused=first_line(error))


def _compared(pair: tuple[Source, Source], conditions: Conditions, loader: Loader) -> Comparison:
    allowance = Allowance.of(conditions.seconds)
    runners = [loader.open(source) for source in pair]
    feed = _feed(pair[0], runners[0], conditions)
    if loader.threads == 1:
        return _timed(runners, feed, 1, allowance)
    started = time.monotonic()
    found = _timed(runners, feed, loader.threads, allowance.half())
    rest = allowance.rest(time.monotonic() - started)
    # a run with one thread takes so much longer at most, or less where others keep the machine busy
    longest = found.before * (loader.threads or processors())
    if found.decides or longest > rest.seconds:
        return found
    alone = _or_refused(lambda: _timed([Loader(1).open(each) for each in pair], feed, 1, rest))
    narrower = alone.high / alone.low < found.high / found.low
    clearer = found.refused or alone.decides or narrower
    return alone if not alone.refused and clearer else found


def _timed(
    runners: Sequence[OrtRunner], feed: Feed, threads: int, allowance: Allowance
) -> Comparison:
    """The comparison with so many threads, which are those of `runners`."""
    started = time.monotonic()
    old = _bound(runners[0], feed, feed.outputs)
    first = time.monotonic() - started
    if not allowance.suffices(first):
        return Comparison(first, refused=_too_long(allowance, first), threads=threads)
    runs, clock = [old, _bound(runners[1], feed)], clock_for(threads)
    left = allowance.after(time.monotonic() - started)
    rounds = take_rounds(lambda order: least_in_turns(runs, clock, order), left)
    if len(rounds) < fewest(allowance.error):
        before, after = rounds[0] if rounds else (first, None)
        refused = _too_long(allowance, before, after)
        return Comparison(before, after or 0.0, refused=refused, threads=threads)
    found = summarise(rounds, feed.plan.sizes, allowance.error)
    return dataclasses.replace(found, threads=threads)


def _too_long(allowance: Allowance, old: float, new: float | None = None) -> str:
    """Of seconds that a run of each model takes, where that of the new one is known."""
    both = 2 * old if new is None else old + new
    known = "" if new is None else f", of the new model {new:.2g} s"
    enough = math.ceil(max((fewest(allowance.error) + 1) * both, allowance.most))
    return (
        f"a run takes {old:.2g} s{known}: to be told which is faster, set "
        f"cost.compare_seconds={enough}"
    )


def summarise(
    times: Sequence[tuple[float, float]],
    sizes: Mapping[str, int] | None = None,
    error: float = ERROR,
) -> Comparison:
    """The comparison that pairs of seconds, one a round, amount to."""
    ratios = sorted(before / after for before, after in times)
    low, high = interval(ratios, error)
    return Comparison(
        median(before for before, _ in times),
        median(after for _, after in times),
        median(ratios),
        low,
        high,
        len(times),
        sizes or {},
    )


def _feed(source: Source, runner: OrtRunner, conditions: Conditions) -> Feed:
    """An input that the original takes, at the sizes wanted where it takes those."""
    given = read_given(conditions.input_data, source.proto)
    inputs = inputs_to_feed(source.proto, given)
    known = {**sizes_of(given, source.proto), **conditions.dims}
    wanted = {name: conditions.sizes.of(name) for name in _symbols(inputs.slots)}
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
