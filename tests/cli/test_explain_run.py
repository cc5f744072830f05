"""`run --explain`: what each change replaced, which rules made it, what it saves."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest

from tensat_dl import answer
from tensat_dl.cli.main import main
from tensat_dl.cost.measured.comparison import Comparison

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { a = Abs(x) b = Neg(a) c = Sqrt(b) y = Relu(c) }
"""
#: Not sound, so the outputs are not compared.
RULES = """language 1
rewrite first: Neg(Abs(x)) => Sin(Cos(x))
rewrite second: Sqrt(Sin(Cos(x))) => Exp(x)
"""


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    model, rules = tmp_path / "model.onnx", tmp_path / "rules.tsat"
    proto = onnx.parser.parse_model(MODEL)
    proto.metadata_props.add(key="author", value="somebody")
    onnx.save(proto, model)
    rules.write_text(RULES)
    return model, rules


def test_the_summary_and_the_model_explain(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    model, rules = files
    command = ["run", str(rules), str(model), "--cost", "nodes", "--no-check", "--explain"]
    assert main([*command, "--json", str(model.with_suffix(".json"))]) == 0
    printed = capsys.readouterr().out
    block = printed[printed.index("what changed") : printed.index("exploration")].split("\n")
    assert [line.strip() for line in block if line.strip()] == [
        "what changed",
        "saves 2",
        "was    Abs of `a`, Neg of `b`, Sqrt of `c`",
        "is     Exp (makes c)",
        "by     first, second",
    ]
    (change,) = json.loads(model.with_suffix(".json").read_text())["changes"]
    assert change == {
        "removed": ["Abs of `a`", "Neg of `b`", "Sqrt of `c`"],
        "added": [{"operator": "Exp", "makes": ["c"], "rules": ["first", "second"]}],
        "saved": 2,
        "rules": ["first", "second"],
        "kept": [],
        "reasons": [],
    }
    written = onnx.load(model.with_name("model.opt.onnx"))
    metadata = {entry.key: entry.value for entry in written.metadata_props}
    assert metadata["author"] == "somebody"
    assert json.loads(metadata["tensat-dl.changes"])["changes"] == [change]


def test_without_it_nothing_is_added(files: tuple[Path, Path]) -> None:
    model, rules = files
    assert main(["run", str(rules), str(model), "--cost", "nodes", "--no-check"]) == 0
    written = onnx.load(model.with_name("model.opt.onnx"))
    assert [entry.key for entry in written.metadata_props] == ["author"]


@pytest.mark.parametrize(
    ("rules", "flags", "why"),
    [
        ("", [], "the model is unchanged"),
        ("rewrite dear: Abs(x) => Neg(Neg(Neg(x)))\n", [], "the model is unchanged"),
        (
            "rewrite one: Neg(Abs(x)) => Exp(x)\n",
            ["--compare"],
            "the original is kept; with --keep-anyway the new model is written and explained",
        ),
    ],
)
def test_where_there_is_nothing_to_explain_that_is_said(
    files: tuple[Path, Path],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    rules: str,
    flags: list[str],
    why: str,
) -> None:
    slower = Comparison(1.0, 1.1, 0.9, 0.88, 0.95, 8)
    monkeypatch.setattr(answer, "compare_models", lambda *_: slower)
    model, file = files
    file.write_text("language 1\n" + rules)
    report = str(model.with_suffix(".json"))
    command = ["run", str(file), str(model), "--cost", "nodes", "--no-check", "--json", report]
    for explain in ([], ["--explain"]):
        assert main([*command, *flags, *explain]) == 0
        said = f"note: nothing to explain: {why}" in capsys.readouterr().out.splitlines()
        notes = json.loads(Path(report).read_text())["notes"]
        assert said == (f"nothing to explain: {why}" in notes) == bool(explain)


def test_explain_reads_it_from_the_model(
    files: tuple[Path, Path], capsys: pytest.CaptureFixture[str]
) -> None:
    model, rules = files
    command = ["run", str(rules), str(model), "--cost", "nodes", "--no-check", "--explain"]
    assert main(command) == 0
    capsys.readouterr()
    assert main(["explain", str(model.with_name("model.opt.onnx"))]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "what changed",
        "  saves 2",
        "    was    Abs of `a`, Neg of `b`, Sqrt of `c`",
        "    is     Exp (makes c)",
        "    by     first, second",
    ]


@pytest.mark.parametrize(
    "text", [None, "", "7", "[]", '{"unit": "s"}', '{"unit": "s", "changes": [{"saved": "x"}]}']
)
def test_a_model_that_says_nothing(
    files: tuple[Path, Path], text: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    model, _ = files
    proto = onnx.load(model)
    if text is not None:
        proto.metadata_props.add(key="tensat-dl.changes", value=text)
        onnx.save(proto, model)
    assert main(["explain", str(model)]) == 3
    assert "run --explain" in capsys.readouterr().err
