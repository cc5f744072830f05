"""The keys of `grammar/reports.md` are those that the commands write, all of them."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from enum import Enum
from pathlib import Path
from typing import Any

import onnx
import onnx.parser
import pytest

from tensat_dl.cli.main import main
from tensat_dl.cost.measured.cache import Measurement, to_content
from tensat_dl.cost.measured.comparison import Comparison
from tensat_dl.cost.measured.machine import Setting
from tensat_dl.cost.measured.tally import Tally
from tensat_dl.diagnosis.changes import Reason
from tensat_dl.diagnosis.verdict import Verdict as Standing
from tensat_dl.egraph.snapshot import StopReason as Ended
from tensat_dl.extract.problem import LimitRecord, Status as ExtractionStatus, StopReason
from tensat_dl.graph.verifying.verification import Mismatch, Verification
from tensat_dl.outcome import OutcomeStatus
from tensat_dl.pipeline import optimize
from tensat_dl.report import make_report
from tensat_dl.settings import CostSettings, ExportSettings, Settings
from tensat_dl.soundness.report import make_report as make_verdicts
from tensat_dl.soundness.verdict import Computed, Counterexample, Status, Tensor, Verdict

PAGE = Path(__file__).parents[2] / "grammar" / "reports.md"
DIAGNOSTICS = "Diagnostics"

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { a = Abs(x) b = Neg(a) c = Neg(b) y = Exp(c) }
"""
RULES = """language 1
rewrite abs: Exp(Abs(x)) => Sin(x)
rewrite neg: Neg(Neg(x)) => x
rewrite far: Neg(Tanh(x)) => Tanh(Neg(x))
rewrite dear: Exp(x) => Sin(Cos(x))
test "fails" { input x: f32[4] given y = Neg(x) expect fires neg }
"""


def documented() -> dict[str, set[str]]:
    """Section -> the keys in the first column of its table."""
    found = {}
    for section in re.split(r"^##+ ", PAGE.read_text(encoding="utf-8"), flags=re.M)[1:]:
        rows = re.findall(r"^\| (`.*?) \|", section, re.M)
        found[section.partition("\n")[0].strip("`")] = set(re.findall(r"`(.*?)`", " ".join(rows)))
    return found


def paths(value: Any, known: set[str], path: str = "") -> Iterator[str]:
    """Every key down to the leaves, written as the page writes them."""
    if isinstance(value, dict):
        named = any(key == f"{path}.*" or key.startswith(f"{path}.*.") for key in known)
        for key, item in value.items():
            yield from paths(item, known, ".".join(filter(None, (path, "*" if named else key))))
    elif isinstance(value, list | tuple):
        for item in value:
            yield from paths(item, known, f"{path}[]")
    if value not in ({}, [], ()) and (path in known or not isinstance(value, dict | list | tuple)):
        yield path


def run_report() -> dict[str, Any]:
    """That of a run, with all that a run may have."""
    settings = replace(
        Settings(), cost=CostSettings(model="nodes"), export=ExportSettings(explain=True)
    )
    Path("r.tsat").write_text(RULES)
    settings = replace(settings, verify=replace(settings.verify, enabled=False))
    outcome = optimize(onnx.parser.parse_model(MODEL), "r.tsat", settings)
    assert outcome.changes and outcome.extraction.stages
    full = replace(
        outcome,
        changes=tuple(replace(c, kept=("n",), reasons=(*Reason,)) for c in outcome.changes),
        exploration=replace(outcome.exploration, warnings=("w",)),
        extraction=replace(
            outcome.extraction,
            limits=(LimitRecord("at most one", 1.0, 1.0),),
            solvers=("glpk",),
            warnings=("w",),
        ),
        nodes_slower={"Relu": 1},
        tally=Tally(Setting("m", "r", 1), 1, 1, 1, ("If",), 0, 1, 0.5, {"N": 16}),
        comparison=Comparison(sizes={"N": 16}),
        verification=Verification(3, 0.5, False, (Mismatch("y", 0, "differs"),)),
        warnings=("w",),
        notes=("n",),
    )
    return make_report(full)


def verify_report() -> dict[str, Any]:
    tensor = Tensor("x", "f32[]", float("nan"))
    example = Counterexample(
        {"p": "1"}, ("y = Relu(x)",), (tensor,), tensor, tensor, (0,), 0, 1, Computed.REALS
    )
    refuted = Verdict("r", "r", Status.REFUTED, False, 1, {"exact": 1}, 0.0, 0, False, example)
    return make_verdicts([refuted, replace(refuted, needed=("a",), unneeded=("b",), opsets=(7,))])


