"""What a class cannot do without, as bitsets.

R(c) = {c} and, over the nodes of c, the intersection of the union of their children's R: the
classes in every finite derivation of c (a lower approximation of them, the greatest fixpoint).
D(c) = the classes on every path from ROOT to c in the class graph (its dominators, c included).
If c is used, every member of D(c) stands above it and every member of R(c) below.  A node of c
whose children require a member of D(c) therefore closes a loop, and is removed; removals make
both families larger, so this repeats until nothing changes.

Python's integers are the bitsets: bits are numbered children first, so that most are short.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tensat_dl.extract.bitsets import set_bits
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, BoolArray, Graph
from tensat_dl.extract.order import components
from tensat_dl.extract.problem import IntArray
from tensat_dl.extract.reductions.prune import drop_nodes

_EVERYTHING = -1


@dataclass(frozen=True)
class Required:
    """`below[c]` is R(c) as a bitset, `needs[n]` the union of R over the children of node n; bit
    i stands for class `order[i]`.  `components` are the strongly connected components in that
    order."""

    components: list[list[int]]
    order: list[int]
    bit: list[int]
    below: list[int]
    needs: list[int]

    @property
    def forced(self) -> int:
        """What the roots require, ROOT included."""
        return self.below[ROOT]

    def classes(self, bits: int) -> list[int]:
        """The classes of a bitset, in the bit order."""
        return [self.order[i] for i in set_bits(bits)]

    def marks(self, bits: int) -> BoolArray:
        """The classes of a bitset as marks."""
        count = len(self.order)
        packed = np.frombuffer(bits.to_bytes((count + 7) // 8, "little"), dtype=np.uint8)
        marked = np.zeros(count, dtype=np.bool_)
        marked[self.order] = np.unpackbits(packed, count=count, bitorder="little")
        return marked

    def mask(self, classes: Iterable[int]) -> int:
        """The bitset of some classes."""
        union = 0
        for c in classes:
            union |= 1 << self.bit[c]
        return union


def required_sets(graph: Graph, deadline: Deadline) -> Required:
    """R of every class.  Needs a pruned graph."""
    return graph.remember("required sets", lambda: _required_sets(graph, deadline))


def _required_sets(graph: Graph, deadline: Deadline) -> Required:
    found = components(graph)
    order = [c for component in found for c in component]
    bit = np.argsort(order).tolist()
    required = Required(
        found, order, bit, [_EVERYTHING] * len(order), [_EVERYTHING] * len(graph.node_id)
    )
    for component in deadline.watch(found):
        _lower(graph, required, component)
        while len(component) > 1 and _lower(graph, required, component):
            deadline.check()
    return required


def _lower(graph: Graph, required: Required, classes: list[int]) -> bool:
    """One pass over some classes; True when a set became smaller."""
    below, needs, kids, ranges = (
        required.below,
        required.needs,
        graph.kid_lists,
        graph.member_ranges,
    )
    changed = False
    for c in classes:
        common = _EVERYTHING
        for n in ranges[c]:
            union = 0
            for kid in kids[n]:
                union |= below[kid]
            needs[n] = union
            common &= union
        common |= 1 << required.bit[c]
        if common != below[c]:
            below[c] = common
            changed = True
    return changed


def dominators(graph: Graph, deadline: Deadline) -> list[int]:
    """D of every class, as bitsets over the bits of its required sets."""
    return graph.remember("dominators", lambda: _dominators(graph, deadline))


def _dominators(graph: Graph, deadline: Deadline) -> list[int]:
    required = required_sets(graph, deadline)
    users = _users(graph)
    above = [_EVERYTHING] * len(required.order)
    above[ROOT] = 1 << required.bit[ROOT]
    for component in deadline.watch(reversed(required.components)):
        top_down = [c for c in reversed(component) if c != ROOT]
        while _meet(users, above, required.bit, top_down) and len(component) > 1:
            deadline.check()
    return above


def _users(graph: Graph) -> list[list[int]]:
    """The classes that have each class as a child."""
    above, below = graph.links
    order = np.argsort(below, kind="stable")
    bounds = np.searchsorted(below[order], np.arange(len(graph.class_id) + 1)).tolist()
    found = above[order].tolist()
    return [found[a:b] for a, b in pairwise(bounds)]


def _meet(users: list[list[int]], above: list[int], bit: list[int], classes: list[int]) -> bool:
    """One pass of D(c) = {c} and the intersection over the users of c."""
    changed = False
    for c in classes:
        common = _EVERYTHING
        for user in users[c]:
            common &= above[user]
        common |= 1 << bit[c]
        if above[c] != common:
            above[c] = common
            changed = True
    return changed


def close_required(graph: Graph, deadline: Deadline) -> Graph:
    """Remove every node that requires its own class, to a fixpoint."""
    while graph.derivable:
        required = required_sets(graph, deadline)
        own = [1 << required.bit[c] for c in range(len(graph.class_id))]
        smaller = _without_closing(graph, required, own)
        if smaller is graph:
            break
        graph = smaller
    return graph


def remove_loops(graph: Graph, deadline: Deadline) -> Graph:
    """Remove every node that requires a dominator of its class, to a fixpoint."""
    while graph.derivable:
        required = required_sets(graph, deadline)
        smaller = _without_closing(graph, required, dominators(graph, deadline))
        if smaller is graph:
            break
        graph = smaller
    return graph


def _without_closing(graph: Graph, required: Required, forbidden: list[int]) -> Graph:
    """The graph without the nodes that need what their class forbids; itself if there is none."""
    owners: IntArray = graph.owner
    closing = [
        n
        for n, (need, c) in enumerate(zip(required.needs, owners.tolist(), strict=True))
        if need & forbidden[c]
    ]
    if not closing:
        return graph
    gone = np.zeros(len(graph.node_id), dtype=np.bool_)
    gone[closing] = True
    return drop_nodes(graph, gone)
