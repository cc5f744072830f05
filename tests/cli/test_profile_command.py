"""`tensat-dl profile`: rows of rules and steps that can be counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import onnx
import onnx.parser
import pytest

from tensat_dl.cli.main import main

MODEL = """<ir_version: 8, opset_import: ["" : 17]>
g (float[4] x) => (float[4] y) { a = Abs(x) b = Neg(a) c = Sqrt(b) y = Relu(c) }
"""
#: Not sound, which nobody asks here.
RULES = """language 1
rewrite first: Neg(Abs(x)) => Sin(Cos(x))
rewrite second: Sqrt(Sin(Cos(x))) => Exp(x)
rewrite idle: Tan(x) => Sin(x)
"""


def test_rules_and_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model, rules, report = tmp_path / "m.onnx", tmp_path / "r.tsat", tmp_path / "p.json"
    onnx.save(onnx.parser.parse_model(MODEL), model)
    rules.write_text(RULES)
    command = ["profile", str(rules), str(model), "--cost", "nodes", "--json", str(report)]
    assert main(command) == 0
    profile = json.loads(report.read_text())
    rows = {row["name"]: row for row in profile["rules"]}
    counted = ("matches", "applied", "rejected", "made", "in_answer")
    assert [rows["first"][key] for key in counted] == [1, 1, 0, 2, 0]
    assert [rows["second"][key] for key in counted] == [1, 1, 0, 1, 1]
    assert [rows["idle"][key] for key in counted] == [0, 0, 0, 0, 0]
    # 4 e-nodes at first; Sin and Cos; Exp; nothing more.  Sin and Exp join classes that there were.
    assert [(step["enodes"], step["eclasses"]) for step in profile["steps"]] == [
        (6, 7),
        (7, 7),
        (7, 7),
    ]
    assert all(0 <= row["seconds"] < 60 for row in (*profile["rules"], *profile["steps"]))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines if line.startswith(("first", "second"))]
    assert any(line.startswith("1 rule without a match") for line in lines)
