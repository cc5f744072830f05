"""Orders on the classes of a Graph: derivations, reachability, strongly connected components."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np

from tensat_dl.extract.graph import ROOT, BoolArray, Graph, rows_of
from tensat_dl.extract.problem import IntArray


def derivation_levels(graph: Graph, alive: BoolArray) -> IntArray:
    """For each class the height of its lowest derivation by nodes that are alive, -1 without."""
    starts, users = graph.users
    missing = np.diff(graph.start)
    missing[~alive] = -1
    level = np.full(len(graph.class_id), -1, dtype=np.int64)
    ready = np.flatnonzero(missing == 0)
    height = 0
    while len(ready):
        classes = graph.owner[ready]
        fresh = np.unique(classes[level[classes] < 0])
        level[fresh] = height
        using = users[rows_of(starts, fresh)]
        np.subtract.at(missing, using, 1)
        ready = using[missing[using] == 0]
        height += 1
    return level


def reachable(graph: Graph, alive: BoolArray | None = None, top: int = ROOT) -> BoolArray:
    """Marks the class `top` and those that it reaches, by nodes that are `alive` (by all)."""
    seen = np.zeros(len(graph.class_id), dtype=np.bool_)
    seen[top] = True
    fresh = np.array([top])
    starts = graph.start[graph.first]
    while len(fresh):
        edges = rows_of(starts, fresh)
        kids = graph.kids[edges if alive is None else edges[alive[graph.edge_node[edges]]]]
        fresh = np.unique(kids[~seen[kids]])
        seen[fresh] = True
    return seen


def components(graph: Graph) -> list[list[int]]:
    """Strongly connected components of all classes, children first; inside one, by derivation,
    so that each class comes after the children of at least one of its nodes."""
    return graph.remember("components", lambda: _components(graph))


def _components(graph: Graph) -> list[list[int]]:
    above, below = graph.links
    bottom, core = _peel(above, below, np.ones(len(graph.class_id), dtype=np.bool_))
    top, core = _peel(below, above, core)
    found = [[c] for c in bottom]
    if core.any():
        level = derivation_levels(graph, np.ones(len(graph.node_id), dtype=np.bool_)).tolist()
        inner = core[above] & core[below]
        for component in strong_components(_adjacency(above[inner], below[inner], core)):
            found.append(sorted(component, key=lambda c: (level[c], c)))
    found.extend([c] for c in reversed(top))
    return found


def _peel(above: IntArray, below: IntArray, within: BoolArray) -> tuple[list[int], BoolArray]:
    """Takes classes away that nothing below (within) holds, again and again: those taken, in
    their order, and what is left."""
    within = within.copy()
    edges = within[above] & within[below]
    above, below = above[edges], below[edges]
    order = np.argsort(below, kind="stable")
    users = above[order]
    starts = np.searchsorted(below[order], np.arange(len(within) + 1))
    count = np.bincount(above, minlength=len(within))
    fresh = np.flatnonzero(within & (count == 0))
    taken: list[int] = []
    while len(fresh):
        taken.extend(fresh.tolist())
        within[fresh] = False
        using = users[rows_of(starts, fresh)]
        np.subtract.at(count, using, 1)
        fresh = np.unique(using[count[using] == 0])
    return taken, within


def _adjacency(above: IntArray, below: IntArray, core: BoolArray) -> dict[int, list[int]]:
    found: dict[int, list[int]] = {c: [] for c in np.flatnonzero(core).tolist()}
    for c, kid in zip(above.tolist(), below.tolist(), strict=True):
        found[c].append(kid)
    return found


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
