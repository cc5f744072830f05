"""What the original and an answer run, and what each piece of it costs.

Enters: a settled problem, its cost model.  Leaves: pieces, each of them run as one.  Those of the
original add up to `Settled.before`, those of the answer to `Settled.cost`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensat_dl.cost.measured.fusion import runs_of_graph
from tensat_dl.cost.measured.model import MeasuredModel
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.posing import parts_of_graph
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.work import Timed
from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.graph.model import Graph, Node


@dataclass(frozen=True)
class Piece:
    """What an answer runs as one to make a tensor (a class): its e-nodes, its price."""

    enodes: tuple[ENode, ...]
    cost: float


def pieces_of(settled: Settled, nodes: Mapping[int, int], model: CostModel) -> dict[int, Piece]:
    """What some nodes of a problem run, by class; what costs nothing to run is there, too."""
    return {c: _piece(settled, index, model) for c, index in nodes.items()}


def pieces_of_answer(settled: Settled, model: CostModel) -> dict[int, Piece]:
    """What an answer without a demand runs, by class."""
    posed, selection = settled.posed, settled.extraction.selection
    indices = [] if selection is None else selection.chosen().tolist()
    nodes = {posed.nodes[i].eclass: i for i in indices}
    return pieces_of(settled, {c: i for c, i in nodes.items() if c not in posed.extra}, model)


def paid_by_answer(settled: Settled, model: CostModel) -> list[Piece]:
    """The pieces of an answer that are run, but for what is folded."""
    posed, selection = settled.posed, settled.extraction.selection
    indices = [] if selection is None else selection.chosen().tolist()
    return [_piece(settled, i, model) for i in indices if posed.parts[i] is not None]


def paid_by_original(
    graph: Graph, saturated: Saturated, settled: Settled, model: CostModel
) -> list[tuple[tuple[Node, ...], float]]:
    """The nodes of the original that are run as one, with their price."""
    parts = parts_of_graph(graph, saturated)
    if isinstance(model, MeasuredModel):
        runs = runs_of_graph(graph, parts, model.known_price)
        return [(nodes, _price(timed, settled, model)) for nodes, timed in runs]
    return [((node,), _price(part, settled, model)) for node, part in parts]


def _piece(settled: Settled, index: int, model: CostModel) -> Piece:
    posed = settled.posed
    timed = posed.parts[index]
    cost = float(posed.problem.node_cost[index])
    return Piece(posed.enodes(index), cost if timed is None else _price(timed, settled, model))


def _price(timed: Timed, settled: Settled, model: CostModel) -> float:
    if settled.estimated and isinstance(model, MeasuredModel):
        return model.estimates([timed])[0]
    return model.price(timed)  # type: ignore[arg-type]  # chains are of models that time them
