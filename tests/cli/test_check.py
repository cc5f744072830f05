"""`tensat-dl check` reports everything at once, as text and as JSON."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
from pathlib import Path

import pytest

GOOD = "language 1\nrewrite relu_relu: Relu(Relu(x)) => Relu(x)\n"
BAD = "language 1\nrewrite a: Relux(x) => x\nrewrite b: Relu(Relu(x)) => Relu(y)\n"


def test_a_good_file(tensat) -> None:
    Path("r.tsat").write_text(GOOD)
    done = tensat("check", "r.tsat")
    assert (done.code, done.out, done.err) == (0, "r.tsat: 1 rule, no problems\n", "")


def test_all_problems_in_one_run(tensat) -> None:
    Path("r.tsat").write_text(BAD)
    done = tensat("check", "r.tsat")
    assert done.code == 4
    assert "r.tsat:2:12" in done.err
    assert "r.tsat:3:34" in done.err
    assert done.out == "r.tsat: 2 errors\n`tensat-dl explain E0202` says more of E0202\n"


def test_rules_are_counted_as_they_are_written(tensat) -> None:
    """A rule for three operators in both directions is one rule."""
    text = "language 1\nclass P = Relu | Abs | Neg\nrewrite r for F in P: F(Neg(x)) <=> F(Abs(x))\n"
    Path("r.tsat").write_text(text)
    assert tensat("check", "r.tsat").out.startswith("r.tsat: 1 rule, ")


def test_a_model_in_the_place_of_the_rules(tensat) -> None:
    Path("m.onnx").write_bytes(b"\x08\x00")
    done = tensat("check", "m.onnx")
    assert done.code == 4
    assert "help: a model is no rule file; where a command takes both: `RULES GRAPH`" in done.err


def test_problems_as_json(tensat) -> None:
    Path("r.tsat").write_text(BAD)
    done = tensat("check", "r.tsat", "--format", "json")
    assert done.code == 4
    assert done.err == ""
    found = json.loads(done.out)["diagnostics"]
    places = [(d["severity"], d["span"]["line"], d["span"]["column"]) for d in found]
    assert places == [("error", 2, 12), ("error", 3, 34)]
    assert all(d["code"].startswith("E") and d["message"] for d in found)


def test_several_files_and_a_missing_one(tensat) -> None:
    Path("r.tsat").write_text(GOOD)
    done = tensat("check", "r.tsat, none.tsat")
    assert done.code == 4
    assert "none.tsat" in done.err


def test_a_file_of_nearly_that_name_is_offered(tensat) -> None:
    Path("mine.tsat").write_text(GOOD)
    Path("imports.tsat").write_text('language 1\nimport "mien.tsat" as m\n')
    for wrong in ("mine", "mine.tsta", "mien.tsat", "imports.tsat"):
        assert "help: did you mean `mine.tsat`?" in tensat("check", wrong).err
    assert "did you mean" not in tensat("check", "other.tsat").err


@pytest.mark.slow
def test_checking_starts_quickly_and_imports_no_engine_or_solver(tmp_path: Path) -> None:
    (tmp_path / "r.tsat").write_text(GOOD)
    script = (
        "import sys\nfrom tensat_dl.cli.main import main\n"
        "code = main(['check', 'r.tsat'])\n"
        "heavy = {'egglog', 'pyomo', 'onnxruntime', 'rich', 'onnx_ir'} & set(sys.modules)\n"
        "sys.exit(f'imported {heavy}' if heavy else code)\n"
    )
    seconds = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        done = subprocess.run(
            [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert done.returncode == 0, done.stderr
        seconds.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(seconds) < 1.2  # of the processor, which counts more where its cores are shared


def test_a_rule_is_judged_by_the_cost_model_that_is_chosen(tensat) -> None:
    Path("r.tsat").write_text(
        "rewrite a: Relu(x: T[*S]) => Max(x, T(0))\ncost model mine { Max = 1 _ = 3 }\n"
    )
    assert tensat("check", "r.tsat").out == "r.tsat: 1 rule, no problems\n"
    done = tensat("check", "r.tsat", "--cost", "nodes")
    assert (done.code, "W0408" in done.err, "under `nodes`" in done.err) == (0, True, True)
    assert tensat("check", "r.tsat", "--cost", "mine").err == ""
    done = tensat("check", "r.tsat", "--cost", "mein")
    assert (done.code, "did you mean `mine`?" in done.err) == (2, True)
    Path("tensat.toml").write_text('[cost]\nmodel = "nodes"\n')
    assert "W0408" in tensat("check", "r.tsat").err
    Path("tensat.toml").write_text('[cost]\nmodel = "of_another_file"\n')
    assert tensat("check", "r.tsat").out == "r.tsat: 1 rule, no problems\n"


@pytest.mark.parametrize("rules", ["", ",", "std,", " , my.tsat"])
def test_a_name_that_is_missing(tensat, rules: str) -> None:
    """Not the working directory, which an empty path stands for."""
    for command in (("check", rules), ("run", rules, "m.onnx"), ("verify", rules)):
        Path("m.onnx").touch()
        done = tensat(*command)
        assert (done.code, done.out) == (2, "")
        assert done.err.startswith(
            f"tensat-dl: a name is missing in `{rules}`\nhelp: name rule files"
        )
