"""Branch and bound on what the propagator finds: an exact solver for parts with few classes.

Enters: a part, its costs with the most that a choice may have of each, a budget of work.  Leaves:
choices within all bounds, the last cost ever smaller; and, when the budget lasts, a proof that
there is nothing better; when it does not, the part without the nodes that were shown to be of no
use.  Loops need no rows here: a node that closes one with what is already decided is dropped.
That solves the small cyclic parts on which integer programs, whose relaxations allow loops, are
weak.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.joint import Bounded, Joint
from tensat_dl.extract.propagation import Alive, Decision, State
from tensat_dl.extract.reductions.prune import drop_nodes


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
    search, stack = Joint(graph, costs, deadline), list[_Branch]()

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
