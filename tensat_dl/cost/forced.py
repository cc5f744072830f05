"""The cheapest answer that uses one of some e-nodes.

Enters: a snapshot, a cost model, the answer without that demand.  Leaves: a :class:`Forced`.  The
problem with the demand is solved, and where its answer meets that with something that no output
needs after all, once more with less taken for granted; each time at its own prices, where these
are measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

import numpy as np

from tensat_dl.cost.demand import Demand, Met, met, usable
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.posing import Posed
from tensat_dl.cost.settled import Settled
from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.extract.problem import Status
from tensat_dl.settings import ExtractSettings, Tie

#: Problems that are solved at most.
_MOST = 12
#: A later one has at least so many seconds.
_LEAST_SECONDS = 1.0
#: What costs differ by less than this share are equal.
EQUAL = 1e-9

#: Solves without some e-nodes, for a demand.
Solve = Callable[[ExtractSettings, Collection[ENode], Demand], Settled]


@dataclass(frozen=True)
class Piece:
    """What an answer runs as one to make a tensor (a class): its e-nodes, its price."""

    enodes: tuple[ENode, ...]
    cost: float


@dataclass(frozen=True)
class Forced:
    """`pieces` by class, and what they cost in all; empty where no answer was found.  Nothing that
    meets the demand costs less than `bound`.  `proven`: nothing is cheaper, or, where there are no
    pieces, that there is no such answer (within the limits of the settings).  `settled`: how it
    was found, None where no problem had to be solved."""

    pieces: Mapping[int, Piece]
    cost: float
    bound: float
    proven: bool
    settled: Settled | None = None


def pieces_of(settled: Settled, nodes: Mapping[int, int], model: CostModel) -> dict[int, Piece]:
    """What some nodes of a problem run, by class."""
    posed = settled.posed

    def price(index: int) -> float:
        timed = posed.parts[index]
        if timed is None or settled.estimated:
            return float(posed.problem.node_cost[index])
        return model.price(timed)  # type: ignore[arg-type]  # chains are of models that time them

    return {c: Piece(posed.enodes(i), price(i)) for c, i in nodes.items()}


def pieces_of_answer(settled: Settled, model: CostModel) -> dict[int, Piece]:
    """What an answer without a demand runs, by class."""
    posed, selection = settled.posed, settled.extraction.selection
    indices = [] if selection is None else selection.chosen().tolist()
    nodes = {posed.nodes[i].eclass: i for i in indices}
    return pieces_of(settled, {c: i for c, i in nodes.items() if c not in posed.extra}, model)


def force(
    saturated: Saturated,
    model: CostModel,
    answer: Settled,
    wanted: frozenset[ENode],
    settings: ExtractSettings,
    solve: Solve,
) -> Forced:
    """The cheapest answer with one of `wanted`; `answer` is that without the demand, which has none
    of them."""
    static = answer.tally is None
    if static and not usable(answer.posed, wanted):
        return Forced({}, 0.0, 0.0, proven=True)
    used = answer.extraction.selection
    assert used is not None, "there is an answer"
    ends = frozenset(np.flatnonzero(used.node_of_class >= 0).tolist())
    pieces = pieces_of_answer(answer, model)
    demand = Demand(wanted, {c: piece.enodes for c, piece in pieces.items()}, ends)
    barred: frozenset[ENode] = frozenset()
    bound, seconds = answer.extraction.bound if static else 0.0, 0.0
    for _ in range(_MOST):
        left = max(settings.seconds - seconds, _LEAST_SECONDS)
        alike = replace(settings, seconds=left, ties=(Tie.ORIGINAL,))
        settled = solve(alike, barred, demand)
        extraction = settled.extraction
        seconds += extraction.seconds
        if extraction.selection is not None and not barred:
            bound = max(bound, extraction.bound)
        if extraction.selection is None:
            none = extraction.status is Status.INFEASIBLE and not (barred or settled.incomplete)
            return Forced({}, 0.0, bound, none, settled)
        limited = bool(extraction.limits)
        found = met(settled.posed, demand, extraction.selection, limited=limited)
        if found.chosen is not None and found.used:
            return _found(settled, pieces_of(settled, found.chosen, model), bound, bool(barred))
        if found.chosen is None:
            barred |= _rivals(saturated, settled.posed, found)
        else:
            demand = replace(demand, ends=demand.ends & found.chosen.keys())
        if seconds >= settings.seconds:
            break
    return Forced({}, 0.0, bound, proven=False)


def _found(settled: Settled, pieces: Mapping[int, Piece], bound: float, barred: bool) -> Forced:
    """An answer.  Bounds are at prices with their margin, and so is the objective."""
    cost = math.fsum(piece.cost for piece in pieces.values())
    extraction = settled.extraction
    reached = extraction.objective <= bound * (1.0 + EQUAL)
    least = cost if reached else cost * bound / extraction.objective
    optimal = extraction.status is Status.OPTIMAL and not barred
    return Forced(pieces, cost, least, (reached or optimal) and not settled.incomplete, settled)


def _rivals(saturated: Saturated, posed: Posed, found: Met) -> frozenset[ENode]:
    """What else could compute the tensors of the path: without it, the path is no loop."""
    kept = {node for index in found.path for node in posed.enodes(index)}
    tensors = {node.eclass for node in kept}
    return frozenset(n for n in saturated.nodes if n.eclass in tensors and n not in kept)
