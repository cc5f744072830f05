"""Removes nodes that a sibling can always replace.

Guarantee: node a of a class replaces node b of the same class when a costs no more and every
child of a is among the classes that b requires below it anyway.  Those children then stand below
the class in the answer already, so the exchange adds no cost and closes no loop.
"""

from __future__ import annotations

import numpy as np

from tensat_dl.extract.bitsets import Bytes, packed
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import BoolArray, Graph, rows_of
from tensat_dl.extract.problem import IntArray
from tensat_dl.extract.reductions.prune import drop_nodes
from tensat_dl.extract.reductions.required import Required, required_sets


def remove_dominated(graph: Graph, deadline: Deadline) -> Graph:
    """Keep the undominated nodes of each class.  Needs a pruned graph."""
    required = required_sets(graph, deadline)
    ranked = _ranked(graph, required)
    if not len(ranked):
        return graph
    needs = packed([required.needs[n] for n in ranked.tolist()], len(required.order))
    owner = graph.owner[ranked]
    lost = np.zeros(len(ranked), dtype=np.bool_)
    bit = np.array(required.bit)
    for distance in deadline.watch(range(1, int(np.diff(graph.first).max()))):
        better = np.flatnonzero((owner[:-distance] == owner[distance:]) & ~lost[distance:])
        worse = better + distance
        lost[worse[_replaces(graph, ranked[better], needs, worse, bit)]] = True
    gone = np.zeros(len(graph.node_id), dtype=np.bool_)
    gone[ranked[lost]] = True
    return drop_nodes(graph, gone) if lost.any() else graph


def _ranked(graph: Graph, required: Required) -> IntArray:
    """The nodes with siblings, class by class.  A dominator costs less, or as much with no larger
    needs: it comes first in this order."""
    nodes = np.flatnonzero(np.diff(graph.first)[graph.owner] > 1)
    sizes = np.array([required.needs[n].bit_count() for n in nodes.tolist()])
    order = np.lexsort((nodes, sizes, graph.cost[nodes], graph.owner[nodes]))
    return nodes[order]


def _replaces(
    graph: Graph, better: IntArray, needs: Bytes, worse: IntArray, bit: IntArray
) -> BoolArray:
    """For each pair: are all children of the one among the needs (a row) of the other?"""
    edges = rows_of(graph.start, better)
    sizes = np.diff(graph.start)[better]
    pair = np.repeat(np.arange(len(better)), sizes)
    asked = bit[graph.kids[edges]]
    met = needs[worse[pair], asked >> 3] >> (asked & 7) & 1
    all_met: BoolArray = np.bincount(pair, met, len(better)) == sizes
    return all_met
