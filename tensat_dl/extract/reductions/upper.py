"""Removes nodes that are too dear to be part of a better answer.

Guarantee: every selection cheaper than the upper bound keeps its nodes.  If node n of class c is
chosen, so is one node of every class that the roots require, that n requires, and that the
dominators of c require; the least costs of all these, with n's own cost for c, are a lower bound.
Parts have an upper bound each, and what lies in another part does not count.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from tensat_dl.extract.bitsets import weigh
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, BoolArray, Graph, with_costs
from tensat_dl.extract.landmarks import ascend
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.reductions.prune import drop_nodes
from tensat_dl.extract.reductions.required import Required, dominators, required_sets

# Rounding in sums of costs must not remove a node of the incumbent itself.
MARGIN = 1e-9


def part_bounds(graph: Graph, count: int, deadline: Deadline) -> FloatArray:
    """What the classes that the roots require cost at least, by part."""
    required = required_sets(graph, deadline)
    marked = required.marks(required.forced)
    costs = np.bincount(graph.part[marked], graph.least[marked], count)
    return costs.astype(np.float64)


def lower_bound(graph: Graph, deadline: Deadline) -> float:
    """What the classes required by the roots cost at least."""
    return float(part_bounds(graph, 1, deadline).sum())


def remove_dear(graph: Graph, upper: FloatArray, deadline: Deadline) -> Graph:
    """Drop nodes whose lower bound exceeds the `upper` of their part.  Needs a pruned graph."""
    gone = dear_nodes(graph, upper, deadline)
    return drop_nodes(graph, gone) if gone.any() else graph


def remove_by_landmarks(graph: Graph, upper: FloatArray, deadline: Deadline) -> Graph:
    """The same with the bound of landmarks, and with the costs that they leave.  They do not know
    parts: what counts is the sum of all `upper`."""
    most = upper.sum(keepdims=True) * (1.0 + MARGIN)
    if not np.isfinite(most).all():
        return graph
    ascent = ascend(graph, deadline)
    reduced = replace(with_costs(graph, ascent.reduced), part=np.zeros_like(graph.part))
    gone = dear_nodes(reduced, most - ascent.bound, deadline)
    return drop_nodes(graph, gone) if gone.any() else graph


def dear_nodes(
    graph: Graph, upper: FloatArray, deadline: Deadline, used_with: Mapping[int, int] | None = None
) -> BoolArray:
    """Marks the nodes whose lower bound exceeds the `upper` of their part.  `used_with`: more
    classes, as bits, that every selection with a node has."""
    if not np.isfinite(upper).any():
        return np.zeros(len(graph.node_id), dtype=np.bool_)
    required = required_sets(graph, deadline)
    slack = upper * (1.0 + MARGIN)
    slack -= part_bounds(graph, len(upper), deadline)
    if (slack < 0.0).any():
        return np.ones(len(graph.node_id), dtype=np.bool_)
    above = _needed_above(required, dominators(graph, deadline))
    choice = np.diff(graph.first)[graph.owner] > 1
    own = graph.cost - graph.least[graph.owner]
    gone: BoolArray = choice & (own > slack[graph.part[graph.owner]])
    more = used_with or {}
    rest = np.flatnonzero(choice & ~gone)
    if len(rest):
        within = _optional_by_part(graph, required, len(upper))
        owners, part = graph.owner[rest].tolist(), graph.part.tolist()
        needs = [
            (above[c] | required.needs[n] | more.get(n, 0)) & within[part[c]]
            for n, c in zip(rest.tolist(), owners, strict=True)
        ]
        extra = weigh(needs, graph.least[required.order], deadline)
        gone[rest] = own[rest] + extra > slack[graph.part[graph.owner[rest]]]
    return gone


def _optional_by_part(graph: Graph, required: Required, count: int) -> list[int]:
    """The classes of each part that the roots do not require."""
    if count == 1:
        return [~required.forced]
    within = [0] * count
    for c, part in enumerate(graph.part.tolist()):
        within[part] |= 1 << required.bit[c]
    return [bits & ~required.forced for bits in within]


def _needed_above(required: Required, above: list[int]) -> list[int]:
    """For each class, the union of R over its dominators."""
    class_of = {bits: c for c, bits in enumerate(above)}
    needed = list(required.below)
    for c in sorted(range(len(above)), key=lambda c: above[c].bit_count()):
        if c != ROOT:
            needed[c] |= needed[class_of[above[c] ^ 1 << required.bit[c]]]
    return needed
