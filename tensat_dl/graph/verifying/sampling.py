"""Runs two models on samples of inputs and remembers what they showed.

Enters: what is compared, a search for inputs, a runner of each.  Leaves: a verdict.  The original
has done its part before the new model is loaded, so that never both are in memory.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensat_dl.graph.running.run import CannotRun, Runner, Unsupported
from tensat_dl.graph.verifying.compare import Difference, compare
from tensat_dl.graph.verifying.draws import draw
from tensat_dl.graph.verifying.feeds import Feed, FeedSearch
from tensat_dl.graph.verifying.probes import Probe, is_saturated
from tensat_dl.graph.verifying.slots import InputSlot
from tensat_dl.graph.verifying.verification import Mismatch, Verification


@dataclass(frozen=True)
class Shown:
    """One output that is compared: its name, the code of its element type, whether chance has a
    part in it, and in its shape (`loose`); `label` names it in messages where it is no output of
    the whole model."""

    name: str
    code: int = 0
    random: bool = False
    loose: bool = False
    label: str = ""


@dataclass(frozen=True)
class Samples:
    """`feeds`: number of the sample, its inputs and what the original made of them; `refusal`: why
    a sample has none."""

    feeds: tuple[tuple[int, Feed], ...]
    refusal: str = ""


def take_samples(
    count: int, search: FeedSearch, overridable: Sequence[InputSlot], seed: int
) -> Samples:
    """Run the original; odd samples also override the initializers that may be."""
    feeds: list[tuple[int, Feed]] = []
    refusal = ""
    for number in range(count):
        try:
            feed = search.find(number, seed + number)
        except CannotRun as reason:
            refusal = f"no input was found that the original model accepts: {reason}"
            continue
        if number % 2 and overridable:
            feed = _overridden(feed, search, overridable, seed + number)
        feeds.append((number, feed))
    return Samples(tuple(feeds), refusal)


def _overridden(
    feed: Feed, search: FeedSearch, overridable: Sequence[InputSlot], seed: int
) -> Feed:
    values = {**feed.values, **draw(overridable, feed.plan, np.random.default_rng(seed))}
    try:
        return Feed(values, search.runner.run(values), feed.plan)
    except CannotRun:
        return feed


@dataclass
class Comparison:
    """`shown` are the outputs of both models in order; after them come those of `probes`.
    `told`: some output that is compared held a number."""

    shown: Sequence[Shown]
    probes: Sequence[Probe]
    runner: Runner
    done: int = 0
    told: bool = False
    largest: float = 0.0
    mismatches: list[Mismatch] = field(default_factory=list)
    unsupported: list[str] = field(default_factory=list)

    def check(self, sample: int, feed: Feed) -> None:
        """Run the new model on a sample and compare."""
        self.done += 1
        try:
            actual = self.runner.run(feed.values)
        except CannotRun as reason:
            text = f"the optimised model fails where the original runs: {reason}"
            if isinstance(reason, Unsupported):
                self.unsupported.append(text)
            self.mismatches.append(Mismatch("", sample, text))
            return
        self._compare_outputs(sample, feed.outputs, actual)
        self._compare_probes(sample, feed.outputs, actual)

    def verdict(self, skipped: Sequence[str]) -> Verification:
        """What all samples showed; `skipped`: what was not compared, and why."""
        other = len(self.mismatches) > len(self.unsupported)
        return Verification(
            self.done,
            self.largest,
            not self.mismatches,
            tuple(self.mismatches),
            "; ".join(filter(None, [*skipped, self._told_nothing()])),
            self.runner.name,
            "" if other else next(iter(self.unsupported), ""),
        )

    def _told_nothing(self) -> str:
        """Equal may be what is wrong: any two models make NaN of NaN."""
        if self.told or self.mismatches or all(shown.random for shown in self.shown):
            return ""
        return "the outputs are empty or NaN throughout, so that this tells little"

    def _compare_outputs(self, sample: int, left: Sequence[Any], right: Sequence[Any]) -> None:
        for shown, one, other in zip(self.shown, left, right, strict=False):
            if shown.random:
                one, other = (_shape_of(value, loose=shown.loose) for value in (one, other))
            else:
                self.told = self.told or _holds_number(one)
            found = compare(one, other, shown.code)
            self.largest = max(self.largest, found.relative)
            self._note(shown.name, shown.label, sample, found)

    def _compare_probes(self, sample: int, left: Sequence[Any], right: Sequence[Any]) -> None:
        """What saturated outputs hide; where they are not, they tell enough."""
        places = {shown.name: place for place, shown in enumerate(self.shown)}
        extra = len(self.shown)
        for probe, one, other in zip(self.probes, left[extra:], right[extra:], strict=False):
            place = places[probe.output]
            if self.shown[place].random or not is_saturated(np.asarray(left[place])):
                continue
            found = compare(probe.normal(one), probe.normal(other), self.shown[place].code)
            self._note(probe.output, probe.label, sample, found)

    def _note(self, name: str, label: str, sample: int, found: Difference) -> None:
        if found.problem:
            self.mismatches.append(
                Mismatch(
                    name,
                    sample,
                    found.problem,
                    found.relative,
                    found.index,
                    label,
                    found.beyond_reals,
                )
            )


def _holds_number(value: Any) -> bool:
    """Some element is there and not NaN; texts count, and that an optional value is absent."""
    if isinstance(value, list | tuple):
        return any(map(_holds_number, value))
    if isinstance(value, Mapping):
        return any(map(_holds_number, value.values()))
    array = np.asarray(value)
    return bool(array.size) and not (array.dtype.kind in "fc" and bool(np.isnan(array).all()))


def _shape_of(value: Any, *, loose: bool) -> Any:
    """Zeros of the same type and shape, so that only those are compared; `loose`: of the rank."""
    if isinstance(value, list | tuple):
        return [] if loose else [_shape_of(item, loose=loose) for item in value]
    if isinstance(value, Mapping):
        return {} if loose else dict.fromkeys(value, 0)
    if value is None:
        return None
    array = np.asarray(value)
    return np.zeros([0] * array.ndim if loose else array.shape, array.dtype)
