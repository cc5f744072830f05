"""Removes what no selection can use.

Guarantee: no acyclic selection loses a node that it needs.  A node whose class is among its own
children closes a loop; a node with a child that has no finite derivation can never be chosen; a
class that the roots do not reach is of no use.
"""

from __future__ import annotations

import numpy as np

from tensat_dl.extract.graph import ROOT, BoolArray, Graph, restrict
from tensat_dl.extract.order import derivation_levels, reachable


def prune(graph: Graph) -> Graph:
    """Self-loops, then underivable nodes, then unreachable classes."""
    return drop_nodes(graph, graph.owner[graph.edge_node] == graph.kids, marks_edges=True)


def drop_nodes(graph: Graph, gone: BoolArray, *, marks_edges: bool = False) -> Graph:
    """The pruned graph without some nodes (or, `marks_edges`, without the nodes of some edges)."""
    alive = np.ones(len(graph.node_id), dtype=np.bool_)
    if marks_edges:
        alive[graph.edge_node[gone]] = False
    else:
        alive &= ~gone
    derived = derivation_levels(graph, alive) >= 0
    if not derived[ROOT]:
        return nothing(graph)
    alive[graph.edge_node[~derived[graph.kids]]] = False
    used = reachable(graph, alive)
    alive &= used[graph.owner]
    if alive.all() and used.all():
        return graph
    return restrict(graph, alive, used)


def nothing(graph: Graph) -> Graph:
    """The graph without a selection."""
    nodes = np.zeros(len(graph.node_id), dtype=np.bool_)
    return restrict(graph, nodes, np.arange(len(graph.class_id)) == ROOT)
