"""Equal parts: found by colours, mapped class by class and node by node, and verified.

Enters: graphs.  Leaves: for two graphs a mapping under which costs and children agree, or None.
Colours are hashes and may collide, and ties between them are broken without going back, so a
mapping may be missed; a wrong one is never given, because every node is compared in the end.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.problem import IntArray

Colours = npt.NDArray[np.uint64]

# Sums of the same costs in another order differ by rounding.
_DIGITS = 10
_MOST_ROUNDS = 64
_MOST_TIES = 64


@dataclass(frozen=True)
class Twin:
    """`node[n]` is the node of the other graph that stands for node n of the first."""

    node: IntArray


def signature(graph: Graph) -> int:
    """Equal for equal graphs, whatever the order of their classes and nodes."""
    colours = _refine(graph, _first_colours(graph))
    return int(_mixed(np.sort(colours)).sum(dtype=np.uint64))


def find_twin(graph: Graph, other: Graph) -> Twin | None:
    """A mapping of `graph` onto `other` that agrees in costs (but for rounding) and children."""
    if (graph.classes, graph.nodes) != (other.classes, other.nodes):
        return None
    target = _match(graph, other)
    return None if target is None else _verified(graph, other, target)


def _match(graph: Graph, other: Graph) -> IntArray | None:
    """For each class the class of the other graph with its colour; ties are broken one by one."""
    mine, theirs = _first_colours(graph), _first_colours(other)
    for tie in range(_MOST_TIES):
        mine, theirs = _refine(graph, mine), _refine(other, theirs)
        my_order, their_order = np.argsort(mine, kind="stable"), np.argsort(theirs, kind="stable")
        if (mine[my_order] != theirs[their_order]).any():
            return None
        same = np.flatnonzero(mine[my_order][1:] == mine[my_order][:-1])
        if not len(same):
            target = np.empty(len(mine), dtype=np.int64)
            target[my_order] = their_order
            return target
        mine[my_order[same[0]]] = theirs[their_order[same[0]]] = tie
    return None


def _verified(graph: Graph, other: Graph, target: IntArray) -> Twin | None:
    """The nodes that agree under a mapping of the classes; None unless all do."""
    mapped, owners = target.tolist(), graph.owner.tolist()
    theirs = {key: n for n, key in enumerate(_keys(other, other.owner.tolist(), other.kid_lists))}
    kids = [sorted(mapped[kid] for kid in kids) for kids in graph.kid_lists]
    mine = _keys(graph, [mapped[c] for c in owners], kids)
    nodes = [theirs.get(key, -1) for key in mine]
    if mapped[ROOT] != ROOT or len(set(nodes)) < len(nodes) or -1 in nodes:
        return None
    return Twin(np.array(nodes, dtype=np.int64))


def _keys(
    graph: Graph, owners: list[int], kids: list[list[int]]
) -> list[tuple[int, str, tuple[int, ...]]]:
    costs = [f"{cost:.{_DIGITS}g}" for cost in graph.cost.tolist()]
    return [
        (owner, cost, tuple(below)) for owner, cost, below in zip(owners, costs, kids, strict=True)
    ]


def transferred(
    choice: Mapping[int, int], graph: Graph, other: Graph, twin: Twin
) -> dict[int, int]:
    """A choice of the first graph, as the Problem counts, as one of the other graph."""
    position = {n: i for i, n in enumerate(graph.node_id.tolist())}
    chosen = (position.get(choice.get(c, -1), ROOT) for c in graph.class_id.tolist())
    nodes = [int(twin.node[n]) for n in chosen if n != ROOT]
    return dict(zip(other.owner[nodes].tolist(), nodes, strict=True))


def _first_colours(graph: Graph) -> Colours:
    colours = np.ones(len(graph.class_id), dtype=np.uint64)
    colours[ROOT] = 2
    return colours


def _refine(graph: Graph, colours: Colours) -> Colours:
    """Colours of classes by those of their nodes and users, until no more differ."""
    costs = _cost_colours(graph)
    count = len(np.unique(colours))
    for _ in range(_MOST_ROUNDS):
        below = _summed(_mixed(colours)[graph.kids], graph.edge_node, len(graph.node_id))
        node = _mixed(costs + _mixed(below + np.uint64(3)) * np.uint64(5))
        members = _summed(node, graph.owner, len(graph.class_id))
        using = _mixed(node + _mixed(colours)[graph.owner] * np.uint64(7))[graph.edge_node]
        users = _summed(using, graph.kids, len(graph.class_id))
        colours = _mixed(colours + _mixed(members) * np.uint64(11) + _mixed(users) * np.uint64(13))
        finer = len(np.unique(colours))
        if finer == count:
            break
        count = finer
    return colours


def _cost_colours(graph: Graph) -> Colours:
    """The costs to some digits, as bits."""
    with np.errstate(divide="ignore"):
        size = np.floor(np.log10(graph.cost, where=graph.cost > 0.0, out=np.zeros(len(graph.cost))))
    scale = 10.0 ** (_DIGITS - 1 - size)
    return _mixed(np.round(graph.cost * scale).astype(np.uint64) + _mixed(size.view(np.uint64)))


def _summed(values: Colours, labels: IntArray, count: int) -> Colours:
    """Sums of hashes, which do not depend on the order."""
    total = np.zeros(count, dtype=np.uint64)
    np.add.at(total, labels, values)
    return total


def _mixed(values: Colours) -> Colours:
    """The finaliser of SplitMix64."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
