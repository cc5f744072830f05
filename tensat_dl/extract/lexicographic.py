"""Branch and bound under several costs at once: the last is made small, the others stay below
what they may be at most.

Enters: a part, costs with their upper bounds, a budget of work.  Leaves: ever better choices.
Each cost has its own propagator; a node that one of them drops is gone for all.  Costs are whole
numbers but for the first, which needs no more than its bound.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph, with_costs
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.propagation import Alive, Decision, Propagator, State

# A choice is better when it is by one.
_STEP = 0.5


@dataclass
class Bounded:
    """A cost of the nodes, and the most that a choice may have of it."""

    cost: FloatArray
    upper: float


@dataclass
class _Branch:
    state: State
    decision: Decision
    next: int = 0


class _Search:
    def __init__(self, graph: Graph, costs: Sequence[Bounded], deadline: Deadline) -> None:
        self.costs = costs
        self.propagators = [Propagator(with_costs(graph, c.cost), deadline) for c in costs]

    @property
    def visits(self) -> int:
        """The work done so far."""
        return sum(propagator.visits for propagator in self.propagators)

    def run(self, alive: Alive) -> State | None:
        """All that follows from what is alive, under all costs; None when nothing is left."""
        count = -1
        state: State | None = None
        while count != (count := sum(map(len, alive))):
            for propagator, cost in zip(self.propagators, self.costs, strict=True):
                state = propagator.run(alive, 1 << propagator.bit[ROOT], cost.upper)
                if state is None:
                    return None
        return state

    def choice(self, state: State) -> Choice:
        """The only node left of each wanted class."""
        return self.propagators[-1].choice(state)


def least(
    graph: Graph,
    costs: Sequence[Bounded],
    visits: int,
    deadline: Deadline,
    report: Callable[[Choice], None],
) -> bool:
    """Report choices within all bounds whose last cost is ever smaller; that cost's bound follows.
    True when nothing better is left, False after `visits` or when the time is up."""
    search, target = _Search(graph, costs, deadline), costs[-1]
    stack: list[_Branch] = []

    def take(state: State | None) -> None:
        if state is None:
            return
        if state.decisions:
            stack.append(_Branch(state, state.hardest))
            return
        report(search.choice(state))
        target.upper = state.bound - _STEP

    take(search.run([tuple(nodes) for nodes in graph.member_ranges]))
    while stack:
        if search.visits > visits or deadline.remaining <= 0.0:
            return False
        top = stack[-1]
        if top.next == len(top.decision.options):
            stack.pop()
            continue
        alive = list(top.state.alive)
        alive[top.decision.eclass] = (top.decision.options[top.next][1],)
        top.next += 1
        take(search.run(alive))
    return True
