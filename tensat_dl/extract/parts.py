"""The independent parts of a reduced graph, each with its best choice and bound.

Enters: a reduced graph and the whole answer so far.  Leaves: better choices and bounds of the
whole.  The choice of the whole is at any time the union of the best choices of the parts.
"""

from __future__ import annotations

from dataclasses import replace
from threading import RLock

import numpy as np

from tensat_dl.extract.answer import Answer
from tensat_dl.extract.bottlenecks import block_numbers
from tensat_dl.extract.deadline import Deadline, OutOfTime
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.incumbent import best_by_part, quick_choices
from tensat_dl.extract.isomorphism import signature
from tensat_dl.extract.pairs import Pair, pair_up
from tensat_dl.extract.parallel import Task, in_parallel
from tensat_dl.extract.part import Part, PartRun
from tensat_dl.extract.problem import FloatArray, StopReason
from tensat_dl.extract.reductions.split import cut, part_labels
from tensat_dl.extract.reductions.table import PARTS, Context, Reducer
from tensat_dl.extract.reductions.upper import part_bounds
from tensat_dl.extract.search import Found, Listener, Plan
from tensat_dl.extract.solvers.pool import SolverPool, has_learner
from tensat_dl.settings import Acyclicity, ExtractSettings, Reduction

_MOST_ROUNDS = 6
_MOST_GAP = 0.5
_LEAST_SHARE = 0.25
_ROUNDING = 1e-12


