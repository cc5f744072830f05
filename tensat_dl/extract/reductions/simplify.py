"""Takes classes without a decision out of the graph.

All three need a pruned graph.  They are exact, and an answer of the smaller graph is acyclic if
and only if its completion by the settled nodes is: a removed class either needs nothing that
remains (free), or its children take its place in every node that used it (alias, merge).
"""

from __future__ import annotations

import numpy as np

from tensat_dl.extract.graph import ROOT, BoolArray, Graph, restrict, rows_of, with_edges
from tensat_dl.extract.order import derivation_levels
from tensat_dl.extract.problem import IntArray

_FILL_LIMIT = 64


def settle_free(graph: Graph) -> Graph:
    """A class with a derivation that costs nothing takes it, and leaves."""
    alive = graph.cost == 0.0
    alive[ROOT] = False
    level = derivation_levels(graph, alive)
    free = level >= 0
    if not free.any():
        return graph
    highest = np.full(len(graph.node_id), -1, dtype=np.int64)
    blocked = graph.edge_node[~free[graph.kids]]
    np.maximum.at(highest, graph.edge_node, level[graph.kids])
    fits = alive & (highest == level[graph.owner] - 1) & free[graph.owner]
    fits[blocked] = False
    return _settle(graph, np.flatnonzero(fits), free)


def _settle(graph: Graph, nodes: IntArray, classes: BoolArray) -> Graph:
    """Take classes out; the first of the `nodes` of each is its choice."""
    owners, at = np.unique(graph.owner[nodes], return_index=True)
    ids = graph.node_id[nodes[at]].tolist()
    settled = dict(zip(graph.class_id[owners].tolist(), ids, strict=True))
    return restrict(graph, ~classes[graph.owner], ~classes, settled)


def expand_aliases(graph: Graph) -> Graph:
    """A class whose only node is free is replaced by that node's children wherever it is used
    (unless many users and many children would make the graph denser)."""
    while True:
        alias = _aliases(graph)
        if not alias.any():
            return graph
        graph = _expand(graph, alias)


def _aliases(graph: Graph) -> BoolArray:
    """Those that can be replaced at once: none is a child of another."""
    single: BoolArray = np.diff(graph.first) == 1
    single[ROOT] = False
    node = graph.first[:-1]
    kids = np.diff(graph.start)[node]
    uses = np.diff(graph.users[0])
    alias: BoolArray = single & (graph.cost[node] == 0.0) & ((kids - 1) * (uses - 1) <= _FILL_LIMIT)
    # A chain of aliases is taken from below.
    inner = alias[graph.owner[graph.edge_node]] & alias[graph.kids]
    lower = alias.copy()
    lower[graph.owner[graph.edge_node[inner]]] = False
    return lower


def _expand(graph: Graph, alias: BoolArray) -> Graph:
    hit = alias[graph.kids]
    aliases = graph.first[:-1][graph.kids[hit]]
    inserted = rows_of(graph.start, aliases)
    sizes = np.diff(graph.start)[aliases]
    nodes = np.concatenate((graph.edge_node[~hit], np.repeat(graph.edge_node[hit], sizes)))
    kids = np.concatenate((graph.kids[~hit], graph.kids[inserted]))
    nodes_gone = graph.first[:-1][alias]
    return _settle(with_edges(graph, nodes, kids), nodes_gone, alias)


def merge_single_parents(graph: Graph) -> Graph:
    """A one-node class that one node alone uses becomes part of that node (of ROOT never: its
    cost is to stay 0; nor across parts: what a part costs would change)."""
    while True:
        merged, user = _single_parents(graph)
        if not merged.any():
            return graph
        graph = _merge(graph, merged, user)


def _single_parents(graph: Graph) -> tuple[BoolArray, IntArray]:
    """The classes to merge, and the first user of each class."""
    starts, users = graph.users
    used = np.diff(starts) > 0
    user = np.zeros(len(graph.class_id), dtype=np.int64)
    user[used] = users[starts[:-1][used]]
    merged = (np.diff(graph.first) == 1) & (np.diff(starts) == 1) & (user != ROOT)
    merged &= graph.part == graph.part[graph.owner[user]]
    merged[ROOT] = False
    return merged, user


def _merge(graph: Graph, merged: BoolArray, user: IntArray) -> Graph:
    target = np.arange(len(graph.node_id))
    nodes = graph.first[:-1][merged]
    target[nodes] = user[merged]
    while (target != target[target]).any():
        target = target[target]
    cost = graph.cost.copy()
    np.add.at(cost, target[nodes], graph.cost[nodes])
    kept = ~merged[graph.kids]
    changed = with_edges(graph, target[graph.edge_node[kept]], graph.kids[kept], cost)
    return _settle(changed, nodes, merged)
