"""Writes a reduced graph as a mixed-integer program, small and tight.

Enters: a pruned Graph.  Leaves: a Program, and what its columns mean.  Knows no solver.

One binary a node of a class with a choice; one continuous column `active` a class that the roots
do not require (required ones are the constant 1); a one-node class is its active column.  Rows:
the nodes of a class sum to its activity; for a class and each class d that some of its nodes
need, directly or through what they require, one row: those nodes sum to at most d's activity.
A loop row for a set S of classes and j in S: the nodes of S that need nothing in S sum to at
least j's activity.  It holds in every acyclic selection, because among the members of S in use
one stands lowest.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from typing import Protocol

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.landmarks import ascend
from tensat_dl.extract.linear import Linear
from tensat_dl.extract.program import Program, Row, Sense
from tensat_dl.extract.reductions.required import Required, required_sets
from tensat_dl.settings import Acyclicity

# Up-front rows pay off for the shortest loops only; a dense component could have very many.
_SHORT_LOOP_LIMIT = 4_000


class Model(Protocol):
    """What the search needs of a formulation."""

    program: Program

    def chosen(self, values: Sequence[float]) -> dict[int, int]:
        """The node of each class that a solution chooses."""

    def loop_rows(self, loop: Iterable[int]) -> list[Row]:
        """Rows that every acyclic selection satisfies and a loop among these classes does not."""


def read_choice(
    graph: Graph, node_column: Mapping[int, int | None], values: Sequence[float]
) -> dict[int, int]:
    """The node with the largest value of each class that has one above a half; a node without a
    column is always chosen."""
    owner = graph.owner.tolist()
    best: dict[int, int] = {}
    weight: dict[int, float] = {}
    for n, column in node_column.items():
        value = 1.0 if column is None else values[column]
        c = owner[n]
        if value > max(0.5, weight.get(c, 0.0)):
            best[c], weight[c] = n, value
    return best


@dataclass
class Formulation:
    """`node_column[n]` is None for a node that is always chosen; likewise `active[c]` for a
    required class."""

    graph: Graph
    required: Required
    program: Program = field(default_factory=lambda: Program(reduced=True))
    node_column: dict[int, int | None] = field(default_factory=dict)
    active: dict[int, int | None] = field(default_factory=dict)

    def chosen(self, values: Sequence[float]) -> dict[int, int]:
        """The node of each class that a solution chooses."""
        return read_choice(self.graph, self.node_column, values)

    def loop_rows(self, loop: Iterable[int]) -> list[Row]:
        """The loop rows of a set of classes: one if it holds a required class, else one each."""
        members = sorted(loop)
        mask = self.required.mask(members)
        outside = [
            self.node_column[n]
            for c in members
            for n in self.graph.member_ranges[c]
            if self.required.needs[n] & mask == 0
        ]
        firm = [c for c in members if self.active[c] is None]
        rows = (
            Linear().add_all(outside).add(self.active[j], -1.0).row(Sense.AT_LEAST, 0.0)
            for j in (firm[:1] or members)
        )
        return [row for row in rows if row is not None]


def formulate(graph: Graph, deadline: Deadline) -> Formulation:
    """The program of a pruned graph without its loop rows for longer loops."""
    required = required_sets(graph, deadline)
    model = Formulation(graph, required)
    classes = [c for c in required.order if c != ROOT]
    cost = graph.cost.tolist()
    for c in classes:
        _columns(model, c, cost)
    for c in deadline.watch(classes):
        _need_rows(model, c)
    for loop in _short_loops(graph, required.components, deadline):
        model.program.rows.extend(model.loop_rows(loop))
    for zone in ascend(graph, deadline).landmarks:
        model.program.rows.extend(model.loop_rows(zone - {ROOT}))
    return model


class Order(Enum):
    """Positions of classes that forbid loops: none, or of one kind."""

    NONE = "none"
    REAL = "real"
    INTEGER = "integer"


def order_of(cycles: Acyclicity) -> Order:
    """What the setting `extract.cycles` says of positions."""
    kinds = {Acyclicity.ORDER: Order.REAL, Acyclicity.ORDER_INTEGER: Order.INTEGER}
    return kinds.get(cycles, Order.NONE)


def order_rows(model: Formulation, order: Order) -> None:
    """Forbid all loops by positions: inside a strongly connected component a class stands above
    the children of its chosen node."""
    for component in model.required.components:
        if len(component) > 1 and order is not Order.NONE:
            _order_component(model, component, order)


def _order_component(model: Formulation, component: list[int], order: Order) -> None:
    size = len(component)
    whole = order is Order.INTEGER
    position = {c: model.program.column(upper=size - 1, integer=whole) for c in component}
    for c in component:
        edges: dict[int, list[int]] = {}
        for n in model.graph.member_ranges[c]:
            for kid in model.graph.kid_lists[n]:
                if kid in position:
                    edges.setdefault(kid, []).append(n)
        for kid, nodes in edges.items():
            row = (
                Linear()
                .add(position[c])
                .add(position[kid], -1.0)
                .add_all((model.node_column[n] for n in nodes), -float(size))
                .row(Sense.AT_LEAST, 1.0 - size)
            )
            model.program.rows.extend([row] if row else [])


def _columns(model: Formulation, c: int, cost: Sequence[float]) -> None:
    program = model.program
    nodes = model.graph.member_ranges[c]
    firm = bool(model.required.forced >> model.required.bit[c] & 1)
    if len(nodes) == 1:
        program.constant += cost[nodes[0]] if firm else 0.0
        column = None if firm else program.column(cost[nodes[0]])
        model.active[c] = model.node_column[nodes[0]] = column
        return
    model.active[c] = None if firm else program.column()
    for n in nodes:
        model.node_column[n] = program.column(cost[n], integer=True)
    total = Linear().add_all(model.node_column[n] for n in nodes).add(model.active[c], -1.0)
    row = total.row(Sense.EQUAL, 0.0)
    program.rows.extend([row] if row else [])


def _need_rows(model: Formulation, c: int) -> None:
    nodes = model.graph.member_ranges[c]
    for users, needed in _by_users(model, nodes).items():
        for d in _uppermost(model.required, needed):
            columns = (
                [model.active[c]]
                if len(users) == len(nodes)
                else [model.node_column[nodes[i]] for i in users]
            )
            row = Linear().add_all(columns).add(model.active[d], -1.0).row(Sense.AT_MOST, 0.0)
            model.program.rows.extend([row] if row else [])


def _by_users(model: Formulation, nodes: range) -> dict[tuple[int, ...], int]:
    """Which optional classes (as bits) exactly these nodes (as positions) need."""
    everything = 0
    optional = ~model.required.forced
    needs = [model.required.needs[n] & optional for n in nodes]
    for need in needs:
        everything |= need
    parts: dict[tuple[int, ...], int] = {(): everything} if everything else {}
    for i, need in enumerate(needs):
        finer: dict[tuple[int, ...], int] = {}
        for users, bits in parts.items():
            if bits & need:
                finer[(*users, i)] = bits & need
            if bits & ~need:
                finer[users] = bits & ~need
        parts = finer
    return parts


def _uppermost(required: Required, bits: int) -> list[int]:
    """The classes of a set that no other one of it requires: their own rows imply the rest."""
    found = []
    while bits:
        c = required.order[bits.bit_length() - 1]
        found.append(c)
        bits &= ~required.below[c]
    return found


def _short_loops(
    graph: Graph, components: list[list[int]], deadline: Deadline
) -> list[tuple[int, ...]]:
    """Loops of two and three classes inside components, up to a limit."""
    loops: list[tuple[int, ...]] = []
    for component in components:
        inside = set(component) if len(component) > 1 else set()
        below = {
            c: {kid for n in graph.member_ranges[c] for kid in graph.kid_lists[n]} & inside
            for c in inside
        }
        for c in deadline.watch(component if len(component) > 1 else ()):
            loops.extend(_short_loops_through(c, below))
    return loops[:_SHORT_LOOP_LIMIT]


def _short_loops_through(c: int, below: dict[int, set[int]]) -> list[tuple[int, ...]]:
    """Those in which c has the smallest number."""
    later = sorted(d for d in below[c] if d > c)
    pairs: list[tuple[int, ...]] = [(c, d) for d in later if c in below[d]]
    triples = [(c, d, e) for d in later for e in sorted(below[d]) if e > c and c in below[e]]
    return pairs + triples