def written(*command: str) -> dict[str, Any]:
    main([*command, "--json", "out.json"])
    found: dict[str, Any] = json.loads(Path("out.json").read_text())
    return found


def why_not_reports() -> list[dict[str, Any]]:
    ask = ("m.onnx", "--rules", "r.tsat")
    found = [written("why-not", rule, *ask) for rule in ("neg", "far", "dear")]
    found[-1]["standing"]["notes"] = ["n"]  # of costs that are measured
    return found


def extract_report() -> dict[str, Any]:
    Path("e.json").write_text(
        json.dumps(
            {
                "nodes": {
                    "a": {"op": "a", "children": ["b"], "eclass": "1", "cost": 1},
                    "b": {"op": "b", "children": [], "eclass": "2", "cost": 1},
                },
                "root_eclasses": ["1"],
            }
        )
    )
    found = written("extract", "e.json")
    lists = run_report()["extraction"]  # what this one leaves empty
    return {**found, "extraction": {**lists, **{k: v for k, v in found["extraction"].items() if v}}}


REPORTS: dict[str, Callable[[], Any]] = {
    "run --json": run_report,
    "extract --json": extract_report,
    "verify --json": verify_report,
    "test --json": lambda: written("test", "r.tsat"),
    "profile --json": lambda: written("profile", "r.tsat", "m.onnx"),
    "why-not --json": why_not_reports,
    "costs export": lambda: to_content([Measurement("m", "r", 1, "s", 0.5)]),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    onnx.save(onnx.parser.parse_model(MODEL), "m.onnx")
    Path("r.tsat").write_text(RULES)


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("section", REPORTS)
def test_the_keys_of_a_report(section: str) -> None:
    keys = documented()
    content = REPORTS[section]()
    found = set()
    for report in content if isinstance(content, list) else [content]:
        if section == "run --json":
            report = {**report, "extraction": None}  # as in `extract`
        for test in report.get("tests", ()):
            test["failures"] = [0]  # diagnostics
        found |= set(paths(report, keys[section]))
    assert found == keys[section]


@pytest.mark.usefixtures("folder")
def test_the_keys_of_diagnostics(capsys: pytest.CaptureFixture[str]) -> None:
    keys = documented()
    Path("bad.tsat").write_text("rewrite a: Concat(x) => x\nrewrite a: Relu(x) => x\n")
    main(["check", "bad.tsat", "--format", "json"])
    content = json.loads(capsys.readouterr().out)
    assert set(content) == {"diagnostics"} and keys["check --format json"] == {"diagnostics[]"}
    found = set()
    for diagnostic in content["diagnostics"]:
        for related in diagnostic["related"]:
            assert set(related["span"]) == set(diagnostic["span"])
            related["span"] = 0
        found |= set(paths(diagnostic, keys[DIAGNOSTICS]))
    assert found == keys[DIAGNOSTICS]
    Path("r.tsat").write_text(RULES)
    (test,) = written("test", "r.tsat")["tests"]
    assert set(test["failures"][0]) == set(content["diagnostics"][0])


WORDS: list[tuple[str, str, type[Enum]]] = [
    ("run --json", "status", OutcomeStatus),
    ("run --json", "exploration.stopped_by", Ended),
    ("run --json", "changes[].reasons[]", Reason),
    ("extract --json", "extraction.status", ExtractionStatus),
    ("extract --json", "extraction.stopped", StopReason),
    ("verify --json", "rules[].status", Status),
    ("why-not --json", "standing.verdict", Standing),
    ("verify --json", "rules[].counterexample.computed", Computed),
]


@pytest.mark.parametrize(("section", "key", "words"), WORDS)
def test_the_words_of_a_key_are_all_there(section: str, key: str, words: type[Enum]) -> None:
    (table,) = re.findall(rf"^## `{section}`\n(.*?)(?=^## |\Z)", PAGE.read_text(), re.M | re.S)
    (row,) = (line for line in table.splitlines() if line.startswith(f"| `{key}` |"))
    expected = {word.value for word in words} - {Ended.UNFINISHED.value}
    assert set(re.findall(r"`(.*?)`", row)) == {key, *expected}


def test_every_command_that_writes_json_has_a_section() -> None:
    sources = Path(__file__).parents[2].joinpath("tensat_dl", "cli").glob("*.py")
    writing = {p.stem.replace("_", "-") for p in sources if '"--json"' in p.read_text()}
    sections = {section.split()[0] for section in documented() if section.endswith("--json")}
    assert sections == writing
