"""Removes nodes that are too dear to be part of a better answer.

Guarantee: every selection cheaper than the upper bound keeps its nodes.  If node n of class c is
chosen, so is one node of every class that the roots require, that n requires, and that the
dominators of c require; the least costs of all these, with n's own cost for c, are a lower bound.
"""

from __future__ import annotations

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.reductions.required import Required, dominators, required_sets
from tensat_dl.extract.work import ROOT, Work

# Rounding in sums of costs must not remove a node of the incumbent itself.
_MARGIN = 1e-9


def lower_bound(work: Work, deadline: Deadline) -> float:
    """What the classes required by the roots cost at least."""
    required = required_sets(work, deadline)
    return sum(work.cheapest(c) for c in required.classes(required.below[ROOT]))


def remove_dear(work: Work, upper: float, deadline: Deadline) -> None:
    """Drop nodes whose lower bound exceeds `upper`.  Needs a pruned graph."""
    if not np.isfinite(upper):
        return
    required = required_sets(work, deadline)
    forced = required.below[ROOT]
    least = np.array([work.cheapest(c) for c in required.order])
    base = sum(work.cheapest(c) for c in required.classes(forced))
    above = _needed_above(required, dominators(work, required, deadline))
    nodes = [n for c in required.order if len(work.members[c]) > 1 for n in work.members[c]]
    if not nodes:
        return
    needs = [
        (above[work.owner[n]] | required.of_children(work.children[n])) & ~forced for n in nodes
    ]
    own = np.array([work.cost[n] - work.cheapest(work.owner[n]) for n in nodes])
    bounds = base + own + weigh(needs, least, deadline)
    limit = upper + _MARGIN * max(1.0, abs(upper))
    work.drop_nodes([n for n, bound in zip(nodes, bounds, strict=True) if bound > limit])


def _needed_above(required: Required, above: dict[int, int]) -> dict[int, int]:
    """For each class, the union of R over its dominators."""
    class_of = {bits: c for c, bits in above.items()}
    needed: dict[int, int] = {}
    for c in sorted(above, key=lambda c: (above[c].bit_count(), c)):
        parent = class_of.get(above[c] ^ 1 << required.bit[c])
        needed[c] = required.below[c] | (needed[parent] if parent is not None else 0)
    return needed


def weigh(sets: list[int], weights: FloatArray, deadline: Deadline) -> FloatArray:
    """The sum of `weights[i]` over the bits i of each set, by a table for each byte."""
    width = (len(weights) + 7) // 8
    packed = np.frombuffer(b"".join(s.to_bytes(width, "little") for s in sets), dtype=np.uint8)
    columns = np.ascontiguousarray(packed.reshape(len(sets), width).T)
    padded = np.zeros(width * 8)
    padded[: len(weights)] = weights
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    total = np.zeros(len(sets))
    for column in deadline.watch(range(width)):
        if columns[column].any():
            table = bits @ padded[8 * column : 8 * column + 8]
            total += table[columns[column]]
    return total
