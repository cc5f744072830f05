"""Removes nodes of small cyclic components whose choice contradicts the rest.

Each node in turn is taken as chosen, and what follows is propagated: the classes that are required
then, the nodes that would close a loop or need what stands above them, those that have become too
dear.  If no acyclic selection below the upper bound is left, the node goes; the later probes do
without it.

Guarantee: every acyclic selection no dearer than the one known keeps its nodes.  A selection with
the node satisfies all that the propagator starts from, so it would not have been excluded.
"""

from __future__ import annotations

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.joint import Bounded, Joint
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.propagation import Alive
from tensat_dl.extract.reductions.prune import drop_nodes, nothing
from tensat_dl.extract.reductions.required import required_sets
from tensat_dl.extract.reductions.upper import MARGIN

# A probe looks at the whole part, again and again, and there is one for each node of a component:
# it ends after so many looks at a node (about half a microsecond each).
_MOST_CLASSES = 400
_VISITS = 1_000_000


def remove_probed(graph: Graph, upper: FloatArray, deadline: Deadline) -> Graph:
    """Drop the nodes of small cyclic components that no selection within the sum of all `upper`
    can have.  Needs a pruned graph."""
    components = required_sets(graph, deadline).components
    probed = [c for part in components if 1 < len(part) <= _MOST_CLASSES for c in part]
    if not probed:
        return graph
    most = float(upper.sum()) * (1.0 + MARGIN)
    joint = Joint(graph, [Bounded(graph.cost, most)], deadline, with_paths=True)
    alive: Alive = [tuple(nodes) for nodes in graph.member_ranges]
    if joint.run(alive) is None or not all(_probe(joint, alive, c, deadline) for c in probed):
        return nothing(graph)
    gone = np.ones(len(graph.node_id), dtype=np.bool_)
    gone[[n for nodes in alive for n in nodes]] = False
    return drop_nodes(graph, gone) if gone.any() else graph


def _probe(joint: Joint, alive: Alive, c: int, deadline: Deadline) -> bool:
    """Keep those of the nodes alive in class c with which a selection may be left; False when none
    is left at all."""
    for n in alive[c]:
        deadline.check()
        if joint.visits > _VISITS:
            break
        if n not in alive[c]:
            continue
        trial = [*alive]
        trial[c] = (n,)
        if joint.run(trial, (ROOT, c)) is None:
            alive[c] = tuple(other for other in alive[c] if other != n)
            if joint.run(alive) is None:
                return False
    return True
