"""Random inputs that a model accepts, found by trying.

Enters: the inputs to feed and a runner of the original model.  Leaves: a :class:`Feed` with the
outputs it gives.  A model may demand more of its inputs than their types say: an index below the
size of a table, a size that some stride divides, a shape that fits.  So sizes and ranges are
tried from the most telling to the most modest, then in random combinations; what one sample
found is where the next one starts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tensat_dl.graph.running.run import CannotRun, Runner
from tensat_dl.graph.verifying.draws import Floats, Plan, draw
from tensat_dl.graph.verifying.lists import combinations
from tensat_dl.graph.verifying.sizes import SizeChoices
from tensat_dl.graph.verifying.slots import Inputs, InputSlot

#: Ranges of integers, low inclusive, high exclusive: first the ones that test most.
RANGES = ((-9, 10), (0, 10), (1, 10), (-2, 2), (0, 2), (1, 2), (0, 1))

#: The range of an input that is none of the numbers that it is compared with.
_BESIDE = (0, 10)

#: For so many choices of sizes, lists of integers that might fit are tried.
_SIZES_WITH_LISTS = 3

#: How many random combinations are tried.
_RANDOM_PLANS = 300


@dataclass(frozen=True)
class Feed:
    """Inputs by name, what the original model made of them, and the plan behind them."""

    values: Mapping[str, Any]
    outputs: Sequence[Any]
    plan: Plan


@dataclass
class FeedSearch:
    """Finds feeds for one model, one after another.  `given` are inputs that are not drawn;
    `seconds` bounds each search."""

    inputs: Inputs
    runner: Runner
    dims: Mapping[str, int] = field(default_factory=dict)
    given: Mapping[str, Any] = field(default_factory=dict)
    seconds: float = 15.0
    _last: Plan | None = None

    def find(self, sample: int, seed: int) -> Feed:
        """The feed of sample number `sample`.  Raises CannotRun with the first refusal."""
        deadline = time.monotonic() + self.seconds
        first = ""
        for plan in self._plans(sample):
            try:
                feed = self._try(plan, seed)
            except CannotRun as error:
                first = first or str(error)  # the error itself would keep the inputs
            else:
                return self._accepted(feed, seed, deadline)
            if time.monotonic() > deadline:
                break
        raise CannotRun(first)

    def _try(self, plan: Plan, seed: int) -> Feed:
        try:
            values = {**draw(self.inputs.slots, plan, np.random.default_rng(seed)), **self.given}
        except (MemoryError, OverflowError, ValueError) as error:  # numpy's, of arrays beyond reach
            raise CannotRun(f"no input of that size can be made: {error}") from error
        return Feed(values, self.runner.run(values), plan)

    def _accepted(self, feed: Feed, seed: int, deadline: float) -> Feed:
        """Remember the plan; the first one is widened."""
        first = self._last is None
        self._last = feed.plan
        if not first or len(self._integers()) < 2:
            return feed
        widest = feed
        fixed = {*feed.plan.lists, *self.inputs.switches}
        for slot in (slot for slot in self._integers() if slot.name not in fixed):
            widest = self._widened(widest, slot, seed, deadline)
        self._last = widest.plan
        return widest

    def _switches(self, sample: int) -> dict[str, tuple[int, int]]:
        """For each input that the model compares with numbers one of them, as the range that it
        is, or numbers beside them: by turns, so that samples take several ways."""
        found = {}
        for name, numbers in self.inputs.switches.items():
            place = sample % (len(numbers) + 1)
            found[name] = (numbers[place], numbers[place] + 1) if place < len(numbers) else _BESIDE
        return found

    def _widened(self, feed: Feed, slot: InputSlot, seed: int, deadline: float) -> Feed:
        """Give one input the widest range that the model still accepts."""
        plan = feed.plan
        for span in RANGES[: RANGES.index(plan.ranges[slot.name])]:
            if time.monotonic() > deadline:
                break
            try:
                return self._try(replace(plan, ranges={**plan.ranges, slot.name: span}), seed)
            except CannotRun:
                continue
        return feed

    def _plans(self, sample: int) -> Iterator[Plan]:
        floats = self._floats(Floats.UNIT if sample % 2 else Floats.NORMAL)
        known = SizeChoices(self.inputs, self.dims)
        sizes = list(known.for_sample(sample))
        switches = self._switches(sample)
        if self._last is not None:
            near = (sizes[0], known.near(self._last.sizes, sample), self._last.sizes)
            for choice in near if switches else ():
                ranges = {**self._last.ranges, **switches}
                yield replace(self._last, sizes=choice, ranges=ranges, floats=floats)
            for choice in near:
                yield replace(self._last, sizes=choice, floats=floats)
            yield from (replace(self._last, sizes=choice) for choice in near)
            sizes.append(dict(self._last.sizes))
        for turn in range(max(map(len, self.inputs.switches.values()), default=-1) + 1):
            yield from self._usual_plans(sizes, floats, self._switches(sample + turn))
        yield from self._usual_plans(sizes, floats, {})
        for choice in sizes[:_SIZES_WITH_LISTS]:
            for lists in combinations(self.inputs, choice):
                ranges = dict.fromkeys(self._integer_names(), RANGES[0])
                yield Plan(choice, ranges, floats, lists)
        yield from self._random_plans(known, sizes, sample)

    def _usual_plans(
        self,
        sizes: Sequence[Mapping[str, int]],
        floats: Mapping[str, Floats],
        fixed: Mapping[str, tuple[int, int]],
    ) -> Iterator[Plan]:
        """Sizes and ranges as they come; those of some inputs are `fixed`."""
        names = self._integer_names()
        spans = RANGES if set(names) - set(fixed) else RANGES[:1]
        for choice in sizes:
            for span in spans:
                yield Plan(choice, {**dict.fromkeys(names, span), **fixed}, floats)

    def _random_plans(
        self, known: SizeChoices, sizes: Sequence[Mapping[str, int]], sample: int
    ) -> Iterator[Plan]:
        """Sizes as they were tried together and, in turn, each dim for itself."""
        rng = np.random.default_rng(sample)
        kinds = tuple(Floats)
        for number in range(_RANDOM_PLANS):
            yield Plan(
                known.mixed(sizes, rng) if number % 2 else sizes[int(rng.integers(len(sizes)))],
                {name: RANGES[rng.integers(len(RANGES))] for name in self._integer_names()},
                {slot.name: kinds[rng.integers(len(kinds))] for slot in self.inputs.slots},
            )

    def _floats(self, kind: Floats) -> dict[str, Floats]:
        return {slot.name: kind for slot in self.inputs.slots}

    def _integers(self) -> list[InputSlot]:
        return [slot for slot in self.inputs.slots if slot.is_integer]

    def _integer_names(self) -> list[str]:
        return [slot.name for slot in self._integers()]
