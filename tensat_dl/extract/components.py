"""The independent parts of a reduced graph, each with its best choice and bound.

Enters: a Split and the whole answer so far.  Leaves: better choices and bounds of the whole.  The
choice of the whole is at any time the union of the settled nodes and the best choices of the parts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensat_dl.extract.answer import Answer
from tensat_dl.extract.cycles import price, repair
from tensat_dl.extract.deadline import Deadline, OutOfTime
from tensat_dl.extract.greedy import Choice, greedy_dag, greedy_shared, greedy_tree
from tensat_dl.extract.problem import StopReason
from tensat_dl.extract.reductions.split import Split
from tensat_dl.extract.reductions.table import COMPONENT, Context, Reducer
from tensat_dl.extract.reductions.upper import lower_bound
from tensat_dl.extract.search import Found, Listener, Plan, solve
from tensat_dl.extract.solvers.session import SolverSession
from tensat_dl.extract.work import ROOT, Work

_MOST_GAP = 0.5
_LEAST_SHARE = 0.25
_ROUNDING = 1e-12


@dataclass
class Component:
    """A part while it is solved; `choice` is complete on the part as it was split off, while
    `found.choice` may be one of the reduced part."""

    work: Work
    found: Found
    choice: Choice

    @property
    def open(self) -> bool:
        """Whether a solver is needed."""
        return not self.found.proven


class Components:
    """All parts, and the sum of their bounds."""

    def __init__(
        self, split: Split, settled: Mapping[int, int], answer: Answer, reducer: Reducer
    ) -> None:
        self.constant = split.constant
        self.settled = {**settled, **split.settled}
        self.answer = answer
        self.reducer = reducer
        self.parts = [self._begin(part) for part in split.parts]
        self._offer()

    def _begin(self, part: Work) -> Component:
        """The best of some quick choices: the greedy ones, and what the incumbent would do."""
        deadline = self.answer.deadline
        choices = [
            greedy_dag(part, deadline),
            greedy_shared(part, deadline),
            greedy_tree(part),
        ]
        if self.answer.selection is not None:
            used = self.answer.selection.node_of_class
            liked = {c: int(used[c]) for c in part.members if c >= 0 and used[c] >= 0}
            choices.append(repair(part, liked, deadline))
        costs = [price(part, choice) for choice in choices]
        best = costs.index(min(costs))
        return Component(part, Found(choices[best], costs[best], 0.0), choices[best])

    def reduce(self) -> None:
        """Reduce each part under its own upper bound."""
        for part in self.parts:
            self._reduce(part)
            self._raise_bound()

    def _reduce(self, part: Component) -> None:
        deadline, found = self.answer.deadline, part.found
        self.reducer.run(part.work, COMPONENT, Context(deadline, found.cost))
        if not part.work.derivable:
            # Nothing is left below the upper bound: only rounding let the best choice go too.
            found.bound, found.proven = found.cost, True
            return
        choice = greedy_tree(part.work)
        cost = price(part.work, choice)
        if cost < found.cost:
            found.choice, found.cost = choice, cost
            self._improve(part, found)
        found.bound = min(found.cost, lower_bound(part.work, deadline))
        found.proven = found.bound >= found.cost * (1.0 - _ROUNDING)

    def _improve(self, part: Component, found: Found) -> None:
        part.choice = {**part.work.settled, **found.choice}
        self._offer()

    def _offer(self) -> None:
        whole = dict(self.settled)
        for part in self.parts:
            whole.update(part.choice)
        whole.pop(ROOT, None)
        self.answer.offer(whole)

    def _raise_bound(self) -> None:
        self.answer.raise_bound(self.constant + sum(part.found.bound for part in self.parts))

    def _tell_bound(self, part: Component, bound: float) -> None:
        known = self.constant + sum(other.found.bound for other in self.parts)
        self.answer.tell("bound", known - part.found.bound + bound)

    def _part_gap(self, gap: float) -> float:
        """The relative gap for the parts that makes `gap` for the whole."""
        rest = sum(part.found.cost for part in self.parts if part.open)
        return min(_MOST_GAP, max(gap, gap * self.answer.bound / rest if rest else gap))

    def solve(self, session: SolverSession, cycles: str, gap: float) -> StopReason:
        """Solve the open parts, the smallest first, each within its share of the time."""
        waiting = sorted((part for part in self.parts if part.open), key=lambda p: p.work.nodes)
        plan = Plan(cycles, False, self._part_gap(gap))
        sizes = [part.work.nodes for part in waiting]
        for i, part in enumerate(waiting):
            share = max(_LEAST_SHARE, sizes[i] / sum(sizes[i:])) if sizes[i + 1 :] else 1.0
            self._solve(part, plan, session, share)
        unproven = [part.found for part in waiting if part.open]
        if not unproven:
            return StopReason.GAP
        if cycles == "filter":
            return StopReason.HEURISTIC
        failed = all(found.failed for found in unproven)
        return StopReason.SOLVER_FAILED if failed else StopReason.TIME

    def _solve(self, part: Component, plan: Plan, session: SolverSession, share: float) -> None:
        whole = self.answer.deadline
        whole.check()
        deadline = Deadline(whole.remaining * share, whole.clock)
        try:
            solve(
                part.work,
                part.found,
                plan,
                session,
                deadline,
                Listener(
                    lambda found: self._improve(part, found),
                    lambda bound: self._tell_bound(part, bound),
                ),
            )
        except OutOfTime:
            # The rest of the time belongs to the other parts.
            return
        finally:
            self.answer.warnings.extend(part.found.warnings)
            self._raise_bound()
