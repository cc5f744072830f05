"""The stories of `examples/` are so: their commands run and what their pages claim holds."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parent.parent.parent / "examples"


@pytest.fixture
def story(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """A copy of one example, with its model made by its own script."""
    folder = tmp_path / "story"
    shutil.copytree(EXAMPLES / request.param, folder)
    run(folder, sys.executable, "make_model.py")
    return folder


def run(folder: Path, *command: str, expect: int = 0) -> str:
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == expect, done.stdout + done.stderr
    return done.stdout


def tensat(folder: Path, *arguments: str, expect: int = 0) -> str:
    return run(folder, sys.executable, "-m", "tensat_dl", *arguments, expect=expect)


def report(folder: Path, *arguments: str) -> dict[str, Any]:
    tensat(folder, "run", *arguments, "--json", "report.json")
    found = json.loads((folder / "report.json").read_text())
    assert found["verification"]["ok"]
    return dict(found)


def rule(found: dict[str, Any], name: str) -> dict[str, Any]:
    return next(row for row in found["rules"] if row["name"] == name)


@pytest.mark.parametrize("story", ["01-first-rules"], indirect=True)
def test_first_rules(story: Path) -> None:
    assert tensat(story, "check", "first.tsat") == "first.tsat: 2 rules, no problems\n"
    found = report(story, "first.tsat", "model.onnx")
    assert found["nodes"]["after"] == {"MatMul": 1, "Relu": 1, "Softmax": 1, "Transpose": 1}
    assert found["exploration"]["stopped_by"] == "saturated"
    told = tensat(story, "why-not", "relu_mean", "model.onnx", "--rules", "mean.tsat")
    assert told in (story / "README.md").read_text()
    text = (story / "first.tsat").read_text().replace("=> Relu(x)", "=> Relux")
    (story / "wrong.tsat").write_text(text)
    run(story, sys.executable, "-m", "tensat_dl", "check", "wrong.tsat", expect=4)


@pytest.mark.parametrize("story", ["01-first-rules"], indirect=True)
def test_a_rule_cannot_change_a_type(story: Path) -> None:
    """perm [0, 2, 1] then [2, 1, 0]: composed the wrong way round it gives other dims."""
    text = (story / "first.tsat").read_text().replace("compose(p, q)", "compose(q, p)")
    (story / "first.tsat").write_text(text)
    found = report(story, "first.tsat", "model.onnx")
    assert found["nodes"]["after"]["Transpose"] == 2
    assert rule(found, "transpose_transpose")["applied"] == 0


@pytest.mark.parametrize("story", ["02-merge-and-cycles"], indirect=True)
@pytest.mark.parametrize(
    ("policy", "applied", "enodes"), [("check", 1, 14), ("allow", 2, 17), ("prune", 2, 17)]
)
def test_merge_and_cycles(story: Path, policy: str, applied: int, enodes: int) -> None:
    """8 e-nodes; each merge makes 3 (Concat, MatMul, Split).  A product costs 1, all else 0.1:
    4 products, 2 splits, a Concat and a Tanh; with the cycle it would be 3 products and 0.6."""
    found = report(story, "merge.tsat", "model.onnx", "--set", f"explore.cycles={policy}")
    assert found["nodes"]["after"] == {"Concat": 1, "MatMul": 4, "Split": 2, "Tanh": 1}
    assert found["cost"]["before"] == pytest.approx(7.1)
    assert found["cost"]["after"] == pytest.approx(4.4)
    assert found["extraction"]["status"] == "optimal"
    assert rule(found, "merge_left_operands")["applied"] == applied
    assert found["exploration"]["enodes"] == enodes


@pytest.mark.parametrize("story", ["03-real-model"], indirect=True)
def test_parts_of_std(story: Path) -> None:
    """Three transitions pool first; that removes no node but the folded 242 Unsqueezes."""
    found = report(story, "pooling.tsat", "model.onnx")
    assert rule(found, "pool_before_conv")["applied"] == 3
    before, after = (sum(found["nodes"][when].values()) for when in ("before", "after"))
    assert (before, after) == (910, 910 - 242)
    assert 0 < found["verification"]["max_difference"] < 1e-5


@pytest.mark.parametrize("story", ["04-solvers-and-costs"], indirect=True)
def test_solvers_and_costs(story: Path) -> None:
    """Left to right 64^3 + 64^3 + 64^2 multiplications; right to left 3 * 64^2."""
    found = report(story, "chain.tsat", "model.onnx")
    assert found["cost"]["before"] == 2 * 64**3 + 64**2
    assert found["cost"]["after"] == 3 * 64**2
    assert found["extraction"]["solver"] == "glpk"
    found = report(story, "chain.tsat", "model.onnx", "--config", "highs.toml")
    assert found["cost"]["after"] == 2 * 3 * 64**2
    assert found["extraction"]["solver"] == "highs"
    exact = report(story, "chain.tsat", "model.onnx", "--set", "rules.exact=true")
    assert exact["status"] == "unchanged"
