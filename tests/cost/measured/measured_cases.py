"""A graph, explored with rules, to be settled under a model that measures."""

from __future__ import annotations

from dataclasses import replace

from line import explore, load
from onnx_text import model as model_of

from tensat_dl.cost.measured.fusion import with_chains
from tensat_dl.cost.measured.model import MeasuredModel
from tensat_dl.cost.posing import pose
from tensat_dl.cost.settle import settle
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.adopt import DeclaredOperators
from tensat_dl.egraph.snapshot import Application, Saturated
from tensat_dl.extract.run import extract
from tensat_dl.graph.model import Graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.phases import Phases
from tensat_dl.progress import silent
from tensat_dl.settings import ExtractSettings, ModelSettings

SETTINGS = ExtractSettings(seconds=20)

#: What the yardsticks take, so that bounds are far below everything else.
YARDSTICKS = {"MatMul": 1.0, "Relu": 1.0}


class Case:
    """A graph in ONNX's own syntax, explored."""

    def __init__(self, rules: str, text: str) -> None:
        self.program = load(rules)
        proto = model_of(text)
        self.graph: Graph = read_model(proto, ModelSettings(), DeclaredOperators(self.program))
        self.saturated: Saturated = explore(rules, proto)
        self.writable = Writable(self.program, self.graph.opsets)

    def settle(self, model: MeasuredModel, **extract_settings: object) -> Settled:
        """Rounds until all is measured."""
        settings = replace(SETTINGS, **extract_settings)  # type: ignore[arg-type]
        phases = Phases(silent)
        return settle(self.graph, self.saturated, model, self.writable, settings, phases)

    def optimum(self, model: MeasuredModel) -> float:
        """The cost of the cheapest graph when everything is measured beforehand."""
        posed = with_chains(pose(self.saturated, model, self.writable))
        model.measure(posed.paid, silent)
        return extract(posed.at(model.prices(posed.paid)).problem, SETTINGS).objective


def chosen(settled: Settled) -> set[str]:
    """The operators of the answer."""
    heads = (node.head for node in settled.chosen.values())
    return {head.operator.name for head in heads if isinstance(head, Application)}
