"""The cheapest graph when prices must be measured first.

Enters: a posed problem, a model that measures.  Leaves: a :class:`Settled`.  Prices begin as lower
bounds: solve, measure what the answer uses, solve again.  When all of the answer is measured it is
the cheapest, since nothing else can cost less than its bound.

Times are not exact, and those of single operators do not tell all of a model.  So the answer by
estimates is where the search begins, and each part of it stays unless something else proves
cheaper by the margin, twice measured.  Where the time does not even suffice to measure that answer
and the original, it is the answer: half of the times would lead astray.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from tensat_dl.cost.measured.answers import KeptAnswers
from tensat_dl.cost.measured.model import MeasuredModel
from tensat_dl.cost.posing import Posed
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.work import Chain, Timed
from tensat_dl.egraph.snapshot import ENode
from tensat_dl.extract.problem import NODES, Extraction, StopReason
from tensat_dl.extract.run import extract
from tensat_dl.phases import Phases
from tensat_dl.progress import Phase
from tensat_dl.settings import ExtractSettings, Method

#: A later round has at least so many seconds for its extraction.
_LEAST_SECONDS = 1.0
#: The method of the first rounds: what it takes is nearly always what the best answer takes.
_QUICK = Method.GREEDY_DAG
#: Times are exact to about the margin, so that to prove more than this share of it is idle.
_GAP_OF_MARGIN = 0.2
#: A chain that saves less than this share of its parts is no chain.
_SAVING = 0.01
#: Seconds for the extraction of one round, but for the last ones.
_SHORT = 3.0

_EXHAUSTED = (
    "measuring stopped after {:g} s (cost.measure_seconds): graphs that were not reached were left "
    "out; run again to go on from there"
)
_TOO_EARLY = (
    "measuring stopped after {:g} s (cost.measure_seconds), too early to choose by it: the answer "
    "and both costs are estimates; run again to go on from there"
)

_ONE_THREAD = ", or with `--set cost.threads=1`, which times much faster on a busy machine"


#: The chains that the original runs at given prices, with the nodes of each.
RunsAt = Callable[[Callable[[Timed], float]], Iterable[tuple[object, Timed]]]


@dataclass
class MeasuringSearch:
    """The rounds: with the quick heuristic as long as it finds something to measure (and not at
    all where an earlier run seems to have measured everything), then with the method asked for, in
    little time.  Where that is too little the bounds may be to blame: so all is measured before
    there is more."""

    posed: Posed
    model: MeasuredModel
    settings: ExtractSettings
    phases: Phases
    estimated: dict[int, ENode] = field(default_factory=dict)
    rounds: int = 0
    seconds: float = 0.0
    skipped: bool = False
    per_node: float = 0.0
    extraction: Extraction = field(init=False)
    used: list[Timed] = field(init=False)

    def run(self, plain: Posed, runs: RunsAt, symbols: list[str]) -> Settled:
        """Rounds until the answer is measured, or the time for it is over; `plain` is the problem
        without chains, `runs` gives what the original runs at prices."""
        original = [timed for _, timed in runs(_fewest)]
        self.measure(original)
        begun, extraction = self.begin(plain)
        guess = begun.parts_of(extraction)
        self.measure(guess)
        if not all(map(self.model.is_settled, [*original, *guess])):
            return self._by_estimates(begun, extraction, original, symbols)
        self.per_node = self._noise_per_node(begun, extraction, guess)
        quick = (_QUICK,) if self.model.spent else ()
        for method in (*quick, self.settings.method):
            while self.open(method, _SHORT):
                self.measure(self.used)
                self.measure(self.rivals())
        if self.extraction.stopped is StopReason.TIME and not self._good_enough():
            self.measure(self.posed.paid)
            while self.open(self.settings.method, math.inf):
                self.measure(self.used)
        while self.confirm():
            while self.open(self.settings.method, _SHORT):
                self.measure(self.used)
        original = [timed for _, timed in runs(self.model.known_price)]
        before, cost = (sum(map(self.model.price, timed)) for timed in (original, self.used))
        tally = self.model.tally([*original, *self.used], self.rounds, symbols)
        notes = list(self.model.notes)
        incomplete = bool(tally.left or self.skipped)
        if incomplete:
            notes.append(self._stopped(_EXHAUSTED))
        return Settled(
            *(self.posed, self.extraction, before, cost, tally, tuple(notes)), incomplete=incomplete
        )

    def begin(self, plain: Posed) -> tuple[Posed, Extraction]:
        """Solve at the prices of estimates; the problem, and its answer."""
        with self.phases(Phase.COST):
            posed = plain.at(self.model.estimates(plain.paid))
        found = self._extract(posed, self.settings.method, _SHORT)
        chosen = () if found.selection is None else found.selection.chosen()
        self.estimated = {posed.nodes[i].eclass: posed.nodes[i] for i in chosen}
        return posed, found

    def _noise_per_node(self, begun: Posed, found: Extraction, guess: list[Timed]) -> float:
        """What a node counts for beside its time, so that of answers that times cannot tell apart
        the smaller one is taken: all nodes of the answer by estimates are the share of its time
        that is idle to prove."""
        if found.selection is None:
            return 0.0
        nodes = float(begun.problem.measures[NODES][found.selection.chosen()].sum())
        noise = _GAP_OF_MARGIN * self.model.margin * sum(map(self.model.price, guess))
        return noise / max(nodes, 1.0)

    def _by_estimates(
        self, posed: Posed, found: Extraction, original: list[Timed], symbols: list[str]
    ) -> Settled:
        """The answer that was begun with."""
        used = posed.parts_of(found)
        before, cost = (sum(self.model.estimates(timed)) for timed in (original, used))
        tally = self.model.tally([*original, *used], self.rounds, symbols)
        notes = (*self.model.notes, self._stopped(_TOO_EARLY))
        return Settled(posed, found, before, cost, tally, notes, estimated=True, incomplete=True)

    def _stopped(self, text: str) -> str:
        """That time was over, and what else one can do about it."""
        several = self.model.setting.threads != 1
        return text.format(self.model.budget) + (_ONE_THREAD if several else "")

    def _trusts(self, node: ENode) -> bool:
        """Whether a node is in the answer by estimates, or an original one where there is none."""
        return self.estimated.get(node.eclass) is node if self.estimated else node.original

    def _good_enough(self) -> bool:
        """Can anything be cheaper by more than times are exact?"""
        if self.extraction.gap > self.model.margin:
            return False
        self.extraction = dataclasses.replace(self.extraction, stopped=StopReason.GAP)
        return True

    def measure(self, parts: Iterable[Timed]) -> None:
        """Measure what is not measured yet."""
        with self.phases(Phase.MEASURE):
            self.model.measure(parts, self.phases.report)

    def confirm(self) -> bool:
        """Measure once more where the answer leaves that by estimates, and what it leaves: of two
        times, noise makes one the lesser.  Was there anything to do?"""
        trusted = [
            index
            for index, part in enumerate(self.posed.parts)
            if part is None or all(map(self._trusts, self.posed.enodes(index)))
        ]
        guess = self.posed.only(trusted)
        left = guess.parts_of(self._extract(guess, self.settings.method, _SHORT))
        differing = {*left} ^ {*self.used}
        with self.phases(Phase.MEASURE):
            return self.model.measure_again(differing, self.phases.report)

    def open(self, method: Method, most: float) -> bool:
        """Solve in at most so many seconds.  Does the answer use what is not measured, and is
        there time to measure it?"""
        with self.phases(Phase.COST):
            posed = _within_time(self.posed, self.model)
            self.skipped |= len(posed.nodes) < len(self.posed.nodes)
            posed = _without_idle_chains(posed, self.model)
            prices = self.model.prices(posed.paid)
            self.posed = posed.at(prices, self.model.margin, self._trusts, self.per_node)
        found = self._extract(self.posed, method, most)
        while clashing := _clashing(self.posed, found):
            # Later runs know then which of them save nothing, and need not solve to drop them.
            self.measure(filter(None, map(self.posed.parts.__getitem__, sorted(clashing))))
            kept = [i for i in range(len(self.posed.nodes)) if i not in clashing]
            self.posed = self.posed.only(kept)
            found = self._extract(self.posed, method, most)
        self.rounds += 1
        self.extraction = dataclasses.replace(found, seconds=self.seconds)
        self.used = self.posed.parts_of(found)
        return not self.model.exhausted and not all(map(self.model.is_settled, self.used))

    def _extract(self, posed: Posed, method: Method, most: float) -> Extraction:
        left = max(self.settings.seconds - self.seconds, _LEAST_SECONDS)
        gap = max(self.settings.gap, _GAP_OF_MARGIN * self.model.margin)
        settings = dataclasses.replace(
            self.settings, method=method, seconds=min(left, most), gap=gap
        )
        if method != self.settings.method:
            # The heuristic knows no limits; it is asked for what to measure only.
            settings = dataclasses.replace(settings, max_weight_bytes=0, at_most={})
        with self.phases(Phase.EXTRACT):
            solve = partial(extract, posed.problem, settings, self.phases.report)
            kept = KeptAnswers(self.model.cache, self.model.setting)
            found = kept.get(posed.problem, settings, solve) if method != _QUICK else solve()
        self.seconds += found.seconds
        return found

    def rivals(self) -> list[Timed]:
        """What may be cheaper than anything measured that makes the same as part of the answer.

        Without them, a class of many nodes would take a round for each.
        """
        selection = self.extraction.selection
        used = [] if selection is None else np.flatnonzero(selection.node_of_class >= 0).tolist()
        best, open_parts = dict.fromkeys(used, math.inf), []
        for node, part in zip(self.posed.nodes, self.posed.parts, strict=True):
            if part is None or node.eclass not in best:
                continue
            if self.model.is_settled(part):
                best[node.eclass] = min(best[node.eclass], self.model.price(part))
            else:
                open_parts.append((node.eclass, part))
        return [part for eclass, part in open_parts if self.model.price(part) < best[eclass]]


def _fewest(_: Timed) -> float:
    """A price by which the longest chains are the cheapest."""
    return 1.0


def _clashing(posed: Posed, extraction: Extraction) -> set[int]:
    """Chosen chains that hold another e-node for a class than the rest of the answer does: they
    cannot all be written."""
    selection = extraction.selection
    indices = [] if selection is None else selection.chosen().tolist()
    taken = {posed.nodes[i].eclass: posed.nodes[i] for i in indices}
    clashing = set()
    for index in indices:
        for node in posed.inner.get(index, ()):
            if taken.setdefault(node.eclass, node) is not node:
                clashing.add(index)
    return clashing


def _without_idle_chains(posed: Posed, model: MeasuredModel) -> Posed:
    """Chains that proved to save nothing only make the problem harder."""
    idle = {index for index in posed.inner if _saves_nothing(posed.parts[index], model)}
    if not idle:
        return posed
    return posed.only([index for index in range(len(posed.nodes)) if index not in idle])


def _saves_nothing(timed: Timed | None, model: MeasuredModel) -> bool:
    if not isinstance(timed, Chain) or not model.is_settled(timed):
        return False
    shorter = (timed.inner, timed.outer)
    known = all(map(model.is_settled, shorter))
    return known and model.price(timed) >= (1 - _SAVING) * sum(map(model.price, shorter))


def _within_time(posed: Posed, model: MeasuredModel) -> Posed:
    """When the time for measuring is over, what it did not reach is no alternative any more."""
    if not model.exhausted:
        return posed
    return posed.only(
        [
            index
            for index, (node, part) in enumerate(zip(posed.nodes, posed.parts, strict=True))
            if node.original or part is None or model.is_settled(part)
        ]
    )
