"""The e-graph while it is being reduced.

Enters: a Problem.  Leaves: a smaller graph with the same optimum, and for every class that left
it the node that stands for it.  Class and node ids stay those of the Problem throughout, so that
a choice made here is a choice there; only costs and child sets change.  ROOT is both an extra
class and its only node, whose children are the roots: several roots become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import TypeVar, cast

from tensat_dl.extract.problem import Problem

ROOT = -1
T = TypeVar("T")


@dataclass
class Work:
    """`members[c]`: live nodes of class c, in order of their ids; a class that left has no entry.
    `children[n]`, `cost[n]` and `owner[n]` are those of the live node n.  `settled[c]` is the
    node of a class that left because its choice is known.  Change a graph through its methods
    only: what is computed of it is remembered until its structure changes."""

    members: dict[int, list[int]]
    children: dict[int, frozenset[int]]
    cost: dict[int, float]
    owner: dict[int, int]
    settled: dict[int, int] = field(default_factory=dict)
    version: int = 0
    _memory: dict[str, tuple[int, object]] = field(default_factory=dict, repr=False)

    def remember(self, name: str, compute: Callable[[], T]) -> T:
        """`compute()`, or what it was if the structure (not the costs) is still the same."""
        version, value = self._memory.get(name, (-1, None))
        if version != self.version:
            value = compute()
            self._memory[name] = self.version, value
        return cast(T, value)

    @property
    def classes(self) -> int:
        """Number of live classes, the extra root not counted."""
        return len(self.members) - (ROOT in self.members)

    @property
    def nodes(self) -> int:
        """Number of live nodes, the extra root not counted."""
        return len(self.children) - (ROOT in self.children)

    @property
    def derivable(self) -> bool:
        """False when the roots have no selection at all."""
        return bool(self.members.get(ROOT))

    def parents(self) -> dict[int, list[int]]:
        """Nodes that have a class as a child, for every live class."""
        found: dict[int, list[int]] = {c: [] for c in self.members}
        for node, kids in self.children.items():
            for kid in kids:
                if kid in found:
                    found[kid].append(node)
        return found

    def successors(self) -> dict[int, list[int]]:
        """Child classes over all nodes of a class, sorted."""
        return {
            c: sorted(set().union(*(self.children[n] for n in nodes)))
            for c, nodes in self.members.items()
        }

    def drop_nodes(self, nodes: Iterable[int]) -> int:
        """Remove nodes; returns how many.  Classes left empty stay, underivable."""
        gone = set(nodes)
        self.version += bool(gone)
        for c in {self.owner[n] for n in gone}:
            self.members[c] = [n for n in self.members[c] if n not in gone]
        for n in gone:
            del self.children[n], self.cost[n], self.owner[n]
        return len(gone)

    def drop_classes(self, classes: Iterable[int]) -> None:
        """Remove classes with their nodes.  No other node may still refer to them."""
        gone = list(classes)
        self.version += bool(gone)
        for c in gone:
            for n in self.members.pop(c):
                del self.children[n], self.cost[n], self.owner[n]

    def set_children(self, node: int, kids: frozenset[int]) -> None:
        """Give a node other child classes."""
        self.children[node] = kids
        self.version += 1

    def cheapest(self, c: int) -> float:
        """The least node cost of a class."""
        return min(self.cost[n] for n in self.members[c])


def work_of(problem: Problem) -> Work:
    """The whole problem as a Work graph under one extra root."""
    starts, children = problem.child_start.tolist(), problem.children.tolist()
    owners, costs = problem.node_class.tolist(), problem.node_cost.tolist()
    members: dict[int, list[int]] = {ROOT: [ROOT]}
    members.update((c, []) for c in range(problem.classes))
    for node, c in enumerate(owners):
        members[c].append(node)
    kids = {n: frozenset(children[starts[n] : starts[n + 1]]) for n in range(len(owners))}
    kids[ROOT] = frozenset(problem.roots.tolist())
    cost = dict(enumerate(costs))
    owner = dict(enumerate(owners))
    cost[ROOT], owner[ROOT] = 0.0, ROOT
    return Work(members, kids, cost, owner)


def subwork(work: Work, classes: Iterable[int], roots: Iterable[int]) -> Work:
    """The part of `work` on `classes` alone, rooted at `roots`; children outside are dropped."""
    inside = set(classes)
    members: dict[int, list[int]] = {ROOT: [ROOT]}
    members.update((c, list(work.members[c])) for c in sorted(inside))
    nodes = [n for c, own in members.items() if c != ROOT for n in own]
    children = {n: work.children[n] & inside for n in nodes}
    children[ROOT] = frozenset(roots)
    cost = {n: work.cost[n] for n in nodes}
    owner = {n: work.owner[n] for n in nodes}
    cost[ROOT], owner[ROOT] = 0.0, ROOT
    return Work(members, children, cost, owner)
