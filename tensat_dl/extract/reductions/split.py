"""Splits a graph into parts that can be solved one by one.

Guarantee: the best selections of the parts and the settled nodes together are a best selection of
the whole.  Classes that the roots require are there in any case, so a child edge to one of them
costs nothing and matters only inside a strongly connected component, where it could close a loop.
What is left connects the decisions that depend on each other.
"""

from __future__ import annotations

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph, part_of
from tensat_dl.extract.order import components
from tensat_dl.extract.problem import IntArray
from tensat_dl.extract.reductions.required import required_sets


def part_labels(graph: Graph, deadline: Deadline) -> IntArray:
    """The number of the part that each class of a pruned graph belongs to, from 0; the extra root
    is of part 0, too."""
    required = required_sets(graph, deadline)
    optional = ~required.marks(required.forced)
    inside = optional[graph.kids] & (graph.edge_node != ROOT)
    above, below = graph.owner[graph.edge_node[inside]], graph.kids[inside]
    loops = [component for component in components(graph) if len(component) > 1]
    leaders = [component[0] for component in loops for _ in component]
    members = [c for component in loops for c in component]
    label = _connected(
        len(graph.class_id),
        np.concatenate((above, np.array(leaders, dtype=np.int64))),
        np.concatenate((below, np.array(members, dtype=np.int64))),
    )
    label[ROOT] = label[1:].min(initial=0)
    return np.unique(label, return_inverse=True)[1]


def _connected(count: int, a: IntArray, b: IntArray) -> IntArray:
    """The least member of each connected set of an undirected graph, for every vertex."""
    label = np.arange(count)
    while True:
        low = np.minimum(label[a], label[b])
        changed = label.copy()
        np.minimum.at(changed, label[a], low)
        np.minimum.at(changed, label[b], low)
        while (changed != changed[changed]).any():
            changed = changed[changed]
        if (changed == label).all():
            return label
        label = changed


def cut(graph: Graph, part: int, deadline: Deadline) -> Graph:
    """One part as a graph of its own.  Edges to other parts, whose classes are required, go."""
    required = required_sets(graph, deadline)
    return part_of(graph, graph.part == part, required.marks(required.forced))
