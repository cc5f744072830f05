"""The line as the tests call it: rules as text, settings by keyword, answers as models."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

import onnx

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.egraph.adopt import DeclaredOperators
from tensat_dl.egraph.explore import explore as explore_graph
from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.graph.reading.read import read_model
from tensat_dl.language.load import load_text
from tensat_dl.language.program import CheckedProgram
from tensat_dl.outcome import Outcome
from tensat_dl.pipeline import optimize
from tensat_dl.settings import (
    CostSettings,
    ExploreSettings,
    ExtractSettings,
    ModelSettings,
    RuleSettings,
    Settings,
    VerifySettings,
)


@dataclass(frozen=True)
class Answer:
    """The optimised model and the story of the run."""

    model: onnx.ModelProto
    outcome: Outcome


@dataclass(frozen=True)
class Line:
    """Works in one directory."""

    directory: Path

    def __call__(
        self, rules: str, model: onnx.ModelProto, cost: str = "nodes", **settings: Any
    ) -> Answer:
        """Optimise and verify; `settings` as in `make_settings`."""
        path = self.directory / "rules.tsat"
        path.write_text(rules)
        outcome = optimize(model, str(path), make_settings(cost, **settings))
        assert outcome.verification is None or outcome.verification.ok
        return Answer(outcome.model.proto, outcome)


def make_settings(cost: str = "nodes", **given: Any) -> Settings:
    """Settings of all stages from a flat list of the few that the tests vary."""
    explore = {f.name: given.pop(f.name) for f in fields(ExploreSettings) if f.name in given}
    settings = Settings(
        explore=replace(ExploreSettings(), **explore),
        cost=CostSettings(model=cost),
        rules=RuleSettings(exact=given.pop("exact", False)),
        model=ModelSettings(dims=given.pop("dims", {}), opset=given.pop("opset", 0)),
        extract=ExtractSettings(method=given.pop("method", "ilp"), seconds=20),
        verify=VerifySettings(enabled=given.pop("check", True), samples=2),
    )
    assert not given, f"no such settings: {sorted(given)}"
    return settings


def load(rules: str) -> CheckedProgram:
    """The checked program of a text."""
    diagnostics = Diagnostics()
    program = load_text(rules, "rules.tsat", diagnostics)
    assert program is not None and not diagnostics.has_errors, list(diagnostics)
    return program


def explore(rules: str, model: onnx.ModelProto, **settings: Any) -> Saturated:
    """Explore; gives the final snapshot."""
    chosen = make_settings(**settings)
    program = load(rules)
    graph = read_model(model, chosen.model, DeclaredOperators(program))
    return explore_graph(graph, program, chosen.explore, chosen.rules)


def applications(saturated: Saturated, operator: str = "") -> list[ENode]:
    """The e-nodes of an operator, or of all."""
    return [
        node
        for node in saturated.nodes
        if isinstance(node.head, Application) and operator in ("", node.head.operator.name)
    ]