class Parts:
    """All parts, and the sum of their bounds: `constant` is the cost of those that were proven
    before they were cut off, whose choice `choice` is."""

    def __init__(self, answer: Answer, whole: Reducer) -> None:
        self.answer = answer
        self.whole = whole
        self.reducer = replace(whole, scope="parts")
        self.constant = 0.0
        self.choice: dict[int, int] = {}
        self.parts: list[Part] = []
        self.pairs: dict[int, Pair] = {}
        self.has_learner = has_learner(answer.settings)
        self._lock = RLock()

    def split(self, graph: Graph) -> None:
        """Reduce by parts, each under its own upper bound, as long as that helps; then cut."""
        deadline = self.answer.deadline
        for turn in range(_MOST_ROUNDS):
            labels = part_labels(graph, deadline)
            graph = replace(graph, part=labels)
            # The first answer is the greedy tree's, of which nothing more comes.
            known = self.answer.choice() if turn else {}
            union, upper = best_by_part(
                graph, int(labels.max()) + 1, quick_choices(graph, known, deadline)
            )
            self.choice = graph.choice_of(union.values())
            self.answer.offer(self.choice)
            bounds = part_bounds(graph, len(upper), deadline)
            self.answer.raise_bound(float(bounds.sum()))
            smaller = self.whole.run(graph, PARTS, Context(deadline, upper))
            if smaller is graph:
                break
            graph = smaller
        self._cut(graph, union, upper, bounds)

    def _cut(self, graph: Graph, union: Choice, upper: FloatArray, bounds: FloatArray) -> None:
        is_open = upper - bounds > _ROUNDING * upper
        self.constant = float(upper[~is_open].sum())
        blocks = block_numbers(graph, self.answer.deadline)
        block_of = dict(zip(graph.class_id.tolist(), blocks.tolist(), strict=True))
        for part in np.flatnonzero(is_open).tolist():
            piece = cut(graph, part, self.answer.deadline)
            inside = np.flatnonzero(graph.part == part).tolist()
            choice = replace(graph, settled={}).choice_of(union[c] for c in inside if c != ROOT)
            found = Found(choice, float(upper[part]), float(bounds[part]))
            self.parts.append(Part(len(self.parts), piece, found, block_of))
        self.parts.sort(key=lambda part: part.graph.nodes)

    def reduce(self) -> None:
        """Reduce each part under its own upper bound, and search the small ones."""
        for part in self.parts:
            self._run(part, self.answer.deadline).reduce()
            self._raise_bound()
        if Reduction.ISOMORPHISM in self.reducer.switched_on:
            self._pair()
        for part in self.parts:
            self._copy(part)
            if part.number not in self.pairs:
                self._run(part, self.answer.deadline).search()
            self._raise_bound()

    def _pair(self) -> None:
        """Find the parts that are equal to an earlier one."""
        deadline = self.answer.deadline
        first: dict[int, list[Part]] = {}
        for part in self.parts if len(self.parts) > 1 else ():
            if not part.open:
                continue
            started, alike = deadline.elapsed, first.setdefault(signature(part.graph), [])
            pair = next(filter(None, (pair_up(other, part) for other in alike)), None)
            if pair is None:
                alike.append(part)
            else:
                self.pairs[part.number] = pair
            self.reducer.recorder.add(
                "parts",
                "isomorphism",
                part.number,
                part.graph,
                part.graph,
                deadline.elapsed - started,
                f"{len(self.pairs)} equal to another part",
            )

    def _copy(self, part: Part) -> None:
        """Take what is known of an equal part."""
        pair = self.pairs.get(part.number)
        if pair is not None and part.open and pair.transfer():
            self._improve()

    def _run(self, part: Part, deadline: Deadline) -> PartRun:
        listener = Listener(
            lambda found: self._improve(), lambda bound: self._tell_bound(part, bound)
        )
        return PartRun(part, self.reducer, deadline, listener, self.has_learner)

    def _improve(self) -> None:
        with self._lock:
            whole = dict(self.choice)
            for part in self.parts:
                whole.update(part.found.choice)
            self.answer.offer(whole)

    def _raise_bound(self) -> None:
        with self._lock:
            self.answer.parts = sum(not part.open for part in self.parts), len(self.parts)
            self.answer.raise_bound(self.constant + sum(part.found.bound for part in self.parts))

    def _tell_bound(self, part: Part, bound: float) -> None:
        with self._lock:
            known = self.constant + sum(other.found.bound for other in self.parts)
            self.answer.tell(known - part.found.bound + bound)

    def _part_gap(self, gap: float) -> float:
        """The relative gap for the parts that makes `gap` for the whole."""
        rest = sum(part.found.cost for part in self.parts if part.open)
        return min(_MOST_GAP, max(gap, gap * self.answer.bound / rest if rest else gap))

    def solve(self, pool: SolverPool, settings: ExtractSettings) -> StopReason:
        """Solve the open parts, the smallest first, each within its share of the time."""
        waiting = sorted((part for part in self.parts if part.open), key=lambda p: p.graph.nodes)
        plan = Plan(settings.cycles, False, self._part_gap(settings.gap))
        single = [part for part in waiting if part.number not in self.pairs]
        in_parallel(
            [self._task(single, i, plan, settings.workers) for i in range(len(single))],
            pool,
            settings,
        )
        for part in waiting:
            self._copy(part)
            if part.open and part.number in self.pairs:
                self._solve(part, plan, pool, 1.0)
            self._raise_bound()
        unproven = [part.found for part in waiting if part.open]
        if not unproven:
            return StopReason.GAP
        if settings.cycles == Acyclicity.FILTER:
            return StopReason.HEURISTIC
        failed = all(found.failed for found in unproven)
        return StopReason.SOLVER_FAILED if failed else StopReason.TIME

    def _task(self, parts: list[Part], i: int, plan: Plan, workers: int) -> Task:
        """What solves part i in its share of the time that is left when it begins."""
        sizes = [part.graph.nodes for part in parts[i:]]
        share = max(_LEAST_SHARE, workers * sizes[0] / sum(sizes)) if sizes[1:] else 1.0
        return lambda pool: self._solve(parts[i], plan, pool, min(1.0, share))

    def _solve(self, part: Part, plan: Plan, pool: SolverPool, share: float) -> None:
        whole = self.answer.deadline
        whole.check()
        deadline = Deadline(whole.remaining * share, whole.clock)
        run = self._run(part, deadline)
        try:
            run.finish(pool, plan)
        except OutOfTime:
            # The rest of the time belongs to the other parts.
            return
        finally:
            self.answer.warnings.extend(part.found.warnings)
            self._raise_bound()
