"""Which cost model a run uses: the settings, then the rules, then `roofline`."""

from __future__ import annotations

from pathlib import Path

import onnx
import onnx.parser
import pytest

from tensat_dl.cost.choice import CostChoice, choose_model, named_model
from tensat_dl.errors import UsageError
from tensat_dl.graph.model import Graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.language.load import load_rules
from tensat_dl.language.program import CheckedProgram
from tensat_dl.settings import CostSettings, ModelSettings

RELU = """<ir_version: 8, opset_import: ["" : 17%s]>
g (%s[4] x) => (%s[4] y) { %s }"""


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The program of one file, or of several that are named together."""
    monkeypatch.chdir(tmp_path)

    def load(*texts: str) -> CheckedProgram:
        names = [f"f{number}.tsat" for number in range(len(texts))]
        for name, text in zip(names, texts, strict=True):
            Path(name).write_text(f"language 1\n\n{text}\n")
        return load_rules(names)

    return load


def graph(body: str, dtype: str = "float", domain: str = "") -> Graph:
    proto = onnx.parser.parse_model(RELU % (domain, dtype, dtype, body))
    return read_model(proto, ModelSettings())


KNOWN = graph("y = Relu(x)")


@pytest.mark.parametrize("asked", ["nodes", "measured", "mine"])
def test_the_settings_come_before_the_rules(program, asked: str) -> None:
    rules = program("default cost flops\ncost model mine { _ = 1 }")
    choice = choose_model(CostSettings(model=asked), rules, KNOWN)
    assert choice == CostChoice(asked)


def test_the_rules_come_before_roofline(program) -> None:
    assert named_model(CostSettings(), program("default cost nodes")) == CostChoice(
        "nodes", "f0.tsat"
    )
    assert named_model(CostSettings(), program("")) == CostChoice("roofline")
    assert named_model(CostSettings(), None) == CostChoice("roofline")


def test_a_shipped_ruleset_is_called_as_on_the_command_line() -> None:
    std = load_rules("std")
    assert choose_model(CostSettings(), std, KNOWN) == CostChoice("measured", "std")


def test_rules_that_disagree_are_named_with_their_places(program) -> None:
    rules = program("default cost nodes", "#\ndefault cost flops")
    with pytest.raises(UsageError) as caught:
        named_model(CostSettings(), rules)
    assert caught.value.message == (
        "the rules disagree on the default cost: `nodes` (f0.tsat:3), `flops` (f1.tsat:4)"
    )
    assert caught.value.help.startswith(
        "choose with --cost, e.g. `--cost nodes`, or write `default"
    )
    assert named_model(CostSettings(model="bytes"), rules) == CostChoice("bytes")


@pytest.mark.parametrize(
    ("body", "dtype", "domain", "why"),
    [
        ("y = acme.Twice(x)", "float", ', "acme" : 1', "acme"),  # nobody knows it
        ("y = Erf(x)", "double", "", "Erf"),  # no kernel for this type
    ],
)
def test_what_onnxruntime_does_not_run_is_estimated_where_nobody_asked_to_measure(
    program, body: str, dtype: str, domain: str, why: str
) -> None:
    unknown = graph(body, dtype, domain)
    choice = choose_model(CostSettings(), program("default cost measured"), unknown)
    assert (choice.model, choice.default_of) == ("roofline", "f0.tsat")
    assert why in choice.obstacle
    asked = choose_model(CostSettings(model="measured"), program(""), unknown)
    assert asked == CostChoice("measured")
