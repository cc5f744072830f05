"""Branch and bound on what the propagator finds: an exact solver for parts with few classes.

Enters: a part, its best cost, a budget of work.  Leaves: better choices as they are found; and,
when the budget lasts, a proof that there is nothing better; when it does not, the part without
the nodes that were shown to be of no use.  Loops need no rows here: a node that closes one with
what is already decided is dropped.  That solves the small cyclic parts on which integer programs,
whose relaxations allow loops, are weak.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.propagation import Alive, Decision, Propagator, State
from tensat_dl.extract.reductions.prune import drop_nodes

Report = Callable[[Choice, float], float]


@dataclass
class _Branch:
    """A state with the options of one decision that are still to be tried."""

    state: State
    decision: Decision
    next: int = 0


@dataclass(frozen=True)
class Branched:
    """`graph`: what is left to search; None when nothing is.  `bound`: a lower bound of it."""

    graph: Graph | None
    bound: float


def branch(graph: Graph, upper: float, visits: int, deadline: Deadline, report: Report) -> Branched:
    """Search for selections of cost `upper` or less.  `report` takes each better choice with its
    cost and returns the new upper bound.  The search ends after `visits` of nodes, or when the
    time is up."""
    propagator = Propagator(graph, deadline)
    alive: Alive = [tuple(nodes) for nodes in graph.member_ranges]
    root = propagator.run(alive, 1 << propagator.bit[ROOT], upper)
    if root is None:
        return Branched(None, upper)
    stack = [_Branch(root, root.hardest)] if root.decisions else []
    if not root.decisions:
        upper = report(propagator.choice(root), root.bound)
    while stack:
        if propagator.visits > visits or deadline.remaining <= 0.0:
            return Branched(_without_tried(graph, stack[0]), root.bound)
        top = stack[-1]
        if top.next == len(top.decision.options):
            stack.pop()
            continue
        alive = list(top.state.alive)
        alive[top.decision.eclass] = (top.decision.options[top.next][1],)
        top.next += 1
        state = propagator.run(alive, top.state.wanted, upper)
        if state is None:
            continue
        if state.decisions:
            stack.append(_Branch(state, state.hardest))
        else:
            upper = report(propagator.choice(state), state.bound)
    return Branched(None, upper)


def _without_tried(graph: Graph, first: _Branch) -> Graph:
    """The graph as the first propagation left it, without the options that were searched to the
    end (the last one tried was not)."""
    kept = np.zeros(len(graph.node_id), dtype=np.bool_)
    kept[[n for nodes in first.state.alive for n in nodes]] = True
    kept[[n for _, n in first.decision.options[: max(0, first.next - 1)]]] = False
    return drop_nodes(graph, ~kept)
