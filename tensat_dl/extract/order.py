"""Orders on the classes of a Graph: derivations, reachability, strongly connected components."""

from __future__ import annotations

import numpy as np

from tensat_dl.components import strong_components
from tensat_dl.extract.graph import ROOT, BoolArray, Graph, rows_of
from tensat_dl.extract.problem import IntArray


def derivation_levels(graph: Graph, alive: BoolArray) -> IntArray:
    """For each class the height of its lowest derivation by nodes that are alive, -1 without."""
    starts, users = graph.users
    missing = np.diff(graph.start)
    missing[~alive] = -1
    level = np.full(len(graph.class_id), -1, dtype=np.int64)
    place = np.empty(len(level), dtype=np.int64)
    ready = np.flatnonzero(missing == 0)
    height = 0
    while len(ready):
        classes = graph.owner[ready]
        fresh = _distinct(classes[level[classes] < 0], place)
        level[fresh] = height
        using = users[rows_of(starts, fresh)]
        np.subtract.at(missing, using, 1)
        ready = using[missing[using] == 0]
        height += 1
    return level


def reachable(graph: Graph, alive: BoolArray | None = None) -> BoolArray:
    """Marks the extra root and the classes that it reaches, by nodes that are `alive` (by all)."""
    seen = np.zeros(len(graph.class_id), dtype=np.bool_)
    reach(graph, ROOT, seen, alive)
    return seen


def reach(
    graph: Graph, top: int, seen: BoolArray, alive: BoolArray | None = None
) -> list[IntArray]:
    """The class `top` and those that it reaches other than through what is `seen`, which they now
    are, too."""
    starts = graph.start[graph.first]
    place = np.empty(len(seen), dtype=np.int64)
    found = []
    fresh = np.array([] if seen[top] else [top], dtype=np.int64)
    while len(fresh):
        seen[fresh] = True
        found.append(fresh)
        edges = rows_of(starts, fresh)
        kids = graph.kids[edges if alive is None else edges[alive[graph.edge_node[edges]]]]
        fresh = _distinct(kids[~seen[kids]], place)
    return found


def _distinct(values: IntArray, place: IntArray) -> IntArray:
    """Each of the values once, in any order: `np.unique` is slow where there are few.  `place` has
    room for each value, and any content."""
    here = np.arange(len(values))
    place[values] = here
    first: BoolArray = place[values] == here
    return values[first]


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
