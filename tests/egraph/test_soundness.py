"""What no rule can do: change a type, merge random values, look into opaque nodes, contradict."""

from __future__ import annotations

from collections import Counter

import pytest
from line import Line, applications, explore
from onnx_text import model, operators, terms

from tensat_dl.errors import ExitCode, UnsoundRuleError, VerificationError

RESHAPE = "rewrite r: Reshape(x, s) => x"
CAST = "rewrite r: Cast(x, to=T) => x where T == T"


@pytest.mark.parametrize(
    ("rule", "dims", "text", "fires"),
    [
        (RESHAPE, "float[6]", "<int64[1] s = {6}> { a = Reshape(x, s)", False),
        (RESHAPE, "float[2,3]", "<int64[2] s = {2, 3}> { a = Reshape(x, s)", True),
        (CAST, "double[2,3]", "{ a = Cast<to=11>(x)", False),
        (CAST, "float[2,3]", "{ a = Cast<to=1>(x)", True),
        ("rewrite r: Add(x, w) => x", "float[4,2,3]", "<float[4,1,1] w> { a = Add(x, w)", False),
        ("rewrite r: Transpose(x, perm=p) => x", "float[3,2]", "{ a = Transpose(x)", False),
        ("rewrite r: ReduceMax(x, a) => x", "float[1,3]", "{ a = ReduceMax<axes=[0]>(x)", False),
    ],
)
def test_a_right_side_of_another_type_is_never_joined(
    rule: str, dims: str, text: str, fires: bool
) -> None:
    saturated = explore(rule, model(f"(float[2,3] x) => ({dims} y) {text} y = Neg(a) }}"))
    [neg] = applications(saturated, "Neg")
    assert (neg.children[0] == saturated.value_class["x"]) == fires
    count = saturated.exploration.rules["r"]
    assert (count.applied > 0, count.rejected > 0) == (fires, not fires)


def test_a_right_side_that_is_filled_with_another_number_is_never_joined() -> None:
    graph = model(
        "(float[3,4] x) => (float[3,4] y) <float one = {1}, int64[2] s = {3, 4}>"
        " { a = Expand(one, s) y = Mul(x, a) }"
    )
    rules = "rewrite r: Expand(x: f32, s) => Expand(f32({}), s)"
    for number, joined in (("1", True), ("2", False)):
        count = explore(rules.format(number), graph).exploration.rules["r"]
        assert (count.applied > 0, count.rejected > 0) == (joined, not joined)


def test_an_ill_typed_right_side_leaves_nothing_behind() -> None:
    """Not even its parts, which are well typed."""
    rule = "rewrite r: Relu(x) => MatMul(Neg(x), x)"
    saturated = explore(rule, model("(float[2,3] x) => (float[2,3] y) { y = Relu(x) }"))
    assert len(applications(saturated)) == 1


@pytest.mark.parametrize(
    "text", ["RandomNormalLike(x)", "Bernoulli(x)", "Dropout(x, ratio, training)"]
)
def test_random_operators_never_merge(line: Line, text: str) -> None:
    graph = model(
        f"(float[2] x) => (float[2] y, float[2] p) <float ratio = {{0.5}}, bool training = {{1}}> "
        f"{{ a = {text} b = {text} y = Sub(a, b) c = Relu(x) p = Relu(c) }}"
    )
    rules = "rewrite r: Sub(a, a) => Mul(a, f32(0))\nrewrite s: Relu(Relu(x)) => Relu(x)"
    answer = line(rules, graph)
    kind = text.split("(")[0]
    assert operators(answer.model) == sorted([kind, kind, "Sub", "Relu"])
    assert answer.outcome.exploration.rules["r"].matches == 0


def test_rules_make_no_random_operators() -> None:
    """They would be one where there were two."""
    rules = "rewrite r: Neg(Dropout(x, r, t, **o)) => Dropout(Neg(x), r, t, **o)"
    graph = model(
        """(float[2] x) => (float[2] y, float[2] z) <float r = {0.5}, bool t = {1}>
        { a = Dropout(x, r, t) b = Dropout(x, r, t) y = Neg(a) z = Neg(b) }"""
    )
    saturated = explore(rules, graph)
    assert len(set(saturated.outputs)) == 2
    assert saturated.exploration.rules["r"].applied == 0


