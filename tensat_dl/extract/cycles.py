"""Loops: in a choice of nodes, and filtered out of a graph before solving.

Enters: a Work graph.  Leaves: the loops of a choice; an acyclic repair of it; or a graph whose
class graph has no loop, which keeps every class derivable but may lose the best answer.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.greedy import Choice, greedy_dag, greedy_tree
from tensat_dl.extract.order import strong_components
from tensat_dl.extract.work import ROOT, Work


def used_classes(work: Work, choice: Mapping[int, int]) -> list[int] | None:
    """The classes that the roots reach under a choice; None when one of them has no node."""
    seen: dict[int, None] = dict.fromkeys(sorted(work.children[ROOT]))
    queue = list(seen)
    for c in queue:
        if c not in choice:
            return None
        fresh = [kid for kid in sorted(work.children[choice[c]]) if kid not in seen]
        seen.update(dict.fromkeys(fresh))
        queue.extend(fresh)
    return queue


def price(work: Work, choice: Mapping[int, int]) -> float:
    """What the used part of a complete choice costs on this graph."""
    return sum(work.cost[choice[c]] for c in used_classes(work, choice) or ())


def loops(work: Work, choice: Mapping[int, int]) -> list[list[int]]:
    """The strongly connected sets of classes in use that form loops.  The choice is complete."""
    used = used_classes(work, choice) or []
    successors = {c: sorted(work.children[choice[c]]) for c in used}
    return [sorted(part) for part in strong_components(successors, used) if len(part) > 1]


def repair(work: Work, choice: Mapping[int, int], deadline: Deadline) -> Choice:
    """An acyclic choice that follows a looping one where it can: its nodes count as free."""
    liked = frozenset(choice.values())
    cost = {n: 0.0 if n in liked else value for n, value in work.cost.items()}
    return greedy_dag(replace(work, cost=cost), deadline)


def remove_cycles(work: Work, deadline: Deadline) -> None:
    """Drop nodes until the class graph has no loop.  Needs a pruned graph.

    The greedy tree's nodes are acyclic and derive every class: they stay.  Each other node inside
    a strongly connected component stays if it closes no loop with those kept before it.
    """
    choice = greedy_tree(work)
    successors = work.successors()
    rank = {c: i for i, c in enumerate(choice)}
    dropped: list[int] = []
    for component in strong_components(successors, [ROOT]):
        if len(component) > 1:
            kept = _Acyclic(sorted(component, key=rank.__getitem__))
            first = [choice[c] for c in component]
            rest = [n for c in sorted(component) for n in work.members[c] if n != choice[c]]
            dropped.extend(n for n in deadline.watch([*first, *rest]) if not kept.add(work, n))
    work.drop_nodes(dropped)


class _Acyclic:
    """Nodes kept so far, and a topological order of their classes (children first) that is
    mended as nodes arrive (Pearce and Kelly's algorithm on the affected region)."""

    def __init__(self, order: list[int]) -> None:
        self.position = {c: i for i, c in enumerate(order)}
        self.below: dict[int, set[int]] = {c: set() for c in order}
        self.above: dict[int, set[int]] = {c: set() for c in order}

    def add(self, work: Work, node: int) -> bool:
        """Keep the node and return True, unless it closes a loop."""
        c = work.owner[node]
        kids = sorted(work.children[node] & self.position.keys())
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
