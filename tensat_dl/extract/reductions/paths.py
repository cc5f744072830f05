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

Only the component of c matters for the paths: X lies in it or below, what is above it is never
below n, and a path that has entered it stays until c.

Guarantee: every selection no dearer than the one known keeps its nodes.  A selection with n pays
for X, for `above`, and for all that these classes require; where that is more than the upper bound
of the part, n is dropped as well.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.reductions.prune import drop_nodes
from tensat_dl.extract.reductions.required import (
    EVERYTHING,
    dominators,
    lower_required,
    meet_dominators,
    required_sets,
    user_classes,
)
from tensat_dl.extract.reductions.upper import dear_nodes

# The work grows with the square of a component.
_MOST_CLASSES = 700


def remove_cut_off(graph: Graph, upper: FloatArray, deadline: Deadline) -> Graph:
    """Drop the nodes of small cyclic components that no selection within `upper` (by part) can
    have.  Needs a pruned graph."""
    required = required_sets(graph, deadline)
    gone = np.zeros(len(graph.node_id), dtype=np.bool_)
    used_with: dict[int, int] = {}
    for component in required.components:
        if 1 < len(component) <= _MOST_CLASSES:
            used_with.update(_Component(graph, component, deadline).tests())
    if not used_with:
        return graph
    possible = {n: classes for n, classes in used_with.items() if classes != EVERYTHING}
    gone[list(used_with.keys() - possible.keys())] = True
    gone |= dear_nodes(graph, upper, deadline, possible)
    return drop_nodes(graph, gone) if gone.any() else graph


class _Component:
    """The classes of one component, and what is required and what dominates in it while some of
    them are gone.  Bits are those of the required sets of the graph."""

    def __init__(self, graph: Graph, members: list[int], deadline: Deadline) -> None:
        required = required_sets(graph, deadline)
        self.graph, self.members, self.deadline = graph, members, deadline
        self.bit, self.required = required.bit, required
        self.inside = required.mask(members)
        self.users = user_classes(graph)
        self.above = dominators(graph, deadline)
        self._above = [*self.above]
        self._below = replace(required, below=[*required.below], needs=[*required.needs])
        self._required_without: dict[int, dict[int, int]] = {}
        self._dominators_without: dict[int, dict[int, int]] = {}

    def tests(self) -> Iterator[tuple[int, int]]:
        """Each node with the classes of every selection that has it: EVERYTHING, if none has."""
        for c in self.members:
            self.deadline.check()
            for n in self.graph.member_ranges[c]:
                yield n, self._used_with(c, self.graph.kid_lists[n])

    def _used_with(self, c: int, kids: list[int]) -> int:
        """Where no path is left to c, every class is on all of them, and the next round ends it."""
        above, grown, needs = 0, self.above[c], 0
        while above != grown:
            above, needs = grown, 0
            below = self.required_without(above & self.inside)
            for kid in kids:
                needs |= below.get(kid, self.required.below[kid])
            if needs == EVERYTHING:
                return EVERYTHING
            grown = self.dominators_without(needs & self.inside)[c]
        for d in self.required.classes(above):
            needs |= self.required.below[d]
        return needs

    def required_without(self, gone: int) -> dict[int, int]:
        """R of each member where the members `gone` are not to be used."""
        if gone not in self._required_without:
            below = self._below.below
            left = self._left(below, gone)
            while lower_required(self.graph, self._below, left):
                pass
            self._required_without[gone] = {c: below[c] for c in self.members}
        return self._required_without[gone]

    def dominators_without(self, gone: int) -> dict[int, int]:
        """D of each member where no path leads through the members `gone`."""
        if gone not in self._dominators_without:
            left = self._left(self._above, gone)[::-1]
            while meet_dominators(self.users, self._above, self.bit, left):
                pass
            self._dominators_without[gone] = {c: self._above[c] for c in self.members}
        return self._dominators_without[gone]

    def _left(self, sets: list[int], gone: int) -> list[int]:
        """The members that are left; a fixpoint of their `sets` begins anew."""
        for c in self.members:
            sets[c] = EVERYTHING
        return [c for c in self.members if not gone >> self.bit[c] & 1]