BRANCHES = """{ a = Relu(x) b = Relu(a)
  y = If (c) <
    then_branch = t () => (float[2] p) { n = Neg(b)  p = Neg(n) },
    else_branch = e () => (float[2] q) { q = Identity(x) }
  >
  d = Neg(y) e = Neg(d) z = Sin(e)
}"""


def test_control_flow_is_optimised_around_and_inside(line: Line) -> None:
    """Its captured values included.  A branch gives no outer value by itself: an Identity does."""
    graph = model(f"(float[2] x, bool c) => (float[2] y, float[2] z) {BRANCHES}")
    rules = "rewrite r: Relu(Relu(x)) => Relu(x)\nrewrite s: Neg(Neg(x)) => x"
    answer = line(rules, graph)
    assert operators(answer.model) == ["If", "Relu", "Sin"]
    [branch] = [node for node in answer.model.graph.node if node.op_type == "If"]
    then = next(a.g for a in branch.attribute if a.name == "then_branch")
    assert [node.op_type for node in then.node] == ["Identity"]


def test_a_loop_passes_through(line: Line) -> None:
    graph = model(
        """(float[2] x) => (float[2] y) <int64 n = {3}, bool go = {1}>
        { a = Neg(x) b = Neg(a) s = Loop (n, go, b) <
            body = l (int64 i, bool c, float[2] v) => (bool k, float[2] w)
            { k = Identity(c)  w = Add(v, b) }
          >
          y = Relu(s)
        }"""
    )
    answer = line("rewrite s: Neg(Neg(x)) => x", graph)
    assert operators(answer.model) == ["Loop", "Relu"]


def test_functions_of_the_model_and_unknown_operators_pass_through() -> None:
    graph = model(
        """(float[2] x) => (float[2] y)
        { a = Neg(x) b = Neg(a) c = com.acme.Mystery<k=3>(b) y = Identity(c) }""",
        com_acme=1,
    )
    saturated = explore("rewrite s: Neg(Neg(x)) => x", graph)
    [mystery] = applications(saturated, "Mystery")
    assert mystery.children == (saturated.value_class["x"],)


CONTRADICTION = """
rewrite three: Abs(s: i64[1]) => i64([3])
rewrite four: Abs(s: i64[1]) => i64([4])
"""


def test_rules_that_contradict_each_other_stop_the_run() -> None:
    """Each is well typed alone; together they make 3 and 4 one tensor."""
    graph = model("(float[1] x, int64[1] s) => (float[N] y) { t = Abs(s) y = Expand(x, t) }")
    with pytest.raises(UnsoundRuleError, match="`four`, `three` is unsound") as caught:
        explore(CONTRADICTION, graph)
    assert caught.value.exit_code is ExitCode.BAD_RULES == 4


def test_only_rules_that_can_have_done_it_are_named() -> None:
    """`five` acts, but on another tensor, and `relu` matches nothing here."""
    graph = model(
        "(float[1] x, int64[1] s, float[4] z) => (float[N] y, float[4] w) "
        "{ t = Abs(s) y = Expand(x, t) a = Neg(z) w = Neg(a) }"
    )
    other = "rewrite five: Neg(Neg(x)) => x  rewrite relu: Relu(Relu(x)) => x"
    with pytest.raises(UnsoundRuleError, match="one of the rules `four`, `three` is unsound"):
        explore(CONTRADICTION + other, graph)


def test_a_wrong_rule_of_the_right_type_is_found_by_verification(line: Line) -> None:
    graph = model("(float[2] x) => (float[2] y) { a = Neg(x) y = Relu(a) }")
    with pytest.raises(VerificationError):
        line("rewrite r: Relu(Neg(x)) => Relu(x)", graph)


def test_outputs_and_names_survive(line: Line) -> None:
    """Two outputs that are one class, an input that is an output, an unused input."""
    graph = model(
        """(float[2] x, float[2] unused) => (float[2] y, float[2] z, float[2] w)
        { a = Neg(x) y = Neg(a) b = Relu(x) z = Relu(b) w = Relu(x) }"""
    )
    rules = "rewrite r: Relu(Relu(x)) => Relu(x)\nrewrite s: Neg(Neg(x)) => x"
    answer = line(rules, graph)
    assert [o.name for o in answer.model.graph.output] == ["y", "z", "w"]
    assert [i.name for i in answer.model.graph.input] == ["x", "unused"]
    counts = Counter(operators(answer.model))
    assert counts["Relu"] == 1
    assert counts["Neg"] == 0
    assert terms(answer.model)["y"] == "Identity(x)"
