"""One shipped rule alone on one model, and what its e-graph holds.

Enters: a rule name and a model.  Leaves: how often the rule acted, and whole models chosen from
the e-graph so that what the rule made is preferred: each must compute what the original does.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache

import onnx

from tensat_dl.egraph.explore import explore
from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.export import export_graph
from tensat_dl.graph.model import Graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.writing.write import build_source
from tensat_dl.language.load import load_rules
from tensat_dl.language.program import CheckedProgram, Limit, Rule, Run, Saturate
from tensat_dl.settings import ExploreSettings, ModelSettings, RuleSettings

#: What an e-node weighs: of the original graph, made by a rule.
_ORIGINAL, _MADE = 1000.0, 1.0


#: The shipped rulesets that are entered by name; they import the others.
SHIPPED = "std,extra"


@cache
def load(names: str) -> CheckedProgram:
    return load_rules(names)


@cache
def rules_by_name() -> dict[str, Rule]:
    return {rule.name: rule for rule in load(SHIPPED).rules}


@dataclass(frozen=True)
class Explored:
    """`applied`: how often the rules acted."""

    original: Graph
    program: CheckedProgram
    saturated: Saturated

    @property
    def applied(self) -> int:
        return sum(count.applied for count in self.saturated.exploration.rules.values())

    def models(self, seeds: Sequence[int]) -> Iterator[onnx.ModelProto]:
        """The model that prefers what the rules made, then one for each seed."""
        yield self._model(lambda node: _ORIGINAL if node.original else _MADE)
        for seed in seeds:
            yield self._model(_Noise(seed))

    def _model(self, weight: object) -> onnx.ModelProto:
        chosen = _cheapest(self.saturated, weight)
        graph = export_graph(self.original, self.saturated, chosen, self.program)
        proto = build_source(graph).proto
        assert isinstance(proto, onnx.ModelProto)
        return proto


def explore_alone(names: Sequence[str], model: onnx.ModelProto) -> Explored:
    """Only these rules, to saturation."""
    whole = load(SHIPPED)
    rules = tuple(rules_by_name()[name] for name in names)
    run = Run("alone", tuple(names))
    program = replace(
        whole, rules=rules, schedule=(Saturate((run,), Limit(iters=4, enodes=2_000, seconds=5)),)
    )
    graph = read_model(model, ModelSettings())
    return Explored(graph, program, explore(graph, program, ExploreSettings(), RuleSettings()))


@dataclass(frozen=True)
class _Noise:
    seed: int

    def __call__(self, node: ENode) -> float:
        key = f"{self.seed} {node.head} {node.children}"
        return random.Random(key).uniform(1.0, 2.0)


def _cheapest(saturated: Saturated, weight: object) -> dict[int, ENode]:
    """The lightest tree of each class; positive weights make it free of loops."""
    assert callable(weight)
    best: dict[int, float] = {}
    chosen: dict[int, ENode] = {}
    weights = [
        weight(node) if isinstance(node.head, Application) else 0.001 for node in saturated.nodes
    ]
    changed = True
    while changed:
        changed = False
        for node, own in zip(saturated.nodes, weights, strict=True):
            if any(child not in best for child in node.children):
                continue
            total = own + sum(best[child] for child in node.children)
            if total < best.get(node.eclass, float("inf")) - 1e-9:
                best[node.eclass], chosen[node.eclass] = total, node
                changed = True
    return chosen
