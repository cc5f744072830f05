"""Branch and bound on what the propagator finds: an exact solver for parts with few classes.

Enters: a part, its costs with the most that a choice may have of each, a budget of work.  Leaves:
choices within all bounds, the last cost ever smaller; and, when the budget lasts, a proof that
there is nothing better; when it does not, the part without the nodes that were shown to be of no
use.  Loops need no rows here: a node that closes one with what is already decided is dropped.
That solves the small cyclic parts on which integer programs, whose relaxations allow loops, are
weak.

A node that the propagator of one cost drops is gone for all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph, with_costs
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.landmarks import ascend
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.propagation import Alive, Decision, Propagator, State
from tensat_dl.extract.reductions.prune import drop_nodes


@dataclass
class Bounded:
    """A cost of the nodes, and the most that a choice may have of it."""

    cost: FloatArray
    upper: float


@dataclass
class _Branch:
    """A state with the options of one decision that are still to be tried."""

    state: State
    decision: Decision
    next: int = 0


@dataclass(frozen=True)
class Branched:
    """`graph`: what is left to search; None when nothing is.  `bound`: a lower bound of its last
    cost."""

    graph: Graph | None
    bound: float


def branch(
    graph: Graph,
    costs: Sequence[Bounded],
    visits: int,
    deadline: Deadline,
    report: Callable[[Choice], None],
) -> Branched:
    """Search for choices within all bounds.  `report` takes each, and lowers the bound of the last
    cost, so that the next is better.  The search ends after `visits` of nodes, or when the time is
    up."""
    search, stack = _Search(graph, costs, deadline), list[_Branch]()

    def take(alive: Alive) -> None:
        state = search.run(alive)
        if state is not None and state.decisions:
            stack.append(_Branch(state, state.hardest))
        elif state is not None and search.admits(choice := search.choice(state)):
            report(choice)

    take([tuple(nodes) for nodes in graph.member_ranges])
    while stack:
        if search.visits > visits or deadline.remaining <= 0.0:
            return Branched(_without_tried(graph, stack[0]), stack[0].state.bound)
        top = stack[-1]
        if top.next == len(top.decision.options):
            stack.pop()
            continue
        alive = list(top.state.alive)
        alive[top.decision.eclass] = (top.decision.options[top.next][1],)
        top.next += 1
        take(alive)
    return Branched(None, costs[-1].upper)


def _without_tried(graph: Graph, first: _Branch) -> Graph:
    """The graph as the first propagation left it, without the options that were searched to the
    end (the last one tried was not)."""
    kept = np.zeros(len(graph.node_id), dtype=np.bool_)
    kept[[n for nodes in first.state.alive for n in nodes]] = True
    kept[[n for _, n in first.decision.options[: max(0, first.next - 1)]]] = False
    return drop_nodes(graph, ~kept)


@dataclass(frozen=True)
class _Propagating:
    """A propagator of what is left of a cost when `paid` of it is."""

    propagator: Propagator
    cost: Bounded
    paid: float = 0.0

    def run(self, alive: Alive) -> State | None:
        """All that follows; the bound is of the whole cost."""
        root = 1 << self.propagator.bit[ROOT]
        state = self.propagator.run(alive, root, self.cost.upper - self.paid)
        return state and replace(state, bound=state.bound + self.paid)


class _Search:
    """Each cost is propagated twice: as landmarks leave it, which tells more at first, and as it
    is, which tells more after some decisions."""

    def __init__(self, graph: Graph, costs: Sequence[Bounded], deadline: Deadline) -> None:
        self.costs = costs
        self.each: list[_Propagating] = []
        for cost in costs:
            priced = with_costs(graph, cost.cost)
            ascent = ascend(priced, deadline)
            reduced = Propagator(with_costs(graph, ascent.reduced), deadline)
            self.each.append(_Propagating(reduced, cost, ascent.bound))
            self.each.append(_Propagating(Propagator(priced, deadline), cost))

    @property
    def visits(self) -> int:
        """The work done so far."""
        return sum(each.propagator.visits for each in self.each)

    def run(self, alive: Alive) -> State | None:
        """All that follows from what is alive, under all costs; None when nothing is left.  The
        state is that of the last cost."""
        before = -1
        while before != (before := sum(map(len, alive))):
            states = []
            for each in self.each:
                state = each.run(alive)
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
