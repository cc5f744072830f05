"""The report of a run, as data and in words."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path

import onnx
import pytest

from tensat_dl.cli.summary import extraction_line, number, summary
from tensat_dl.cli.tables import print_blocks
from tensat_dl.cost.choice import CostChoice
from tensat_dl.egraph.snapshot import Exploration, RuleCount
from tensat_dl.extract.problem import Extraction, Selection, StageRecord, Status, StopReason
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.verify import Verification
from tensat_dl.outcome import Outcome, OutcomeStatus
from tensat_dl.report import extraction_report, make_report, versions, write_json

EXPLORATION = Exploration(
    enodes=12_345,
    eclasses=678,
    steps=4,
    seconds=0.5,
    stopped_by="enodes",
    blamed="assoc",
    rules={"merge": RuleCount(9, 7), "assoc": RuleCount(100, 90, 3), "idle": RuleCount(0, 0)},
)
EXTRACTION = Extraction(
    selection=Selection([0]),  # type: ignore[arg-type]
    status=Status.FEASIBLE,
    stopped=StopReason.TIME,
    objective=2.0,
    bound=1.5,
    method="ilp",
    solver="glpk",
    solvers=("glpk",),
    seconds=0.25,
    stages=(StageRecord("prune", "graph", 1, 0.1, 12, 25, 10, 20),),
)
OUTCOME = Outcome(
    status=OutcomeStatus.IMPROVED,
    cost_choice=CostChoice("roofline"),
    cost_unit="s",
    cost_before=4.0,
    cost_after=2.0,
    nodes_before={"MatMul": 3, "Relu": 1},
    nodes_after={"Relu": 1, "MatMul": 1, "Split": 1},
    exploration=EXPLORATION,
    extraction=EXTRACTION,
    rules_in_answer={"merge": 2},
    verification=Verification(3, 1.5e-7, True),
    seconds={"read": 0.1, "explore": 0.5},
    model=Source(onnx.ModelProto()),
    output_path="out.onnx",
    warnings=("one thing",),
)


def text_of(outcome: Outcome, capsys: pytest.CaptureFixture[str], *, verbose: bool = False) -> str:
    import sys

    print_blocks(summary(make_report(outcome), verbose=verbose), sys.stdout)
    return capsys.readouterr().out


def test_the_report_has_every_field_and_only_plain_values() -> None:
    report = make_report(OUTCOME)
    assert json.loads(json.dumps(report, allow_nan=False)) == report
    assert report["status"] == "improved"
    assert report["cost"] == {
        "model": "roofline",
        "default_of": "",
        "obstacle": "",
        "unit": "s",
        "before": 4.0,
        "after": 2.0,
        "estimated": False,
    }
    assert report["nodes"]["before"] == {"MatMul": 3, "Relu": 1}
    assert report["nodes"]["after"] == {"MatMul": 1, "Relu": 1, "Split": 1}
    exploration = report["exploration"]
    assert {"enodes", "eclasses", "steps", "seconds", "stopped_by"} <= set(exploration)
    extraction = report["extraction"]
    fields = {"method", "solver", "status", "objective", "bound", "gap", "seconds"}
    assert fields <= set(extraction)
    assert extraction["gap"] == pytest.approx(0.25)
    assert report["verification"]["samples"] == 3
    assert report["verification"]["max_difference"] == 1.5e-7
    assert report["verification"]["ok"] is True
    assert report["seconds"] == {"read": 0.1, "explore": 0.5, "total": pytest.approx(0.6)}
    assert {"python", "tensat-dl", "egglog", "onnx"} <= set(report["versions"])


def test_rules_that_contributed_come_first() -> None:
    rules = make_report(OUTCOME)["rules"]
    assert [rule["name"] for rule in rules] == ["merge", "assoc", "idle"]
    assert rules[0] == {
        "name": "merge",
        "matches": 9,
        "applied": 7,
        "rejected": 0,
        "in_answer": 2,
    }


def test_what_has_no_number_is_null() -> None:
    nothing = dataclasses.replace(
        EXTRACTION, selection=None, status=Status.INFEASIBLE, objective=math.inf, bound=-math.inf
    )
    report = extraction_report(nothing)
    assert (report["objective"], report["bound"], report["gap"]) == (None, None, None)
    assert "infeasible" in extraction_line(report)


@pytest.mark.parametrize(
    ("after", "says"), [(3.9, "2.5"), (3.996, "0.1"), (3.9984, "0.04"), (3.99992, "0.002")]
)
def test_small_improvements_are_not_nothing(
    after: float, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = dataclasses.replace(OUTCOME, cost_after=after)
    assert text_of(outcome, capsys).startswith(f"operators {says} % cheaper")


@pytest.mark.parametrize(
    ("after", "says"),
    [
        (4.0, "better inside control flow, as cheap as before outside of it (roofline 4 s -> 4 s)"),
        (
            2.0,
            "operators 50.0 % cheaper, without what is inside control flow (roofline 4 s -> 2 s)",
        ),
    ],
)
def test_better_bodies_are_in_the_headline(
    after: float, says: str, capsys: pytest.CaptureFixture[str]
) -> None:
    outcome = dataclasses.replace(OUTCOME, cost_after=after, bodies=2)
    assert text_of(outcome, capsys).splitlines()[0] == says


def test_rules_that_only_joined_are_not_passed_over(capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of(dataclasses.replace(OUTCOME, rules_in_answer={}), capsys)
    assert "2 acted and made no node of the answer, but found tensors equal (--explain)" in text
    assert "acted" not in text_of(OUTCOME, capsys)


def test_summary_of_an_improvement(capsys: pytest.CaptureFixture[str]) -> None:
    lines = text_of(OUTCOME, capsys).splitlines()
    assert lines[0] == "operators 50.0 % cheaper (roofline 4 s -> 2 s)"
    assert [line.split() for line in lines[2:7]] == [
        ["nodes", "before", "after", "change"],
        ["MatMul", "3", "1", "-2"],
        ["Relu", "1", "1"],
        ["Split", "0", "1", "+1"],
        ["total", "4", "3", "-1"],
    ]
    text = "\n".join(lines)
    assert (
        "12,345 e-nodes, 678 e-classes, 4 steps, 0.50 s: limit of e-nodes reached in rule assoc"
        in text
    )
    assert "ilp with glpk: feasible, cost 2, bound 1.5, gap 25 %, stopped by time, 0.25 s" in text
    assert "3 samples, largest difference 1.5e-07" in text
    assert "read 0.10, explore 0.50, total 0.60" in text
    assert "warning: one thing" in text
    assert lines[-1].split() == ["written", "out.onnx"]
    assert "assoc " not in text.replace("in rule assoc", "")


def test_an_unproven_answer_says_why_in_words() -> None:
    answer = dataclasses.replace(OUTCOME.extraction, solver="", stopped=StopReason.HEURISTIC)
    assert "gap 25 %, not proven, 0.25 s" in extraction_line(extraction_report(answer))
    answer = dataclasses.replace(answer, solver="glpk", stopped=StopReason.SOLVER_FAILED)
    assert "gap 25 %, the solver failed, 0.25 s" in extraction_line(extraction_report(answer))


@pytest.mark.parametrize(
    ("asked", "ran", "text"),
    [
        ("glpk", ("glpk",), "ilp with glpk: "),
        ("auto", ("highs", "glpk"), "ilp with auto (highs, glpk): "),
        ("auto", (), "ilp, no solver needed: "),
        ("glpk", (), "ilp, no solver needed: "),
        ("", (), "ilp: "),
    ],
)
def test_the_solvers_that_auto_chose_are_named(asked: str, ran: tuple[str, ...], text: str) -> None:
    answer = dataclasses.replace(EXTRACTION, solver=asked, solvers=ran)
    assert extraction_line(extraction_report(answer)).startswith(text)


def test_an_answer_of_an_earlier_run_is_said_to_be_one() -> None:
    answer = dataclasses.replace(EXTRACTION, cached=True, solvers=())
    assert extraction_line(extraction_report(answer)).startswith("ilp, of an earlier run: ")


def test_verbose_shows_every_rule(capsys: pytest.CaptureFixture[str]) -> None:
    text = text_of(OUTCOME, capsys, verbose=True)
    assert "assoc" in text
    assert "idle" in text


def test_summary_where_nothing_was_found(capsys: pytest.CaptureFixture[str]) -> None:
    outcome = dataclasses.replace(
        OUTCOME,
        status=OutcomeStatus.UNCHANGED,
        cost_after=4.0,
        verification=None,
        rules_in_answer={},
        output_path=None,
    )
    text = text_of(outcome, capsys)
    assert text.startswith("nothing better found; the model is unchanged (roofline 4 s -> 4 s)\n")
    assert "verification  switched off" in text
    assert "rules         2 acted, and nothing cheaper came of it (-v shows which)\n" in text


def test_summary_where_no_rule_acted(capsys: pytest.CaptureFixture[str]) -> None:
    """The next question is what was in the way."""
    exploration = dataclasses.replace(EXPLORATION, rules={"merge": RuleCount(9, 0)})
    outcome = dataclasses.replace(
        OUTCOME, status=OutcomeStatus.UNCHANGED, rules_in_answer={}, exploration=exploration
    )
    assert "rules         none acted (`tensat-dl why-not RULE GRAPH` says" in text_of(
        outcome, capsys
    )


@pytest.mark.parametrize(
    ("value", "text"),
    [(0, "0"), (80.0, "80"), (1234567.0, "1,234,567"), (0.000123456789, "0.000123457")],
)
def test_numbers(value: float, text: str) -> None:
    assert number(value) == text


def test_json_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    target = tmp_path / "report.json"
    target.write_text("old")
    with pytest.raises(ValueError, match="not JSON compliant"):
        write_json({"x": math.inf}, str(target))
    assert target.read_text() == "old"
    write_json({"x": 1}, str(target))
    assert json.loads(target.read_text()) == {"x": 1}
    assert list(tmp_path.iterdir()) == [target]


def test_versions_are_those_installed() -> None:
    import onnx

    assert versions()["onnx"] == onnx.__version__
