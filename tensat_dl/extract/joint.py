"""Propagation under the bounds of several costs at a time.

Enters: a pruned graph and its costs with the most that a selection may have of each; then, again
and again, the nodes still alive.  Leaves: what follows from all bounds together.  A node that the
propagator of one cost drops is gone for all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph, with_costs
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.landmarks import ascend
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.propagation import Alive, Propagator, State


@dataclass
class Bounded:
    """A cost of the nodes, and the most that a choice may have of it."""

    cost: FloatArray
    upper: float


@dataclass(frozen=True)
class _Propagating:
    """A propagator of what is left of a cost when `paid` of it is."""

    propagator: Propagator
    cost: Bounded
    paid: float = 0.0

    def run(self, alive: Alive, wanted: Sequence[int]) -> State | None:
        """All that follows; the bound is of the whole cost."""
        bits = sum(1 << self.propagator.bit[c] for c in wanted)
        state = self.propagator.run(alive, bits, self.cost.upper - self.paid)
        return state and replace(state, bound=state.bound + self.paid)


class Joint:
    """Each cost is propagated twice: as landmarks leave it, which tells more at first, and as it
    is, which tells more after some decisions."""

    def __init__(
        self,
        graph: Graph,
        costs: Sequence[Bounded],
        deadline: Deadline,
        *,
        with_paths: bool = False,
    ) -> None:
        self.costs = costs
        self.each: list[_Propagating] = []
        for cost in costs:
            priced = with_costs(graph, cost.cost)
            ascent = ascend(priced, deadline)
            rest = with_costs(graph, ascent.reduced)
            reduced = Propagator(rest, deadline, with_paths=with_paths)
            self.each.append(_Propagating(reduced, cost, ascent.bound))
            self.each.append(_Propagating(Propagator(priced, deadline), cost))

    @property
    def visits(self) -> int:
        """The work done so far."""
        return sum(each.propagator.visits for each in self.each)

    def run(self, alive: Alive, wanted: Sequence[int] = (ROOT,)) -> State | None:
        """All that follows from what is alive for selections with the `wanted` classes, ROOT one
        of them, under all costs; None when nothing is left.  The state is that of the last
        cost."""
        before = -1
        while before != (before := sum(map(len, alive))):
            states = []
            for each in self.each:
                state = each.run(alive, wanted)
                if state is None:
                    return None
                states.append(state)
        return replace(states[-1], bound=max(state.bound for state in states[-2:]))

    def choice(self, state: State) -> Choice:
        """The only node left of each wanted class."""
        return self.each[-1].propagator.choice(state)

    def admits(self, choice: Choice) -> bool:
        """Whether a choice keeps to all bounds: the propagators know lower bounds only."""
        nodes = list(choice.values())
        return all(float(each.cost[nodes].sum()) <= each.upper for each in self.costs)
