"""Removes nodes of a cyclic component that leave no path to their own class.

Suppose that node n of class c is chosen.  What the selection uses below n is needed by c, and
what lies on a path from ROOT to c needs c: the two have no class in common, or there is a loop.
Let `above` be classes that lie on every such path, to begin with the dominators of c (c is one of
them).  None of them is used below n, so n has to be derived without them: with `above` taken out
of the graph, X, the classes required by the children of n, are used below n.  If a child has no
derivation, no acyclic selection has n.  The paths to c do without X; if there is none, n is in no
selection either.  Otherwise the dominators of c in the graph without X are on every path that is
left, so they are `above`, too: a larger set, which may make X larger.  This repeats until nothing
changes.

Only the component of c matters: a path that has entered it stays in it until c, and what of X lies
outside is below it and on no path.

Guarantee: every selection no dearer than the one known keeps its nodes.  A selection with n pays
for X, for `above`, and for all that these classes require; where that is more than the upper bound
of the part, n is dropped as well.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from tensat_dl.extract.bitsets import set_bits
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.reductions.prune import drop_nodes
from tensat_dl.extract.reductions.required import required_sets
from tensat_dl.extract.reductions.upper import dear_nodes

# The work grows with the square of a component.
_MOST_CLASSES = 700
_EVERYTHING = -1


def remove_cut_off(graph: Graph, upper: FloatArray, deadline: Deadline) -> Graph:
    """Drop the nodes of small cyclic components that no selection within `upper` (by part) can
    have.  Needs a pruned graph."""
    required = required_sets(graph, deadline)
    gone = np.zeros(len(graph.node_id), dtype=np.bool_)
    used_with: dict[int, int] = {}
    for members in required.components:
        if not 1 < len(members) <= _MOST_CLASSES:
            continue
        for n, places in _Component(graph, members, deadline).tests():
            gone[n] = places == _EVERYTHING
            if not gone[n]:
                used_with[n] = _union(required.below[members[i]] for i in set_bits(places))
    if not used_with and not gone.any():
        return graph
    gone |= dear_nodes(graph, upper, deadline, used_with)
    return drop_nodes(graph, gone) if gone.any() else graph


def _union(sets: Iterable[int]) -> int:
    union = 0
    for bits in sets:
        union |= bits
    return union


class _Component:
    """The classes of one component by their places: bit i stands for `members[i]`.  `options` are
    the least sets of members that a node of each has as children; classes with a node that has
    none need nothing of the component."""

    def __init__(self, graph: Graph, members: list[int], deadline: Deadline) -> None:
        self.graph, self.members, self.deadline = graph, members, deadline
        self.place = {c: i for i, c in enumerate(members)}
        self.options = [_least(map(self._inner, graph.member_ranges[c])) for c in members]
        starts, users = graph.users
        owners = [graph.owner[users[starts[c] : starts[c + 1]]].tolist() for c in members]
        self.entries = [any(c not in self.place for c in each) for each in owners]
        self.users = [sorted({self.place[c] for c in each if c in self.place}) for each in owners]
        self._required: dict[int, list[int]] = {}
        self._dominators: dict[int, list[int]] = {}

    def _inner(self, node: int) -> frozenset[int]:
        kids = self.graph.kid_lists[node]
        return frozenset(self.place[kid] for kid in kids if kid in self.place)

    def tests(self) -> Iterator[tuple[int, int]]:
        """Each node with children here, and the members that every selection with it has: all that
        there are, where it has none."""
        for i, c in enumerate(self.members):
            self.deadline.check()
            for n in self.graph.member_ranges[c]:
                kids = self._inner(n)
                if kids:
                    yield n, self._used_with(i, kids)

    def _used_with(self, i: int, kids: Iterable[int]) -> int:
        """Where no path is left, every member is on all of them, and the next round ends it."""
        above, grown, needs = 0, self.dominators_without(0)[i], 0
        while above != grown:
            above = grown
            below = self.required_without(above)
            needs = _union(below[kid] for kid in kids)
            if needs == _EVERYTHING:
                return _EVERYTHING
            grown = self.dominators_without(needs)[i]
        return needs | above

    def required_without(self, gone: int) -> list[int]:
        """R of each member, within the component, where the members `gone` are not to be used: the
        greatest fixpoint, from above."""
        if gone not in self._required:
            below = [_EVERYTHING] * len(self.members)
            left = [i for i in range(len(below)) if not gone >> i & 1]
            while self._lower(below, left):
                pass
            self._required[gone] = below
        return self._required[gone]

    def _lower(self, below: list[int], places: list[int]) -> bool:
        changed = False
        for i in places:
            common = _EVERYTHING
            for kids in self.options[i]:
                union = 0
                for kid in kids:
                    union |= below[kid]
                common &= union
            common |= 1 << i
            if common != below[i]:
                below[i], changed = common, True
        return changed

    def dominators_without(self, gone: int) -> list[int]:
        """D of each member, within the component, where no path leads through the members `gone`:
        the greatest fixpoint, from above."""
        if gone not in self._dominators:
            above = [_EVERYTHING] * len(self.members)
            left = [i for i in range(len(above)) if not gone >> i & 1]
            left.reverse()
            while self._meet(above, left):
                pass
            self._dominators[gone] = above
        return self._dominators[gone]

    def _meet(self, above: list[int], places: list[int]) -> bool:
        changed = False
        for i in places:
            common = 0 if self.entries[i] else _EVERYTHING
            for user in self.users[i]:
                common &= above[user]
            common |= 1 << i
            if common != above[i]:
                above[i], changed = common, True
        return changed


def _least(sets: Iterable[frozenset[int]]) -> list[frozenset[int]]:
    """The sets of which no other is a part."""
    least: list[frozenset[int]] = []
    for one in sorted(set(sets), key=lambda each: (len(each), sorted(each))):
        if not any(other <= one for other in least):
            least.append(one)
    return least
