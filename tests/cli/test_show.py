"""Every stage can be printed, and says what is known of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensat_dl.cli.show import STAGES
from tensat_dl.cli.stages import STAGE_TEXT

RULES = """#! About these rules.
language 1

## ReLU is idempotent.
rewrite relu_relu: Relu(Relu(x)) => Relu(x)

rule merge {
  match {
    y1 = MatMul(x, w1: T[K, N1])
    y2 = MatMul(x, w2: T[K, N2])
  }
  where weight(w1), weight(w2)
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}
"""


@pytest.fixture
def show(tensat, two_products: Path, tmp_path: Path):
    """Prints a stage of RULES and the model of two products."""
    (tmp_path / "r.tsat").write_text(RULES)

    def run(stage: str, *flags: str, model: str = "m.onnx") -> str:
        done = tensat("show", "r.tsat", *([model] if model else []), "--stage", stage, *flags)
        assert done.code == 0, done.err
        return done.out

    return run


def test_every_stage_of_the_help_has_its_text() -> None:
    assert [name for name, *_ in STAGES] == list(STAGE_TEXT)


def test_ast_is_the_file_in_canonical_form(show) -> None:
    assert show("ast", model="") == RULES


def test_checked_rules_are_flat(show) -> None:
    out = show("checked", model="")
    assert "match y1 = MatMul(x, w1)" in out
    assert "type w1: T[K, N1]" in out
    assert "if weight(w1)" in out


def test_egglog_program_has_a_constructor_for_each_operator(show) -> None:
    without, with_model = show("egglog", model=""), show("egglog")
    assert "(constructor op_MatMul " in without
    assert "(constructor op_Split " in with_model


def test_facts_are_those_of_the_model(show) -> None:
    out = show("facts")
    assert out.count("(op_MatMul ") == 2
    assert out.count("(op_Relu ") == 2
    assert out.count("(Input 0)") == 1


def test_egraph_has_what_the_rules_made(show) -> None:
    out = show("egraph")
    assert "  input x\n" in out
    assert "f32[batch, 16]" in out
    assert "by merge, generation 1" in out
    assert "f32[16, 8] (depends on weights alone)" in out


def test_model_is_a_program_in_binaries(show) -> None:
    out = show("model")
    assert "minimise " in out
    assert "binary, node" in out
    assert " == 1\n" in out
    published = show("model", "--set", "extract.method=tensat-ilp")
    assert published.count(": binary") > out.count(": binary")


def test_model_has_a_row_for_each_limit(show) -> None:
    out = show("model", "--set", "extract.at_most={Split=0, MatMul=2, Relu=9}")
    rows = out.partition("# at most 0 Split\n")[2].splitlines()
    # The merged product is the only Split; two products are needed in any case but by it.
    assert rows[0].strip() in {f"x{i} <= 0" for i in range(99)}
    assert rows[1] == "# at most 2 MatMul" and rows[2].endswith("<= 1")
    assert rows[3].startswith("# at most 9 Relu")


def test_selection_has_the_cost_of_its_nodes(show) -> None:
    out = show("selection", "--cost", "nodes")
    assert out.startswith("cost 3, optimal\n")
    assert out.count("cost 1\n") == 3
    assert "Split" not in out


def test_problems_are_reported_as_by_check(tensat, tmp_path: Path) -> None:
    (tmp_path / "bad.tsat").write_text("language 1\nrewrite r: Relu(x => x\n")
    for stage in ("ast", "checked", "egglog"):
        done = tensat("show", "bad.tsat", "--stage", stage)
        assert done.code == 4
        assert "never closed" in done.err


def test_a_newer_opset_may_be_allowed(tensat, two_products: Path, tmp_path: Path) -> None:
    """Mish is of ai.onnx 18, the model of 17.  That the rule is wrong does not matter here."""
    (tmp_path / "r.tsat").write_text("language 1\nrewrite r: Relu(Relu(x)) => Mish(x)\n")
    command = ("show", "r.tsat", "m.onnx", "--stage", "selection", "--cost", "nodes")
    assert tensat(*command).out.startswith("cost 4, optimal\n")
    allowed = tensat(*command, "--opset", "18").out
    assert allowed.startswith("cost 3, optimal\n") and "Mish" in allowed
