"""`tensat-dl verify`: a table, diagnostics, exit code 4 where a rule is refuted, JSON."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

RIGHT = "language 1\nrewrite relu_relu: Relu(Relu(x)) => Relu(x)\n"
WRONG = RIGHT + "@real\nrewrite linear: Relu(Add(a, b)) => Add(Relu(a), Relu(b))\n"


@pytest.fixture(autouse=True)
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))


def test_rules_that_hold(tensat) -> None:
    Path("r.tsat").write_text(RIGHT)
    done = tensat("verify", "r.tsat", "--samples", 10)
    assert done.code == 0
    assert done.err == ""
    assert done.out.splitlines()[-1] == "r.tsat: 1 rule: 1 holds"


def test_the_opsets_that_were_drawn(tensat) -> None:
    Path("r.tsat").write_text(RIGHT)
    done = tensat("verify", "r.tsat", "--samples", 10, "-v", "--json", "v.json")
    (verdict,) = json.loads(Path("v.json").read_text())["rules"]
    assert 1 <= len(verdict["opsets"]) <= 4
    head, row = done.out.splitlines()[:2]
    assert head.split()[-1] == "opsets"
    assert row.endswith(" " + ", ".join(map(str, verdict["opsets"])))


def test_a_rule_that_is_refuted(tensat) -> None:
    Path("r.tsat").write_text(WRONG)
    done = tensat("verify", "r.tsat", "--samples", 10)
    assert done.code == 4
    assert done.out.splitlines()[-1] == "r.tsat: 2 rules: 1 holds, 1 refuted"
    assert "error[E1001]: `linear` does not hold" in done.err
    assert "r.tsat:3:1" in done.err
    assert "they differ first" in done.err


@pytest.mark.parametrize(
    ("condition", "least"),
    [("N == 64", 64), ("dim(w, 0) >= 32", 32), ("K > 40", 41), ("shape(w) == [7, 24]", 7)],
)
def test_sizes_that_a_condition_names_are_drawn(tensat, condition: str, least: int) -> None:
    """Sizes are small otherwise: without them there would be no instance."""
    sides = "MatMul(x, Neg(Neg(w: T[K, N]))) => MatMul(x, "
    rules = [
        f"rewrite {n}: {sides}{w}) where {condition}" for n, w in (("r", "w"), ("s", "Neg(w)"))
    ]
    Path("r.tsat").write_text("\n".join(["language 1", "@allow(W1001)", *rules]))
    done = tensat("verify", "r.tsat", "--json", "v.json", "--samples", 5)
    right, wrong = json.loads(Path("v.json").read_text())["rules"]
    assert (done.code, right["status"], right["instances"]) == (4, "holds", 5)
    assert wrong["status"] == "refuted"
    assert f"= {least}" in done.err or f"[{least}, 24]" in done.err


def test_a_size_that_is_not_drawn_is_no_mistake_of_the_rule(tensat) -> None:
    rule = "rewrite r: Relu(Relu(x: T[N])) => Relu(x) where N > 300"
    Path("r.tsat").write_text(f"language 1\n{rule}\n")
    done = tensat("verify", "r.tsat")
    assert done.code == 4
    assert "or only on what is not drawn, as dims beyond 256" in done.err


def test_a_verdict_on_few_instances_says_so(tensat) -> None:
    """Sizes of 1, 2, 3 and 6 that seldom come together."""
    rule = "rewrite r: Relu(Relu(x: T[A, B, C])) => Relu(x) where A + B + C == 9, A * B == 6"
    Path("r.tsat").write_text(f"language 1\n@allow(W1001)\n{rule}\n")
    done = tensat("verify", "r.tsat", "--json", "v.json")
    (verdict,) = json.loads(Path("v.json").read_text())["rules"]
    assert verdict["status"] == "holds" and 0 < verdict["instances"] < 40
    assert done.out.splitlines()[-1] == (
        f"of 1 rule fewer than 40 instances were found (r {verdict['instances']}): what the rule "
        "asks for is rarely drawn (--samples, --seed: more, others)"
    )


def test_types_that_differ(tensat) -> None:
    Path("r.tsat").write_text("language 1\n@real\nrewrite r: Add(x, Sub(c: T[N], c)) => x\n")
    done = tensat("verify", "r.tsat")
    assert done.code == 0
    assert "kept apart" in done.out
    assert done.out.splitlines()[-1] == (
        "of 1 rule some instances differ in type: the guard of types keeps both sides apart there "
        "(--unguarded refutes them)"
    )
    done = tensat("verify", "r.tsat", "--unguarded")
    assert done.code == 4
    assert "error[E1001]: `r` does not hold without the guard of types" in done.err
    assert "= they differ in type: `run` does not join them" in done.err


def test_one_rule_alone(tensat) -> None:
    Path("r.tsat").write_text(WRONG)
    done = tensat("verify", "r.tsat", "--rule", "relu_relu", "--samples", 10)
    assert done.code == 0
    assert "linear" not in done.out


def test_a_rule_that_is_not_there(tensat) -> None:
    Path("r.tsat").write_text(WRONG)
    done = tensat("verify", "r.tsat", "--rule", "relu_rela")
    assert done.code == 2
    assert "there is no rule or ruleset `relu_rela`" in done.err
    assert "relu_relu" in done.err


SEVERAL = """language 1
ruleset neg {
  rewrite twice: Neg(Neg(x)) => x
  @off("dear") rewrite thrice: Neg(Neg(Neg(x))) => Neg(x)
}
rewrite relu_relu: Relu(Relu(x)) => Relu(x)
rewrite relu_abs: Relu(Abs(x)) => Abs(x)
"""


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["neg"], ["twice"]),
        (["t*ice"], ["twice"]),
        (["thrice"], ["thrice"]),
        (["relu_*"], ["relu_relu", "relu_abs"]),
        (["*_abs", "neg"], ["twice", "relu_abs"]),
    ],
)
def test_rulesets_and_patterns(tensat, names: list[str], found: list[str]) -> None:
    """What is off is verified where it is named, and not among others."""
    Path("r.tsat").write_text(SEVERAL)
    flags = [part for name in names for part in ("--rule", name)]
    done = tensat("verify", "r.tsat", "--samples", 3, *flags, "--json", "v.json")
    assert done.code == 0
    rules = json.loads(Path("v.json").read_text())["rules"]
    assert [rule["rule"] for rule in rules] == found


@pytest.mark.parametrize(("name", "which"), [("shy", ""), ("sh*_relu", ": shy_relu")])
def test_rules_that_are_all_off_are_told_as_such(tensat, name: str, which: str) -> None:
    rules = '@off("dear") rewrite shy_relu: Relu(Relu(x)) => Relu(x)'
    Path("r.tsat").write_text(f"language 1\nruleset shy {{ {rules} }}\n")
    done = tensat("verify", "r.tsat", "--rule", name)
    assert (done.code, done.out) == (2, "")
    assert done.err == (
        f"tensat-dl: `{name}` has no rules but such as are `@off`\n"
        f"help: a rule that is `@off` is verified where it is named itself{which}\n"
    )


def test_a_rule_that_is_like_none(tensat) -> None:
    done = tensat("verify", "std", "--rule", "xyzzy")
    assert done.code == 2
    assert "help: there are: " in done.err
    assert done.err.rstrip().endswith(" more")
    assert len(done.err) < 1500


def test_json(tensat) -> None:
    Path("r.tsat").write_text(WRONG)
    done = tensat("verify", "r.tsat", "--samples", 10, "--json", "-")
    assert done.code == 4
    first, second = json.loads(done.out)["rules"]
    assert (first["rule"], first["status"], first["instances"]) == ("relu_relu", "holds", 10)
    example = second["counterexample"]
    assert {tensor["name"] for tensor in example["inputs"]} == {"a", "b"}
    assert example["left_element"] != example["right_element"]


def test_a_file_with_errors(tensat) -> None:
    Path("r.tsat").write_text("language 1\nrewrite r: Relux(x) => x\n")
    done = tensat("verify", "r.tsat")
    assert done.code == 4
    assert "E0202" in done.err
    assert done.out == ""


@pytest.mark.parametrize("samples", ["0", "-3", "many"])
def test_a_count_that_is_none(tensat, samples: str) -> None:
    Path("r.tsat").write_text(RIGHT)
    done = tensat("verify", "r.tsat", "--samples", samples)
    assert done.code == 2
    assert "--samples" in done.err


@pytest.mark.parametrize("seed", ["-1", "x"])
def test_a_seed_that_is_none(tensat, seed: str) -> None:
    Path("r.tsat").write_text(RIGHT)
    done = tensat("verify", "r.tsat", "--seed", seed)
    assert done.code == 2
    assert f"argument --seed: a whole number of at least 0, not `{seed}`" in done.err
