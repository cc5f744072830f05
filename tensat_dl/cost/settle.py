"""From a snapshot to the cheapest graph under a cost model, however its prices come about.

Enters: a snapshot and a cost model.  Leaves: a :class:`Settled`.  Most models know every price at
once; for one that measures see `cost.measured.search`.
"""

from __future__ import annotations

from collections.abc import Collection
from functools import partial

from tensat_dl.cost.counts import with_counts
from tensat_dl.cost.demand import Demand, with_demand
from tensat_dl.cost.measured.fusion import runs_of_graph, with_chains
from tensat_dl.cost.measured.model import MeasuredModel
from tensat_dl.cost.measured.search import MeasuringSearch
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.posing import Posed, parts_of_graph, pose
from tensat_dl.cost.rule_models import RuleCostModel
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.virtual import make_lower
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.extract.run import extract
from tensat_dl.graph.model import Graph
from tensat_dl.phases import Phases
from tensat_dl.progress import Phase
from tensat_dl.resources import heap_kept
from tensat_dl.settings import ExtractSettings
from tensat_dl.vocabulary.dims import SymbolicDim
from tensat_dl.vocabulary.types import TensorType


@heap_kept()
def settle(
    graph: Graph,
    saturated: Saturated,
    model: CostModel,
    writable: Writable,
    settings: ExtractSettings,
    phases: Phases,
    barred: Collection[ENode] = frozenset(),
    demand: Demand | None = None,
) -> Settled:
    """The cheapest graph in `saturated` without e-nodes that are `barred`, and how it was found;
    `graph` is the original.  With a `demand`, the answer is to be read by `cost.met`."""
    with phases(Phase.COST):
        posed = pose(saturated, model, writable, barred)
        original = parts_of_graph(graph, saturated)
        lower = make_lower(writable.program)

    def finish(posed: Posed) -> Posed:
        counted = with_counts(posed, saturated, settings, lower)
        return counted if demand is None else with_demand(counted, demand)

    if isinstance(model, MeasuredModel):
        with phases(Phase.COST):
            chains, plain = finish(with_chains(posed)), finish(posed)
            runs = partial(runs_of_graph, graph, original)
        search = MeasuringSearch(chains, model, settings, phases)
        return search.run(plain, runs, _symbols(graph))
    with phases(Phase.COST):
        posed = finish(posed)
    with phases(Phase.EXTRACT):
        extraction = extract(posed.problem, settings, phases.report)
    before = sum(model.price(part) for _, part in original)
    notes = model.notes if isinstance(model, RuleCostModel) else ()
    return Settled(posed, extraction, before, extraction.objective, notes=notes)


def _symbols(graph: Graph) -> list[str]:
    """The symbols in the types of the inputs."""
    types = (graph.types[name] for name in graph.inputs)
    dims = (dim for type_ in types if isinstance(type_, TensorType) for dim in type_.dims or ())
    return sorted({s for dim in dims if isinstance(dim, SymbolicDim) for s in dim.symbols()})
