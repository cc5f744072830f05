"""The independent parts of a reduced graph, each with its best choice and bound.

Enters: a reduced graph and the whole answer so far.  Leaves: better choices and bounds of the
whole.  The choice of the whole is at any time the union of the best choices of the parts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tensat_dl.extract.answer import Answer
from tensat_dl.extract.branching import branch
from tensat_dl.extract.deadline import Deadline, OutOfTime
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.incumbent import best_by_part, quick_choices
from tensat_dl.extract.order import components
from tensat_dl.extract.problem import FloatArray, StopReason
from tensat_dl.extract.reductions.prune import nothing
from tensat_dl.extract.reductions.split import cut, part_labels
from tensat_dl.extract.reductions.table import PARTS, Context, Reducer
from tensat_dl.extract.reductions.upper import lower_bound, part_bounds
from tensat_dl.extract.search import Found, Listener, Plan, solve
from tensat_dl.extract.solvers.pool import SolverPool

_MOST_ROUNDS = 6
_MOST_GAP = 0.5
_LEAST_SHARE = 0.25
_ROUNDING = 1e-12
# Better choices are of interest if they are better by this share.
_CUTOFF = 1e-8
# Branching looks at so many nodes (about half a microsecond each), of parts with so few classes.
_MOST_BRANCHED = 1_500
_VISITS = 600_000
_VISITS_CYCLIC = 15_000_000
_BRANCHING_SHARE = 0.4


@dataclass
class Part:
    """A part while it is solved; `found` is complete on the part as it was cut off."""

    graph: Graph
    found: Found

    @property
    def open(self) -> bool:
        """Whether a solver is needed."""
        return not self.found.proven


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

    def split(self, graph: Graph) -> None:
        """Reduce by parts, each under its own upper bound, as long as that helps; then cut."""
        deadline = self.answer.deadline
        for _ in range(_MOST_ROUNDS):
            labels = part_labels(graph, deadline)
            graph = replace(graph, part=labels)
            known = self.answer.choice()
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
        for part in np.flatnonzero(is_open).tolist():
            piece = cut(graph, part, self.answer.deadline)
            inside = np.flatnonzero(graph.part == part).tolist()
            choice = replace(graph, settled={}).choice_of(union[c] for c in inside if c != ROOT)
            self.parts.append(Part(piece, Found(choice, float(upper[part]), float(bounds[part]))))
        self.parts.sort(key=lambda part: part.graph.nodes)

    def reduce(self) -> None:
        """Reduce each part under its own upper bound."""
        for number, part in enumerate(self.parts):
            self._reduce(part, number)
            if part.open and "branching" in self.reducer.switched_on:
                self._branch(part, number)
            self._raise_bound()

    def _reduce(self, part: Part, number: int) -> None:
        deadline, found = self.answer.deadline, part.found
        cutoff = found.cost * (1.0 - _CUTOFF)
        part.graph = self.reducer.run(
            part.graph, PARTS, Context(deadline, np.array([cutoff])), number
        )
        if part.graph.derivable:
            found.raise_bound(lower_bound(part.graph, deadline))
        else:
            found.prove(cutoff)

    def _branch(self, part: Part, number: int) -> None:
        """Search a small part without a solver, or begin to: what is found and shown stays."""
        graph, found, deadline = part.graph, part.found, self.answer.deadline
        if graph.classes > _MOST_BRANCHED:
            return

        def report(choice: Choice, cost: float) -> float:
            found.offer(graph, choice)
            self._improve()
            return found.cost * (1.0 - _CUTOFF)

        cyclic = any(len(component) > 1 for component in components(graph))
        started = deadline.elapsed
        result = branch(
            graph,
            found.cost * (1.0 - _CUTOFF),
            _VISITS_CYCLIC if cyclic else _VISITS,
            Deadline(deadline.remaining * _BRANCHING_SHARE, deadline.clock),
            report,
        )
        part.graph = result.graph or nothing(graph)
        found.raise_bound(result.bound)
        if not part.graph.derivable:
            found.prove(found.cost * (1.0 - _CUTOFF))
        seconds = deadline.elapsed - started
        self.reducer.recorder.add("parts", "branching", number, graph, part.graph, seconds)

    def _improve(self) -> None:
        whole = dict(self.choice)
        for part in self.parts:
            whole.update(part.found.choice)
        self.answer.offer(whole)

    def _raise_bound(self) -> None:
        self.answer.raise_bound(self.constant + sum(part.found.bound for part in self.parts))

    def _tell_bound(self, part: Part, bound: float) -> None:
        known = self.constant + sum(other.found.bound for other in self.parts)
        self.answer.tell(known - part.found.bound + bound)

    def _part_gap(self, gap: float) -> float:
        """The relative gap for the parts that makes `gap` for the whole."""
        rest = sum(part.found.cost for part in self.parts if part.open)
        return min(_MOST_GAP, max(gap, gap * self.answer.bound / rest if rest else gap))

    def solve(self, pool: SolverPool, cycles: str, gap: float) -> StopReason:
        """Solve the open parts, the smallest first, each within its share of the time."""
        waiting = sorted((part for part in self.parts if part.open), key=lambda p: p.graph.nodes)
        plan = Plan(cycles, False, self._part_gap(gap))
        sizes = [part.graph.nodes for part in waiting]
        for i, part in enumerate(waiting):
            share = max(_LEAST_SHARE, sizes[i] / sum(sizes[i:])) if sizes[i + 1 :] else 1.0
            self._solve(part, plan, pool, share)
        unproven = [part.found for part in waiting if part.open]
        if not unproven:
            return StopReason.GAP
        if cycles == "filter":
            return StopReason.HEURISTIC
        failed = all(found.failed for found in unproven)
        return StopReason.SOLVER_FAILED if failed else StopReason.TIME

    def _solve(self, part: Part, plan: Plan, pool: SolverPool, share: float) -> None:
        whole = self.answer.deadline
        whole.check()
        deadline = Deadline(whole.remaining * share, whole.clock)
        listener = Listener(
            lambda found: self._improve(), lambda bound: self._tell_bound(part, bound)
        )
        try:
            session = pool.session_for(part.graph)
            solve(part.graph, part.found, plan, session, deadline, listener)
        except OutOfTime:
            # The rest of the time belongs to the other parts.
            return
        finally:
            self.answer.warnings.extend(part.found.warnings)
            self._raise_bound()
