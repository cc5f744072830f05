"""`tensat-dl run` from rules and a model to a file, a report, an exit code."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

RELU = "language 1\nrewrite relu_relu: Relu(Relu(x)) => Relu(x)\n"
MERGE = """language 1
rule merge {
  match {
    y1 = MatMul(x, w1: T[K, N1])
    y2 = MatMul(x, w2: T[K, N2])
  }
  where weight(w1), weight(w2)
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}
cost model launches { MatMul = 10  Split = 1  Relu = 1 }
"""
WRONG = "language 1\nrewrite wrong: Relu(x) => Neg(x)\ncost model mine { Relu = 9  Neg = 1 }\n"


def outputs(path: Path, x: np.ndarray) -> list[np.ndarray]:
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return session.run(None, {"x": x})


def operators(path: Path) -> list[str]:
    return sorted(node.op_type for node in onnx.load(path).graph.node)


@pytest.fixture
def rules(tmp_path: Path):
    """Writes a rule file and gives its name."""

    def write(text: str) -> str:
        (tmp_path / "rules.tsat").write_text(text)
        return "rules.tsat"

    return write


def test_the_default_cost_of_the_rules_gives_way_to_configuration_and_flag(
    tensat, two_products, rules, tmp_path: Path
) -> None:
    run = ("run", rules(f"{RELU}default cost nodes\n"), "m.onnx")
    line = "cost model    nodes, the default of rules.tsat"
    done = tensat(*run)
    assert done.out.startswith("25.0 % cheaper (nodes 4 -> 3)")
    assert line in done.out.splitlines()
    (tmp_path / "tensat.toml").write_text('[cost]\nmodel = "flops"\n')
    configured, flagged = tensat(*run).out, tensat(*run, "--cost", "bytes").out
    assert ("(flops " in configured, "(bytes " in flagged) == (True, True)
    assert "cost model" not in configured + flagged


def test_a_model_that_onnxruntime_does_not_run_is_estimated(tensat, tmp_path: Path, rules) -> None:
    """It has no code for Erf of doubles."""
    text = """<ir_version: 8, opset_import: ["" : 17]>
    g (double[4] x) => (double[4] y) { a = Relu(x) b = Relu(a) y = Erf(b) }"""
    onnx.save(onnx.parser.parse_model(text), tmp_path / "m.onnx")
    done = tensat("run", rules(f"{RELU}default cost measured\n"), "m.onnx", "--json", "r.json")
    assert (done.code, done.err) == (0, "")
    (line,) = [line for line in done.out.splitlines() if line.startswith("cost model")]
    assert line.startswith(
        "cost model    roofline instead of measured, the default of rules.tsat: onnxruntime does"
        " not run the model (Could not find an implementation for Erf"
    )
    cost = json.loads((tmp_path / "r.json").read_text())["cost"]
    assert (cost["model"], cost["default_of"]) == ("roofline", "rules.tsat")
    assert "Erf" in cost["obstacle"]


def test_a_cheaper_model_is_written_beside_the_input(tensat, two_products, rules) -> None:
    before = two_products.read_bytes()
    done = tensat("run", rules(RELU), "m.onnx")
    assert done.code == 0, done.err
    assert done.err == ""
    assert "% cheaper (roofline" in done.out
    assert done.out.splitlines()[-1].split() == ["written", "m.opt.onnx"]
    assert two_products.read_bytes() == before
    written = two_products.with_name("m.opt.onnx")
    assert operators(written) == ["MatMul", "MatMul", "Relu"]
    x = np.random.default_rng(1).standard_normal((3, 16)).astype(np.float32)
    for expected, actual in zip(outputs(two_products, x), outputs(written, x), strict=True):
        np.testing.assert_allclose(actual, expected, rtol=1e-5, atol=1e-6)


def test_the_report_tells_what_happened(tensat, two_products, rules) -> None:
    done = tensat(
        "run", rules(MERGE), "m.onnx", "-o", "o.onnx", "--cost", "launches", "--json", "r.json"
    )
    assert done.code == 0, done.err
    assert operators(Path("o.onnx")) == ["MatMul", "Relu", "Relu", "Split"]
    report = json.loads(Path("r.json").read_text())
    assert report["status"] == "improved"
    cost = report["cost"]
    assert (cost["model"], cost["before"], cost["after"]) == ("launches", 22.0, 13.0)
    assert (cost["unit"], cost["default_of"], cost["obstacle"]) == ("", "", "")
    assert report["nodes"]["before"] == {"MatMul": 2, "Relu": 2}
    assert report["nodes"]["after"] == {"MatMul": 1, "Relu": 2, "Split": 1}
    (merge,) = [rule for rule in report["rules"] if rule["name"] == "merge"]
    assert merge["applied"] >= 1
    assert merge["in_answer"] >= 1
    assert report["exploration"]["stopped_by"] == "saturated"
    assert report["extraction"]["status"] == "optimal"
    assert report["extraction"]["gap"] == 0
    assert report["verification"]["ok"] is True
    assert report["verification"]["samples"] == 3
    assert report["output"] == "o.onnx"
    assert report["seconds"]["total"] > 0


def test_where_nothing_is_better_the_model_is_written_unchanged(
    tensat, two_products, rules
) -> None:
    done = tensat("run", rules(MERGE), "m.onnx", "--cost", "nodes", "--json", "-")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    assert report["status"] == "unchanged"
    assert report["cost"]["before"] == report["cost"]["after"] == 4
    assert "nothing better found" in done.err
    assert operators(Path("m.opt.onnx")) == ["MatMul", "MatMul", "Relu", "Relu"]


def test_the_input_is_overwritten_only_by_force(tensat, two_products, rules) -> None:
    before = two_products.read_bytes()
    done = tensat("run", rules(RELU), "m.onnx", "-o", "./m.onnx")
    assert done.code == 2
    assert two_products.read_bytes() == before
    assert tensat("run", rules(RELU), "m.onnx", "-o", "./m.onnx", "--force").code == 0
    assert operators(two_products) == ["MatMul", "MatMul", "Relu"]


def test_a_wrong_rule_is_found_out_and_nothing_is_written(
    tensat, two_products, rules, tmp_path
) -> None:
    before = sorted(tmp_path.iterdir())
    done = tensat("run", rules(WRONG), "m.onnx", "--cost", "mine", "--json", "r.json")
    assert done.code == 5
    assert "does not compute what the original does" in done.err
    assert "or its condition is; applied were `wrong`\n" in done.err
    assert sorted(tmp_path.iterdir()) == [*before, tmp_path / "rules.tsat"]


def test_no_check_writes_it_anyway(tensat, two_products, rules) -> None:
    done = tensat("run", rules(WRONG), "m.onnx", "--cost", "mine", "--no-check")
    assert done.code == 0, done.err
    assert "verification  switched off" in done.out


@pytest.mark.parametrize("content", [b"", b"not a model", b"\x08\x08"])
def test_a_bad_model_is_exit_3(tensat, rules, tmp_path, content: bytes) -> None:
    (tmp_path / "m.onnx").write_bytes(content)
    done = tensat("run", rules(RELU), "m.onnx")
    assert done.code == 3
    assert done.err.startswith("tensat-dl: ")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("rewrite r: Relux(x) => x", "error[E0"),
        ("rewrite r: Relu(x) => y", "error[E0"),
        ("rewrite r: Relu(x => x", "error[E0"),
    ],
)
def test_a_bad_rule_file_is_exit_4(tensat, two_products, rules, text: str, message: str) -> None:
    done = tensat("run", rules(f"language 1\n{text}\n"), "m.onnx")
    assert done.code == 4
    assert message in done.err
    assert not Path("m.opt.onnx").exists()


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--solver", "gplk"], "did you mean `glpk`?"),
        (["--solver", "scip"], "cannot be used"),
        (["--cost", "roofine"], "did you mean `roofline`?"),
        (["--json", "none/r.json"], "the directory none of the report does not exist"),
    ],
)
def test_what_cannot_be_used_is_exit_2(
    tensat, two_products, rules, flags: list[str], message: str
) -> None:
    done = tensat("run", rules(RELU), "m.onnx", *flags)
    assert done.code == 2
    assert message in done.err


def test_several_rule_files_and_settings_of_the_directory(
    tensat, two_products, rules, tmp_path
) -> None:
    rules(RELU)
    (tmp_path / "merge.tsat").write_text(MERGE)
    (tmp_path / "tensat.toml").write_text(
        '[cost]\nmodel = "launches"\n[extract]\nsolver = "highs"\nreductions = []\n'
    )
    done = tensat("run", "rules.tsat,merge.tsat", "m.onnx", "--dim", "batch=2")
    assert done.code == 0, done.err
    assert operators(Path("m.opt.onnx")) == ["MatMul", "Relu", "Split"]
    assert "with highs" in done.out


def test_overridable_initializers_are_constants_only_on_demand(tensat, two_products, rules) -> None:
    proto = onnx.load(two_products)
    wq = next(t for t in proto.graph.initializer if t.name == "wq")
    proto.graph.input.append(onnx.helper.make_tensor_value_info("wq", wq.data_type, wq.dims))
    onnx.save(proto, two_products)
    assert tensat("run", rules(RELU), "m.onnx").code == 0
    written = onnx.load(two_products.with_name("m.opt.onnx"))
    assert [value.name for value in written.graph.input] == ["x", "wq"]
    assert tensat("run", "rules.tsat", "m.onnx", "--freeze-initializers").code == 0
    written = onnx.load(two_products.with_name("m.opt.onnx"))
    assert [value.name for value in written.graph.input] == ["x"]


def test_a_conditional_that_always_takes_one_branch_is_noted(tensat, tmp_path, rules) -> None:
    text = (
        '<ir_version: 9, opset_import: ["": 18]> g (float[2] x) => (float[2] y) <bool c = {1}>'
        "{ y = If(c) <then_branch = t () => (float[2] p) { p = Neg(x) },"
        "             else_branch = e () => (float[2] q) { q = Abs(x) }> }"
    )
    onnx.save(onnx.parser.parse_model(text), tmp_path / "if.onnx")
    done = tensat("run", rules(RELU), "if.onnx")
    assert done.code == 0, done.err
    assert "note: 1 If node takes the same branch at every run, and became it" in done.out
    assert operators(tmp_path / "if.opt.onnx") == ["Neg"]


def test_a_rule_that_acts_in_vain_is_noted(tensat, two_products) -> None:
    Path("r.tsat").write_text("rewrite up: Relu(x: T[*S]) => Max(x, T(0))\n")
    done = tensat("run", "r.tsat", two_products, "--cost", "nodes", "--no-check")
    assert "note: `up` acts, and can make nothing cheaper under `nodes`" in done.out
    done = tensat("run", "r.tsat", two_products, "--no-check", "--force")
    assert "`up` acts" not in done.out
