"""Where a rule that fires stands: costs that a person can add up.

In `ours` a Relu costs 10, a Tan 5, a Cos 4, a Sin 3, a Split 2, and all else 1.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from onnx_text import model

from tensat_dl.cli.stages import Subject
from tensat_dl.cli.standing import standing_of
from tensat_dl.diagnosis.verdict import Difference, Place, Standing, Verdict
from tensat_dl.settings import CostSettings, ExtractSettings, Settings

Ask = Callable[..., Standing]

CHAIN = "(float[4] x) => (float[4] y) { a = Abs(x) b = Neg(a) y = Relu(b) }"
OURS = "cost model ours { Relu = 10  Tan = 5  Cos = 4  Sin = 3  Split = 2  _ = 1 }\n"
MERGE = """rule r {
  match { y1 = Relu(x1: T[A, B]) y2 = Relu(x2: T[C, B]) }
  emit { y1, y2 = Split(Relu(Concat(x1, x2, axis=0)), i64([A, C]), axis=0) }
}"""
TWO = "(float[2,4] p, float[3,4] q) => (float[2,4] y, float[3,4] z) { y = Relu(p) z = Relu(q) }"


@pytest.fixture
def ask(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Ask:
    monkeypatch.chdir(tmp_path)

    def ask(
        rules: str,
        graph: str,
        at: str | None = None,
        cost: str = "ours",
        opset: int = 17,
        **extract: object,
    ) -> Standing:
        onnx.save(model(graph, opset), "m.onnx")
        Path("r.tsat").write_text(f"language 1\n{OURS}{rules}\n")
        settings = Settings(
            cost=CostSettings(model=cost),
            extract=ExtractSettings(**extract),  # type: ignore[arg-type]
        )
        return standing_of(Subject("r.tsat", Path("m.onnx"), settings), "r", at)

    return ask


def rows(standing: Standing) -> set[Difference]:
    return set(standing.differences)


def test_in_the_answer(ask: Ask) -> None:
    """Sin(Abs(x)): 3 + 1, of Abs, Neg and Relu 12."""
    found = ask("rewrite r: Relu(Neg(x)) => Sin(x)", CHAIN)
    assert (found.verdict, found.cost) == (Verdict.IN_ANSWER, 4)
    assert found.places == (Place("`y`", "Sin made by rule `r`", "r"),)


def test_dearer(ask: Ask) -> None:
    """Relu(Cos(x)): 10 + 4, against 12."""
    found = ask("rewrite r: Neg(Abs(x)) => Cos(x)", CHAIN)
    assert (found.verdict, found.cost, found.cost_with) == (Verdict.DEARER, 12, 14)
    assert found.proven and found.least == 14
    assert rows(found) == {
        Difference("`b`", "Neg of `b`", 1, "Cos made by rule `r`", 4),
        Difference("`a`", "Abs of `a`", 1, "", 0),
    }


def test_as_cheap(ask: Ask) -> None:
    """Sigmoid(Tanh(x)) is 2, as is Neg(Abs(x)); of equals the original is taken."""
    found = ask("rewrite r: Neg(Abs(x)) => Sigmoid(Tanh(x))", CHAIN)
    assert (found.verdict, found.cost, found.cost_with) == (Verdict.EQUAL, 12, 12)
    assert found.proven and found.reason.endswith("`extract.ties` decides: nodes, original")


def test_another_node_of_the_tensor_is_cheaper(ask: Ask) -> None:
    """`y` as Tan(Neg(Abs(x))) costs 7; as Cos(Sin(Abs(x))) 8."""
    rules = "rewrite r: Relu(Neg(x)) => Cos(Sin(x))\nrewrite s: Relu(x) => Tan(x)"
    found = ask(rules, CHAIN)
    assert (found.verdict, found.cost, found.cost_with) == (Verdict.DEARER, 7, 8)
    assert Difference("`y`", "Tan made by rule `s`", 5, "Cos made by rule `r`", 4) in rows(found)


def test_a_tensor_that_the_answer_has_no_use_for(ask: Ask) -> None:
    """`s` computes `y` without `b`.  To compute `b` by `r` and leave it would cost 3 + 1; to use it
    takes the Relu, 10 + 1."""
    rules = "rewrite r: Neg(Abs(x)) => Tanh(x)\nrewrite s: Relu(Neg(Abs(x))) => Sin(x)"
    found = ask(rules, CHAIN)
    assert (found.verdict, found.cost, found.cost_with) == (Verdict.DEARER, 3, 11)
    assert found.proven
    assert rows(found) == {
        Difference("`y`", "Sin made by rule `s`", 3, "Relu of `y`", 10),
        Difference("`b`", "", 0, "Tanh made by rule `r`", 1),
    }


def test_other_rules_go_on_from_it(ask: Ask) -> None:
    """What `r` makes is not in the answer; Sin is, which `s` made of it."""
    rules = "rewrite r: Neg(Abs(x)) => Tan(Tanh(x))\nrewrite s: Relu(Tan(Tanh(x))) => Sin(x)"
    for at in (None, "b"):
        found = ask(rules, CHAIN, at)
        assert (found.verdict, found.cost) == (Verdict.LEADS, 3)
        assert found.places == (Place("`y`", "Sin made by rule `s`", "s"),)


def test_the_model_has_what_it_found_equal(ask: Ask) -> None:
    graph = "(float[4] x) => (float[4] y) { a = Relu(x) b = Relu(a) y = Neg(b) }"
    found = ask("rewrite r: Relu(Relu(x)) => Relu(x)", graph)
    assert (found.verdict, found.cost) == (Verdict.IN_ANSWER, 11)
    assert found.places == (Place("`a`", "Relu of `a`", ""),)


def test_a_tensor_of_the_pattern_is_the_result(ask: Ask) -> None:
    graph = "(float[4] x) => (float[4] y) { a = Abs(x) b = Neg(a) c = Neg(b) y = Relu(c) }"
    found = ask("rewrite r: Neg(Neg(x)) => x", graph)
    assert (found.verdict, found.cost) == (Verdict.IN_ANSWER, 11)
    assert found.places == (Place("`a`", "Abs of `a`", ""),)


def test_several_outputs(ask: Ask) -> None:
    """Concat 1, Relu 10, Split 2: 13, against two Relus, 20.  With Relu at 1 of `nodes` the Relus
    are 2 nodes and the others 3; both outputs are of the one Split."""
    found = ask(MERGE, TWO)
    assert (found.verdict, found.cost) == (Verdict.IN_ANSWER, 13)
    assert {place.tensor for place in found.places} == {"`y`", "`z`"}
    found = ask(MERGE, TWO, cost="nodes")
    assert (found.verdict, found.cost, found.cost_with) == (Verdict.DEARER, 2, 3)
    split = "Split made by rule `r`"
    assert rows(found) == {
        Difference("`y`", "Relu of `y`", 1, split, 1),
        Difference("`z`", "Relu of `z`", 1, split, 0),
        Difference("a new Concat", "", 0, "Concat made by rule `r`", 1),
        Difference("a new Relu", "", 0, "Relu made by rule `r`", 1),
    }


def test_no_answer_with_it(ask: Ask) -> None:
    """Sin(Neg(x)) for Neg(x) needs itself; of two Tan one is too many."""
    found = ask("rewrite r: Neg(x) => Sin(Neg(x))", CHAIN)
    assert found.verdict is Verdict.NONE and found.proven
    assert found.reason == "what it makes needs the tensor that it stands for"
    found = ask("rewrite r: Relu(x) => Tan(Tan(x))", CHAIN, at_most={"Tan": 1})
    assert (found.verdict, found.cost) == (Verdict.NONE, 12)
    assert found.reason == "none is within the limits: at most 1 Tan"


def test_what_cannot_be_written(ask: Ask) -> None:
    """A part of a shape is of opset 15."""
    graph = "(float[N,4] x) => (int64[2] y) { y = Shape(x) }"
    halves = "Concat(Shape(x, start=0, end=1), Shape(x, start=1, end=2), axis=0)"
    found = ask(f"rewrite r: Shape(x: f32[A, B]) => {halves}", graph, opset=13)
    assert found.verdict is Verdict.NONE
    assert found.reason == (
        "what it makes cannot be written: "
        "off at ai.onnx 13: r (for want of Shape; --opset 15 has it)"
    )


def test_at_one_place(ask: Ask) -> None:
    """Of two Negs the second is worth it: its Relu goes, too."""
    graph = """(float[4] x) => (float[4] y, float[4] z) {
      a = Neg(x) y = Abs(a) b = Exp(x) c = Neg(b) z = Relu(c) }"""
    rules = "rewrite r: Neg(x) => Tan(x)\nrewrite s: Relu(Tan(x)) => Tanh(x)"
    assert ask(rules, graph).verdict is Verdict.LEADS
    found = ask(rules, graph, "a")
    assert (found.verdict, found.cost, found.cost_with) == (Verdict.DEARER, 4, 8)


def test_what_is_not_proven_is_said_so(ask: Ask) -> None:
    """A greedy method proves nothing."""
    found = ask("rewrite r: Neg(Abs(x)) => Cos(x)", CHAIN, method="greedy-dag")
    assert (found.cost, found.cost_with) == (12, 14)
    assert found.proven is (found.least == 14)


def test_the_answer_has_a_part_of_the_right_side(ask: Ask) -> None:
    """What is added is zero, and `s` drops it: the Tanh is left, of the right side, too."""
    graph = "(float[4] x) => (float[4] y) { a = Abs(x) y = Relu(a) }"
    rules = """rewrite r: Relu(x: f32[*S]) => Add(Tanh(x), f32(0.0))
    rewrite s: Add(x, 0) => x"""
    found = ask(rules, graph)
    assert (found.verdict, found.cost) == (Verdict.IN_ANSWER, 2)
    assert found.places == (Place("`y`", "Tanh made by rule `r`", "r"),)


def test_it_adds_nothing(ask: Ask) -> None:
    """A Softmax along the last axis, however that is said, is one e-node."""
    graph = "(float[4,8] x) => (float[4,8] y) { a = Softmax<axis=1>(x) y = Relu(a) }"
    found = ask("rewrite r: Softmax(x: f32[A, B], axis=k) => Softmax(x, axis=-1)", graph)
    assert found.verdict is Verdict.NOTHING


def test_rules_that_match_by_way_of_a_relation(ask: Ask) -> None:
    """`x` is bound by the relation alone: the e-nodes that the rule made can be told, no more."""
    derive = """relation from(y: Tensor, x: Tensor)
    derive from(y, x) if y = Abs(x)
    """
    makes = "rule r { match { y = Neg(a) } where from(a, x) emit { y = Tanh(x) } }"
    found = ask(derive + makes, CHAIN)
    assert (found.verdict, found.cost) == (Verdict.IN_ANSWER, 11)
    assert found.places == (Place("`b`", "Tanh made by rule `r`", "r"),)
    finds = "rule r { match { y = Neg(a) } where from(a, x) emit { y = x } }"
    assert ask(derive + finds, CHAIN).verdict is Verdict.UNTRACED


ZERO = "(float[4] x) => (float[4] y) <float[4] z = {0, 0, 0, 0}> "


def test_what_a_rule_found_constant_is_an_effect(ask: Ask) -> None:
    """By `r` the product is zero, by `plus` the sum is Cos: what is left costs 4 + 5."""
    rules = """rewrite r: Mul(x, 0): T[*S] => Expand(T(0), i64([*S]))
    rewrite plus: Add(x, 0) => x"""
    graph = ZERO + "{ a = Sin(x) b = Mul(a, z) c = Cos(x) d = Add(c, b) y = Tan(d) }"
    found = ask(rules, graph)
    assert (found.verdict, found.cost) == (Verdict.EFFECT, 9)
    assert found.places == (Place("`b`", "Mul of `b`", ""),)
    assert ask(rules, graph, "b").places == found.places


def test_what_a_rule_found_equal_on_the_way_is_an_effect(ask: Ask) -> None:
    """Relu(a) is Sin(x) by way of Tan(x), which `r` found equal to it and the answer has not."""
    found = ask(
        """rewrite r: Relu(Abs(x)) => Tan(x)
        rewrite other: Tan(x) => Sin(x)""",
        "(float[4] x) => (float[4] y, float[4] z, float[4] w) "
        "{ a = Abs(x) p = Relu(a) y = Neg(p) q = Tan(x) z = Neg(q) s = Sin(x) w = Neg(s) }",
    )
    assert (found.verdict, found.cost) == (Verdict.EFFECT, 4)
    assert found.places == (Place("`p`", "Relu of `p`", ""),)
