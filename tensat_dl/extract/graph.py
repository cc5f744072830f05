"""The e-graph while it is being reduced, as arrays.

Enters: a Problem.  Leaves: ever smaller graphs with the same optimum, and for every class that
left the node that stands for it.  A Graph never changes: a reduction makes another one.  Classes
and nodes are numbered anew each time; `class_id` and `node_id` say what they are in the Problem.
Class 0 is an extra root, its only node is node 0, and its children are the roots: several roots
become one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import pairwise
from typing import TypeVar, cast

import numpy as np
import numpy.typing as npt

from tensat_dl.extract.problem import MADE, FloatArray, IntArray, Problem

ROOT = 0
T = TypeVar("T")
BoolArray = npt.NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Graph:
    """The nodes of class c are `first[c]` to `first[c + 1]`, its child classes over all nodes
    `kids[start[first[c]]:start[first[c + 1]]]`; those of node n `kids[start[n]:start[n + 1]]`,
    sorted and distinct.  `settled[c]` is the node of a class that left because its choice is
    known, both as the Problem counts them.  `part[c]` is the number of the independent part that
    class c belongs to.  A graph without nodes has no selection.
    """

    first: IntArray
    start: IntArray
    kids: IntArray
    cost: FloatArray
    class_id: IntArray
    node_id: IntArray
    part: IntArray
    settled: Mapping[int, int] = field(default_factory=dict)
    _memory: dict[str, object] = field(default_factory=dict, repr=False)
    _priced_memory: dict[str, object] = field(default_factory=dict, init=False, repr=False)

    @property
    def classes(self) -> int:
        """Number of classes, the extra root not counted."""
        return len(self.class_id) - 1

    @property
    def nodes(self) -> int:
        """Number of nodes, the extra root not counted."""
        return max(0, len(self.node_id) - 1)

    @property
    def derivable(self) -> bool:
        """False when the roots have no selection at all."""
        return len(self.node_id) > 0

    def remember(self, name: str, compute: Callable[[], T]) -> T:
        """`compute()`, which depends on the structure only, done once for this graph."""
        if name not in self._memory:
            self._memory[name] = compute()
        return cast(T, self._memory[name])

    def remember_priced(self, name: str, compute: Callable[[], T]) -> T:
        """`compute()`, which depends on costs, too, done once for this graph."""
        if name not in self._priced_memory:
            self._priced_memory[name] = compute()
        return cast(T, self._priced_memory[name])

    @cached_property
    def owner(self) -> IntArray:
        """The class of each node."""
        return np.repeat(np.arange(len(self.class_id)), np.diff(self.first))

    @cached_property
    def edge_node(self) -> IntArray:
        """The node of each entry of `kids`."""
        return np.repeat(np.arange(len(self.node_id)), np.diff(self.start))

    @cached_property
    def users(self) -> tuple[IntArray, IntArray]:
        """For each class the nodes that have it as a child: starts and nodes."""
        order = np.argsort(self.kids, kind="stable")
        return _starts(self.kids, len(self.class_id)), self.edge_node[order]

    @cached_property
    def links(self) -> tuple[IntArray, IntArray]:
        """The distinct pairs (class, child class)."""
        count = len(self.class_id)
        pairs = np.unique(self.owner[self.edge_node] * count + self.kids)
        return pairs // count, pairs % count

    @cached_property
    def member_ranges(self) -> list[range]:
        """The nodes of each class."""
        bounds = self.first.tolist()
        return [range(a, b) for a, b in pairwise(bounds)]

    @cached_property
    def kid_lists(self) -> list[list[int]]:
        """The child classes of each node."""
        bounds, kids = self.start.tolist(), self.kids.tolist()
        return [kids[a:b] for a, b in pairwise(bounds)]

    @cached_property
    def least(self) -> FloatArray:
        """The least node cost of each class."""
        return np.minimum.reduceat(self.cost, self.first[:-1])

    def choice_of(self, nodes: Iterable[int]) -> dict[int, int]:
        """Chosen nodes of this graph and the settled ones, as the Problem counts them."""
        index = np.fromiter((n for n in nodes if n != ROOT), dtype=np.int64)
        classes, ids = self.class_id[self.owner[index]].tolist(), self.node_id[index].tolist()
        return {**self.settled, **dict(zip(classes, ids, strict=True))}


def _starts(labels: IntArray, count: int) -> IntArray:
    starts = np.zeros(count + 1, dtype=np.int64)
    np.cumsum(np.bincount(labels, minlength=count), out=starts[1:])
    return starts


def rows_of(starts: IntArray, rows: IntArray) -> IntArray:
    """The positions `starts[r]:starts[r + 1]` of all `rows`, one after another."""
    if len(rows) == 1:  # a third of all, in chains of operators
        row = rows[0]
        return np.arange(starts[row], starts[row + 1])
    low = starts[rows]
    sizes = starts[rows + 1] - low
    ends = sizes.cumsum()
    total = ends[-1] if len(ends) else 0
    return np.asarray((low - ends + sizes).repeat(sizes) + np.arange(total))


def graph_of(problem: Problem) -> Graph:
    """The whole problem under one extra root.  Where nodes are as good as each other the first is
    taken: those that no rule made stand in front."""
    order = np.lexsort((problem.measure(MADE), problem.node_class))
    edges = rows_of(problem.child_start, order)
    sizes = np.diff(problem.child_start)[order]
    return Graph(
        first=_starts(np.concatenate(([0], problem.node_class + 1)), problem.classes + 1),
        start=np.concatenate(([0], np.cumsum(np.concatenate(([len(problem.roots)], sizes))))),
        kids=np.concatenate((problem.roots, problem.children[edges])) + 1,
        cost=np.concatenate(([0.0], problem.node_cost[order])),
        class_id=np.arange(-1, problem.classes),
        node_id=np.concatenate(([-1], order)),
        part=np.zeros(problem.classes + 1, dtype=np.int64),
    )


def with_edges(
    graph: Graph, nodes: IntArray, kids: IntArray, cost: FloatArray | None = None
) -> Graph:
    """The same classes and nodes with other edges (in any order, with repetitions) and costs."""
    count = len(graph.class_id)
    pairs = np.unique(nodes * count + kids)
    return replace(
        graph,
        start=_starts(pairs // count, len(graph.node_id)),
        kids=pairs % count,
        cost=graph.cost if cost is None else cost,
        _memory={},
    )


def with_costs(graph: Graph, cost: FloatArray) -> Graph:
    """The same graph at other prices.  What is remembered is of the structure only."""
    return replace(graph, cost=cost)


def restrict(
    graph: Graph, nodes: BoolArray, classes: BoolArray, settled: Mapping[int, int] | None = None
) -> Graph:
    """The graph of the nodes marked, in the classes marked; edges to other classes go.  A node
    marked must be of a class marked."""
    number = np.cumsum(classes) - 1
    edges = nodes[graph.edge_node] & classes[graph.kids]
    node_number = np.cumsum(nodes) - 1
    kept = int(nodes.sum())
    return Graph(
        first=_starts(number[graph.owner[nodes]], int(classes.sum())),
        start=_starts(node_number[graph.edge_node[edges]], kept),
        kids=number[graph.kids[edges]],
        cost=graph.cost[nodes],
        class_id=graph.class_id[classes],
        node_id=graph.node_id[nodes],
        part=graph.part[classes],
        settled=graph.settled if settled is None else {**graph.settled, **settled},
    )


def part_of(graph: Graph, classes: BoolArray, roots: BoolArray) -> Graph:
    """The part on some classes alone, under an extra root over those of them that are `roots`;
    edges to other classes go.  What is settled elsewhere is not the part's."""
    inside = classes.copy()
    inside[ROOT] = True
    part = restrict(graph, inside[graph.owner], inside)
    tops = np.flatnonzero(roots[inside])
    tops = tops[tops != ROOT]
    own = part.edge_node != ROOT
    nodes = np.concatenate((np.zeros(len(tops), dtype=np.int64), part.edge_node[own]))
    rooted = with_edges(part, nodes, np.concatenate((tops, part.kids[own])))
    single = np.zeros_like(rooted.part)
    return replace(rooted, part=single, settled={}, _memory={})
