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
