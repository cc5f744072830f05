"""Each kind of claim, holding and failing; what a failure shows."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from tensat_dl.cli.main import main
from tensat_dl.diagnostics import Diagnostic, Diagnostics
from tensat_dl.language.load import load_text
from tensat_dl.rule_tests.run import run_tests
from tensat_dl.settings import ClaimSettings, ExploreSettings, Settings

RULES = """language 1
rewrite relu_relu: Relu(Relu(x)) => Relu(x)
rewrite neg_neg: Neg(Neg(x)) => x
rewrite of_weight: Add(x, w) => Sub(x, Neg(w)) where weight(w)
rule merge {
  match {
    y1 = MatMul(x, w1: T[K, N1])
    y2 = MatMul(x, w2: T[K, N2])
  }
  where weight(w1), weight(w2)
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}
op Twice(x: Tensor) -> y: Tensor { lower { y = Add(x, x) } }
rewrite twice: Add(x, x) => Twice(x)
cost model cheap_twice { Twice = 1  Add = 3  Split = 1  _ = 2 }
"""
MERGE = "input x: f32[8, 16] weight a: f32[16, 4], b: f32[16, 6] given q = MatMul(x, a)"
RELUS = "input x: f32[N, 4] given y = Relu(Relu(Relu(x)))"


def failures(body: str) -> list[Diagnostic]:
    diagnostics = Diagnostics()
    program = load_text(f'{RULES}test "t" {{ {body} }}', "rules.tsat", diagnostics)
    assert program is not None, list(diagnostics)
    return [failure for result in run_tests(program, Settings()) for failure in result.failures]


@pytest.mark.parametrize(
    "body",
    [
        f"{RELUS} expect fires relu_relu",
        f"{RELUS} expect not fires neg_neg, merge",
        f"{RELUS} expect best under nodes y = Relu(x)",
        f"{RELUS} expect best y = Relu(x)",
        f"{RELUS} expect y == Relu(x)",
        f"{RELUS} expect not y == x",
        f"{RELUS} expect Neg(Neg(Neg(x))) == Neg(x)",
        # Two roots, given in two statements; the constant is one that the rule made.
        f"{MERGE} given k = MatMul(x, b) expect fires merge "
        "expect best under nodes q, k = Split(MatMul(x, Concat(a, b, axis=1)), i64([4, 6]), "
        "axis=-1)",
        # Equal costs: what is given is as good as what a rule makes of it.
        "input x: f32[4] weight w: f32[4] given y = Add(x, w) "
        "expect fires of_weight expect best under nodes y = Add(x, w)",
        "input x: f32[4] weight w: f32[4] given y = Add(x, w) "
        "expect best under nodes y = Sub(x, Neg(w))",
        # Operands of commutative operators stand in any order.
        "input x: f32[4], z: f32[4] given y = Add(x, z) expect best y = Add(z, x)",
        "input x: f32[4] given y = Add(x, x) expect best under cheap_twice y = Twice(x)",
        # Several outputs of one operator, and one of them alone.
        "input x: f32[4, 6] given p, q = Split(x, i64([2, 2]), axis=0) "
        "given y = Neg(Neg(q)) expect best under nodes p, y = Split(x, i64([2, 2]), axis=0)",
        "input x: f32[8, 16], w: f32[8, 4] given y = MatMul(x, w) expect error E0701",
        "input x: f32[8, 16] given y = MatMull(x, x) expect error E0202",
        # Weights of every kind.
        "weight w: string[2, 3] given y = Identity(w) expect best under nodes y = Identity(w)",
        "weight w: i4[3] given y = Cast(w, to=1) expect y == Cast(w, to=1)",
        "weight w: bool[0, 3] given y = Not(w) expect not fires relu_relu",
    ],
)
def test_what_holds(body: str) -> None:
    assert failures(body) == []


@pytest.mark.parametrize(
    ("body", "code", "message"),
    [
        (f"{RELUS} expect fires neg_neg", "E0702", "`neg_neg` did not match"),
        (f"{RELUS} expect not fires relu_relu", "E0702", "`relu_relu` fired"),
        (
            f"{RELUS} expect best under nodes y = Relu(Relu(x))",
            "E0702",
            "a cheaper graph was found: nodes 1, this is 2",
        ),
        (f"{RELUS} expect best y = Sigmoid(x)", "E0702", "no rule made `Sigmoid(x)`"),
        (f"{RELUS} expect best y = x", "E0702", "`y` was not found equal to this"),
        (f"{RELUS} expect y == x", "E0702", "`y` and `x` were not found equal"),
        (f"{RELUS} expect not y == Relu(x)", "E0702", "`y` and `Relu(x)` were found equal"),
        (f"{RELUS} expect best under none y = Relu(x)", "E0702", "there is no cost model `none`"),
        (f"{RELUS} expect error E0701", "E0702", "the test does not have the error E0701"),
        (
            "input x: f32[2, 3], w: f32[2, 3] given y = MatMul(x, w) expect fires merge",
            "E0701",
            "MatMul: the inner dims of [2, 3] and [2, 3]: 3 is not 2",
        ),
        (
            "weight v: f32[9], w: f32[100000, 100000] given y = Relu(w) expect fires relu_relu",
            "E0701",
            "the weight `w` has 10,000,000,000 elements; those of a test may have 134,217,728 "
            "together",
        ),
    ],
)
def test_what_does_not_hold(body: str, code: str, message: str) -> None:
    (failure,) = failures(body)
    assert failure.code == code
    assert message in failure.message
    assert failure.span is not None


def test_a_failure_shows_what_was_found_and_the_rules_that_made_it() -> None:
    (failure,) = failures(
        f"{MERGE} given k = MatMul(x, b) expect best under cheap_twice q, k = "
        "Split(MatMul(x, Concat(a, b, axis=1)), i64([5, 5]), axis=-1)"
    )
    assert failure.message == "no rule made `Split(.., [5, 5], axis=1)`"
    assert failure.notes == (
        "found:",
        "  %1 = Concat(a, b, axis=1)   by merge",
        "  %2 = MatMul(x, %1)   by merge",
        "  q, k = Split(%2, [4, 6], axis=1)   by merge",
    )


def test_what_was_found_is_written_as_in_a_rule() -> None:
    """Without defaults (`allowzero` of Reshape), element types by name (`to` of Cast)."""
    (failure,) = failures(
        "input x: f32[4], s: i64[2] given y = Cast(Reshape(x, s), to=f16) expect best y = x"
    )
    assert failure.notes == ("found:", "  %1 = Reshape(x, s)", "  y = Cast(%1, to=f16)")


def test_what_is_left_may_be_an_input() -> None:
    (failure,) = failures("input x: f32[4] given y = Neg(Neg(x)) expect best y = Abs(x)")
    assert failure.notes == ("found:", "  y = x")


@pytest.mark.parametrize(
    ("body", "code"),
    [
        ("input x: T[4] given y = Relu(x)", "E0703"),
        ("input x: f32 given y = Relu(x)", "E0703"),
        ("input x: f32[*B] given y = Relu(x)", "E0703"),
        ("weight x: f32[N] given y = Relu(x)", "E0703"),
        ("input x: f32[4], x: f32[4] given y = Relu(x)", "E0403"),
        ("input x: f32[4] given x = Relu(x)", "E0403"),
        ("input x: f32[4] given y = Relu(x) given y = Neg(x)", "E0403"),
        ("input x: f32[4] given y = Relu(z)", "E0401"),
        ("input x: f32[4] given y = Relu(x) expect best z = Relu(x)", "E0704"),
        ("input x: f32[4] given y = Relu(x) expect fires nothing", "E0201"),
        ("input x: f32[4] given y = Relu(x) expect fires cheap_twice", "E0211"),
        ("input x: f32[4] given y = Relu(x, x)", "E0303"),
        ("input x: f32[4] given y = Relu(x) expect y == z", "E0401"),
    ],
)
def test_mistakes_are_found_when_the_file_is_checked(body: str, code: str) -> None:
    diagnostics = Diagnostics()
    assert load_text(f'{RULES}test "t" {{ {body} }}', "rules.tsat", diagnostics) is None
    assert [d.code for d in diagnostics] == [code]


@pytest.mark.parametrize(
    ("body", "note"),
    [
        (
            "input x: f32[4], w: f32[4] given y = Add(x, w) expect fires of_weight",
            "of_weight: `w` is no weight: it depends on the model's inputs",
        ),
        (
            "input x: f32[4] given y = Neg(Relu(x)) expect fires neg_neg",
            "neg_neg: `Neg(x)` does not match: `Relu(x)` is made by Relu, not by Neg",
        ),
        (
            "input x: f32[4] given a = Abs(x) given y = Neg(a) expect fires neg_neg",
            "neg_neg: `Neg(x)` does not match: `a` is made by Abs, not by Neg",
        ),
        (
            "input x: f32[4] given a = Add(x, Abs(x)) expect fires twice",
            "twice: `Add(x, x)` does not match: "
            "Add of `a`: its inputs are not those of the pattern",
        ),
    ],
)
def test_a_rule_that_does_not_fire_says_what_is_in_its_way(body: str, note: str) -> None:
    (failure,) = failures(body)
    assert failure.notes == (note,)


def test_using_names_what_runs() -> None:
    text = f"""{RULES}ruleset some {{ include neg_neg }}
    test "only neg" using some {{ {RELUS} expect best y = Relu(Relu(Relu(x))) }}
    test "only neg fires" using some {{ {RELUS} expect fires relu_relu }}
    test "both" using some, relu_relu {{ {RELUS} expect fires relu_relu }}
    """
    diagnostics = Diagnostics()
    program = load_text(text, "rules.tsat", diagnostics)
    assert program is not None, list(diagnostics)
    first, second, third = run_tests(program, Settings())
    assert first.ok and third.ok
    assert [f.message for f in second.failures] == [
        "`relu_relu` is not among the rules that run in this test"
    ]


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "rules.tsat"
    path.write_text(
        f'{RULES}test "good" {{ {RELUS} expect fires relu_relu }}\n'
        f'test "bad" {{ {RELUS} expect fires neg_neg }}\n'
    )
    assert main(["test", str(path), "--json", str(tmp_path / "out.json")]) == 4
    printed = capsys.readouterr()
    assert printed.out.splitlines() == [
        "ok      good",
        "FAILED  bad",
        f"{path}: 2 tests, 1 failed",
    ]
    assert "error[E0702]: `neg_neg` did not match" in printed.err
    report = json.loads((tmp_path / "out.json").read_text())
    assert (report["passed"], report["failed"]) == (1, 1)
    assert [test["ok"] for test in report["tests"]] == [True, False]
    assert report["tests"][1]["failures"][0]["code"] == "E0702"
    assert main(["test", str(path), "--only", "good"]) == 0
    assert main(["test", str(path), "--only", "none"]) == 0
    assert "no test with `none` in its title" in capsys.readouterr().out


@pytest.mark.slow
def test_an_explosion_is_named_where_a_claim_fails() -> None:
    """What was given is an answer all the same, found in the rows that a limit left behind."""
    names = [f"x{i}" for i in range(8)]
    given = "x0"
    for name in names[1:]:
        given = f"Add({given}, {name})"
    text = f"""@real rewrite associate: Add(Add(a, b), c) <=> Add(a, Add(b, c))
    test "all" {{
      input {", ".join(f"{name}: f32[4]" for name in names)}
      given y = {given}
      expect best y = {given}
      expect best y = Neg(x0)
    }}"""
    program = load_text(text, "rules.tsat", Diagnostics())
    assert program is not None
    settings = replace(Settings(), explore=ExploreSettings(enodes=800))
    (result,) = run_tests(program, settings)
    (failure,) = result.failures
    assert failure.message == "no rule made `Neg(x0)`"
    assert failure.notes[0].startswith("the exploration reached its limit (enodes)")


@pytest.mark.parametrize("claim", ["expect not fires r", "expect not y == x"])
def test_what_was_not_looked_for_is_not_absent(claim: str) -> None:
    """The rule fires, and makes `y` equal to `x`, where it gets to."""
    text = f"""rewrite r: Neg(Neg(x)) => x
    test "absent" {{
      input x: f32[4]
      given y = Neg(Neg(x))
      {claim}
    }}"""
    program = load_text(text, "rules.tsat", Diagnostics())
    assert program is not None
    (result,) = run_tests(program, Settings())
    assert not result.ok
    settings = replace(Settings(), explore=ExploreSettings(enodes=1))
    (result,) = run_tests(program, settings)
    (failure,) = result.failures
    assert failure.message == "this was not found, but not all was explored"
    assert failure.notes[0].startswith("the exploration reached its limit (enodes)")


def test_what_is_not_proven_in_time_does_not_hold() -> None:
    """Sums of five of one type: none is cheaper than four additions, but that takes a search."""
    text = """@real rewrite associate: Add(Add(a, b), c) <=> Add(a, Add(b, c))
    test "five" {
      input a: f32[4], b: f32[4], c: f32[4], d: f32[4], e: f32[4]
      given y = Add(Add(Add(Add(a, b), c), d), e)
      expect best under nodes y = Add(Add(Add(Add(a, b), c), d), e)
    }"""
    program = load_text(text, "rules.tsat", Diagnostics())
    assert program is not None
    (result,) = run_tests(program, Settings())
    assert result.ok
    (result,) = run_tests(program, Settings(test=ClaimSettings(proof_seconds=0.001)))
    (failure,) = result.failures
    assert failure.message == "it was not proven within 0.001 s that nothing is cheaper"
    assert failure.notes[0].startswith("this is nodes 4; what is proven is that nothing is below ")


def test_tests_of_imported_files_are_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("inner.tsat").write_text(f'{RULES}test "inner" {{ {RELUS} expect fires neg_neg }}')
    Path("outer.tsat").write_text('import "inner.tsat" as inner')
    assert main(["test", "outer.tsat"]) == 0
    assert capsys.readouterr().out.splitlines() == [
        "outer.tsat: no tests",
        "the tests of the imported inner.tsat do not run here: `tensat-dl test inner.tsat`",
    ]
    assert main(["test", "outer.tsat,inner.tsat"]) == 4
    assert "imported" not in capsys.readouterr().out


def test_virtual_operators_are_shown_as_rules_write_them() -> None:
    (failure,) = failures("input x: f32[4] given y = Twice(x) expect best y = Relu(x)")
    assert "  y = Twice(x)" in failure.notes


@pytest.mark.parametrize(("default", "judge"), [("nodes", "nodes 1"), ("measured", "roofline ")])
def test_the_best_is_that_of_the_default_cost_unless_it_measures(default: str, judge: str) -> None:
    body = "input x: f32[4] given y = Abs(Neg(x)) expect best y = Abs(Neg(x))"
    text = f'rewrite less: Abs(Neg(x)) => Abs(x) default cost {default} test "t" {{ {body} }}'
    program = load_text(text, "rules.tsat", Diagnostics())
    assert program is not None
    (result,) = run_tests(program, Settings())
    (failure,) = result.failures
    assert failure.message.startswith(f"a cheaper graph was found: {judge}")
