"""Strongly connected components of a graph that is given by the successors of each vertex."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence


def strong_components(
    successors: Mapping[int, Sequence[int]], starts: Iterable[int] | None = None
) -> list[list[int]]:
    """Strongly connected components reachable from `starts` (all), children before parents.

    Tarjan's algorithm without recursion.
    """
    search = _Search(successors)
    for start in successors if starts is None else starts:
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
