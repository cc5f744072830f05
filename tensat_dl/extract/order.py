"""Orders on the classes of a Work graph: strongly connected components and derivations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from tensat_dl.extract.work import ROOT, Work


def strong_components(
    successors: Mapping[int, Sequence[int]], starts: Iterable[int]
) -> list[list[int]]:
    """Strongly connected components reachable from `starts`, children before parents.

    Tarjan's algorithm without recursion.
    """
    search = _Search(successors)
    for start in starts:
        search.explore(start)
    return search.found


class _Search:
    def __init__(self, successors: Mapping[int, Sequence[int]]) -> None:
        self.successors = successors
        self.number: dict[int, int] = {}
        self.low: dict[int, int] = {}
        self.open: list[int] = []
        self.path: list[tuple[int, Iterator[int]]] = []
        self.found: list[list[int]] = []

    def explore(self, start: int) -> None:
        if start in self.number:
            return
        self._enter(start)
        while self.path:
            v, rest = self.path[-1]
            fresh = next((w for w in rest if self._is_new(v, w)), None)
            if fresh is None:
                self._leave(v)
            else:
                self._enter(fresh)

    def _enter(self, v: int) -> None:
        self.number[v] = self.low[v] = len(self.number)
        self.open.append(v)
        self.path.append((v, iter(self.successors[v])))

    def _is_new(self, v: int, w: int) -> bool:
        if w not in self.number:
            return True
        if self.low[w] >= 0:
            self.low[v] = min(self.low[v], self.number[w])
        return False

    def _leave(self, v: int) -> None:
        self.path.pop()
        if self.path:
            above = self.path[-1][0]
            self.low[above] = min(self.low[above], self.low[v])
        if self.low[v] == self.number[v]:
            self._close(v)

    def _close(self, v: int) -> None:
        at = len(self.open) - 1
        while self.open[at] != v:
            at -= 1
        component = self.open[at:]
        del self.open[at:]
        for w in component:
            self.low[w] = -1
        self.found.append(component)


def derivation_order(work: Work) -> list[int]:
    """Every class that has a finite derivation, each after the children of one of its nodes."""
    return work.remember("derivation order", lambda: _derivation_order(work))


def _derivation_order(work: Work) -> list[int]:
    parents = work.parents()
    missing = {n: len(kids) for n, kids in work.children.items()}
    order: dict[int, None] = dict.fromkeys(
        work.owner[n] for n, count in missing.items() if count == 0
    )
    queue = list(order)
    for c in queue:
        for node in parents[c]:
            missing[node] -= 1
            owner = work.owner[node]
            if missing[node] == 0 and owner not in order:
                order[owner] = None
                queue.append(owner)
    return queue


def bottom_up_components(work: Work) -> list[list[int]]:
    """Components of the classes below ROOT, children first; inside one, by derivation, so that
    each class comes after the children of at least one of its nodes.  Needs a pruned graph."""
    rank = {c: i for i, c in enumerate(derivation_order(work))}
    components = strong_components(work.successors(), [ROOT])
    return [sorted(component, key=rank.__getitem__) for component in components]
