"""Runs two models on samples of inputs and remembers what they showed.

Enters: what is compared, a runner of each, a search for inputs.  Leaves: a verdict.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tensat_dl.graph.compare import Difference, compare
from tensat_dl.graph.draws import draw
from tensat_dl.graph.feeds import Feed, FeedSearch
from tensat_dl.graph.probes import Probe, is_saturated
from tensat_dl.graph.run import CannotRun, Runner
from tensat_dl.graph.slots import InputSlot
from tensat_dl.graph.verification import Mismatch, Verification


@dataclass(frozen=True)
class Shown:
    """One output that is compared: its name, the code of its element type, whether chance has a
    part in it; `label` names it in messages where it is no output of the whole model."""

    name: str
    code: int = 0
    random: bool = False
    label: str = ""


@dataclass
class Comparison:
    """`shown` are the outputs of both runners in order; after them come those of `probes`."""

    shown: Sequence[Shown]
    probes: Sequence[Probe]
    first: Runner
    second: Runner
    search: FeedSearch
    overridable: Sequence[InputSlot]
    seed: int
    done: int = 0
    largest: float = 0.0
    mismatches: list[Mismatch] = field(default_factory=list)
    refusal: str = ""

    def run(self, sample: int) -> None:
        """Compare on one sample; one for which no input is found is left out."""
        try:
            feed = self._feed(sample)
        except CannotRun as reason:
            self.refusal = f"no input was found that the original model accepts: {reason}"
            return
        self.done += 1
        try:
            actual = self.second.run(feed.values)
        except CannotRun as reason:
            text = f"the optimised model fails where the original runs: {reason}"
            self.mismatches.append(Mismatch("", sample, text))
            return
        self._compare_outputs(sample, feed.outputs, actual)
        self._compare_probes(sample, feed.outputs, actual)

    def verdict(self, missing: str = "") -> Verification:
        """What all samples showed; `missing`: what was not compared."""
        return Verification(
            self.done,
            self.largest,
            not self.mismatches,
            tuple(self.mismatches),
            "; ".join(filter(None, (self.refusal, missing))),
            self.first.name,
        )

    def _compare_outputs(self, sample: int, left: Sequence[Any], right: Sequence[Any]) -> None:
        for shown, one, other in zip(self.shown, left, right, strict=False):
            if shown.random:
                one, other = _shape_of(one), _shape_of(other)
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
            mismatch = Mismatch(name, sample, found.problem, found.relative, found.index, label)
            self.mismatches.append(mismatch)

    def _feed(self, sample: int) -> Feed:
        """Odd samples also override the initializers that may be."""
        feed = self.search.find(sample, self.seed + sample)
        if sample % 2 == 0 or not self.overridable:
            return feed
        rng = np.random.default_rng(self.seed + sample)
        values = {**feed.values, **draw(self.overridable, feed.plan, rng)}
        try:
            return Feed(values, self.first.run(values), feed.plan)
        except CannotRun:
            return feed


def _shape_of(value: Any) -> Any:
    """Zeros of the same type and shape, so that only those are compared."""
    if isinstance(value, list | tuple):
        return [_shape_of(item) for item in value]
    return None if value is None else np.zeros_like(value)
