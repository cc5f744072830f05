"""Loops: in a choice of nodes, and filtered out of a graph before solving.

Enters: a Graph.  Leaves: the loops of a choice; or a graph whose class graph has no loop, which
keeps every class derivable but may lose the best answer.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from tensat_dl.components import strong_components
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.greedy import Choice, greedy_tree, used_classes
from tensat_dl.extract.order import components
from tensat_dl.extract.reductions.prune import drop_nodes


def loops(graph: Graph, choice: Choice) -> list[list[int]]:
    """The strongly connected sets of classes in use that form loops.  The choice is complete."""
    used = used_classes(graph, choice) or []
    successors = {c: graph.kid_lists[choice[c]] for c in used}
    return [sorted(part) for part in strong_components(successors) if len(part) > 1]


def remove_cycles(graph: Graph, deadline: Deadline) -> Graph:
    """Drop nodes until the class graph has no loop.  Needs a pruned graph.

    The greedy tree's nodes are acyclic and derive every class: they stay.  Each other node inside
    a strongly connected component stays if it closes no loop with those kept before it.
    """
    choice = greedy_tree(graph)
    successors = {c: graph.kid_lists[n] for c, n in choice.items()}
    rank = {c: i for i, (c,) in enumerate(strong_components(successors))}
    gone = np.zeros(len(graph.node_id), dtype=np.bool_)
    for component in components(graph):
        if len(component) > 1:
            kept = _Acyclic(sorted(component, key=rank.__getitem__))
            first = [choice[c] for c in component]
            members = [n for c in sorted(component) for n in graph.member_ranges[c]]
            rest = [n for n in members if n not in set(first)]
            for n in deadline.watch([*first, *rest]):
                gone[n] = not kept.add(int(graph.owner[n]), graph.kid_lists[n])
    return drop_nodes(graph, gone)


class _Acyclic:
    """Nodes kept so far, and a topological order of their classes (children first) that is
    mended as nodes arrive (Pearce and Kelly's algorithm on the affected region)."""

    def __init__(self, order: list[int]) -> None:
        self.position = {c: i for i, c in enumerate(order)}
        self.below: dict[int, set[int]] = {c: set() for c in order}
        self.above: dict[int, set[int]] = {c: set() for c in order}

    def add(self, c: int, children: list[int]) -> bool:
        """Keep a node of class c and return True, unless it closes a loop."""
        kids = [kid for kid in children if kid in self.position]
        if not all(self._place(c, kid) for kid in kids):
            return False
        for kid in kids:
            self.below[c].add(kid)
            self.above[kid].add(c)
        return True

    def _place(self, c: int, kid: int) -> bool:
        """Reorder so that `kid` comes before `c`; False when `c` stands below `kid`."""
        low, high = self.position[c], self.position[kid]
        if high < low:
            return True
        users = self._reach(c, self.above, lambda p: p <= high)
        if kid in users:
            return False
        needs = self._reach(kid, self.below, lambda p: p >= low)
        moved = [*sorted(needs, key=self._at), *sorted(users, key=self._at)]
        slots = sorted(self.position[x] for x in moved)
        self.position.update(zip(moved, slots, strict=True))
        return True

    def _at(self, c: int) -> int:
        return self.position[c]

    def _reach(
        self, start: int, edges: dict[int, set[int]], within: Callable[[int], bool]
    ) -> set[int]:
        seen, queue = {start}, [start]
        for x in queue:
            fresh = [y for y in edges[x] if y not in seen and within(self.position[y])]
            seen.update(fresh)
            queue.extend(fresh)
        return seen
