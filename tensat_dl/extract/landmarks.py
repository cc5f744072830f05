"""Landmarks: sets of nodes of which every acyclic selection has at least one.

Enters: a pruned graph.  Leaves: landmarks, the lower bound that they make together, and what they
leave of the cost of each node.

Let S be a set of classes with the root in it.  Of the members of S in use one stands lowest, and
its chosen node needs nothing in S: the nodes of S without a child in S are a landmark.  Dual
ascent (Wong's, for Steiner trees; planners call it LM-cut) finds one with positive costs only,
raises the bound by the least of them, takes that from the cost of all its nodes, and repeats until
the roots have a derivation that costs nothing.  A selection pays each node once, so its cost is at
least the bound and the reduced costs of its nodes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.problem import FloatArray

# What is left of a cost by rounding, as a share of the dearest, is nothing.
_ROUNDING = 1e-12


@dataclass(frozen=True)
class Ascent:
    """`landmarks` are sets S of classes; `reduced[n]` is what they leave of the cost of node n."""

    bound: float
    reduced: FloatArray
    landmarks: tuple[frozenset[int], ...]


def ascend(graph: Graph, deadline: Deadline) -> Ascent:
    """Dual ascent; the bound is infinite when there is no acyclic selection."""
    return graph.remember_priced("landmarks", lambda: _Ascending(graph).run(deadline))


class _Ascending:
    """`free[c]`: class c has a derivation that costs nothing; `missing[n]`: the children of node n
    that have none."""

    def __init__(self, graph: Graph) -> None:
        self.ranges, self.kids = graph.member_ranges, graph.kid_lists
        self.owner: list[int] = graph.owner.tolist()
        starts, users = graph.users
        self.starts: list[int] = starts.tolist()
        self.users: list[int] = users.tolist()
        self.cost: list[float] = graph.cost.tolist()
        self.least = _ROUNDING * float(graph.cost.max(initial=0.0))
        self.missing: list[int] = np.diff(graph.start).tolist()
        self.free = [False] * len(self.ranges)
        self.bound = 0.0

    def run(self, deadline: Deadline) -> Ascent:
        """Raise the bound landmark by landmark."""
        landmarks = []
        self._settle([n for n, count in enumerate(self.missing) if not count and self._is_free(n)])
        while not self.free[ROOT]:
            deadline.check()
            zone = self._zone()
            nodes = self._outside(zone)
            if not nodes:
                self.bound = float("inf")
                break
            landmarks.append(frozenset(zone))
            self._pay(nodes)
        return Ascent(self.bound, np.array(self.cost), tuple(landmarks))

    def _is_free(self, node: int) -> bool:
        return self.cost[node] <= self.least

    def _zone(self) -> set[int]:
        """The root and, for each node that costs nothing, one of the children that it lacks: one
        with few nodes, which makes small landmarks."""
        zone, queue = {ROOT}, [ROOT]
        for c in queue:
            for n in self.ranges[c]:
                if self._is_free(n):
                    lacking = [kid for kid in self.kids[n] if not self.free[kid]]
                    if zone.isdisjoint(lacking):
                        kid = min(lacking, key=lambda k: len(self.ranges[k]))
                        zone.add(kid)
                        queue.append(kid)
        return zone

    def _outside(self, zone: set[int]) -> list[int]:
        return [n for c in zone for n in self.ranges[c] if zone.isdisjoint(self.kids[n])]

    def _pay(self, nodes: list[int]) -> None:
        least = min(self.cost[n] for n in nodes)
        self.bound += least
        for n in nodes:
            self.cost[n] -= least
        paid = [n for n in nodes if self._is_free(n)]
        for n in paid:
            self.cost[n] = 0.0
        self._settle([n for n in paid if not self.missing[n]])

    def _settle(self, nodes: list[int]) -> None:
        """These nodes cost nothing and lack nothing: so does their class."""
        while nodes:
            c = self.owner[nodes.pop()]
            if self.free[c]:
                continue
            self.free[c] = True
            for n in self.users[self.starts[c] : self.starts[c + 1]]:
                self.missing[n] -= 1
                if not self.missing[n] and self._is_free(n):
                    nodes.append(n)
