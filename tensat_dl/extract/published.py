"""TENSAT's integer program as its paper gives it, for comparison.

One binary a node; one node of each root class; a chosen node needs a chosen node of each child
class; positions of classes forbid loops by a big constant (Yang et al., "Equality Saturation for
Tensor Graph Superoptimization", 2021, section 5.1).  Positions are written only where the class
graph has a loop, on the scale 0..size-1 instead of 0..1; they are real or whole, as in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.formulation import Order, read_choice
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.linear import Linear
from tensat_dl.extract.order import components
from tensat_dl.extract.program import Program, Row, Sense
from tensat_dl.settings import Acyclicity, ExtractSettings, Method


@dataclass
class Published:
    """`node_column[n]` is the binary of node n."""

    graph: Graph
    program: Program = field(default_factory=Program)
    node_column: dict[int, int] = field(default_factory=dict)

    def chosen(self, values: Sequence[float]) -> dict[int, int]:
        """The node of each class that a solution chooses."""
        return read_choice(self.graph, self.node_column, values)

    def loop_rows(self, loop: Iterable[int]) -> list[Row]:
        """None: positions, or the filter before, forbid every loop already."""
        return []


def cycles_of(settings: ExtractSettings) -> Acyclicity:
    """How loops are forbidden: lazy cuts are no part of TENSAT's program."""
    if settings.method == Method.TENSAT_ILP and settings.cycles == Acyclicity.LAZY:
        return Acyclicity.ORDER
    return settings.cycles


def formulate_published(graph: Graph, order: Order, deadline: Deadline) -> Published:
    """The published program of a pruned graph; without an `order`, loops are not forbidden."""
    model = Published(graph)
    for n, cost in enumerate(graph.cost.tolist()):
        if n != ROOT:
            model.node_column[n] = model.program.column(cost, integer=True)
    for n, kids in deadline.watch(enumerate(graph.kid_lists)):
        for kid in kids:
            _child_row(model, n, kid)
    for component in components(graph):
        if len(component) > 1 and order is not Order.NONE:
            _order_component(model, component, order, deadline)
    return model


def _child_row(model: Published, node: int, kid: int) -> None:
    supply = Linear().add_all(model.node_column[n] for n in model.graph.member_ranges[kid])
    if node == ROOT:
        row = supply.row(Sense.EQUAL, 1.0)
    else:
        row = supply.add(model.node_column[node], -1.0).row(Sense.AT_LEAST, 0.0)
    model.program.rows.extend([row] if row else [])


def _order_component(
    model: Published, component: list[int], order: Order, deadline: Deadline
) -> None:
    size = len(component)
    whole = order is Order.INTEGER
    position = {c: model.program.column(upper=size - 1, integer=whole) for c in component}
    for c in deadline.watch(component):
        edges = [(n, kid) for n in model.graph.member_ranges[c] for kid in model.graph.kid_lists[n]]
        for n, kid in edges:
            if kid in position:
                row = (
                    Linear()
                    .add(position[c])
                    .add(position[kid], -1.0)
                    .add(model.node_column[n], -float(size))
                    .row(Sense.AT_LEAST, 1.0 - size)
                )
                model.program.rows.extend([row] if row else [])
