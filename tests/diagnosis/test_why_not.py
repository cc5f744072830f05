"""How far a pattern matches, and what is in the way."""

from __future__ import annotations

import onnx.parser
import pytest
from line import explore, load
from onnx_text import model

from tensat_dl.diagnosis.why_not import WhyNot, why_not
from tensat_dl.egraph.adopt import DeclaredOperators
from tensat_dl.errors import UsageError
from tensat_dl.graph.reading.read import read_model
from tensat_dl.settings import ModelSettings

GRAPH = """(float[8,16] x, float[16,4] v, float[N,4] n) => (
  float[8,4] q, float[8,4] k, float[8,4] z, float[16,8] t, float[8,4] s,
  float[N,4] m, float[24,4] c, float[8,2] g1, float[8,2] g2, float[8,16] o)
  <float[16,4] w, float one = {1.0}, float x0 = {2.0}> {
  q = MatMul(x, w)
  k = MatMul(x, v)
  r = Relu(q)
  z = Sigmoid(r)
  t1 = Transpose<perm=[1,0]>(x)
  t = Relu(t1)
  s = Softmax<axis=0>(k)
  m = Neg(n)
  a = Abs(q)
  b = Abs(k)
  e = Sin(q)
  c = Concat<axis=0>(a, b, e)
  h1, h2 = Split<axis=1>(k)
  g1 = Cos(h1)
  g2 = Sin(h2)
  o1 = Clip(x, one)
  o = Sub(o1, x0)
}"""


def ask(rules: str, name: str = "r", at: str | None = None) -> WhyNot:
    proto = model(GRAPH)
    program = load(rules)
    graph = read_model(proto, ModelSettings(), DeclaredOperators(program))
    return why_not(program, name, graph, explore(rules, proto), at)


@pytest.mark.parametrize(
    ("rules", "obstacle"),
    [
        ("rewrite r: Relu(Tanh(x)) => Tanh(Relu(x))", "`q` is made by MatMul, not by Tanh"),
        (
            "rewrite r: Transpose(Relu(x), perm=p) => Relu(Transpose(x, perm=p))",
            "`x` is an input or a weight: no Relu makes it",
        ),
        ("rewrite r: HardSwish(Relu(x)) => Relu(x)", "there is no HardSwish in the graph"),
        # An attribute that the pattern does not mention equals its default.
        (
            "rewrite r: Softmax(x) => x",
            "Softmax has axis=0; the pattern does not mention it, so it must be 1",
        ),
        (
            "rewrite r: Softmax(x, axis=1) => x",
            "Softmax has axis=0; the pattern needs 1 = 1",
        ),
        ("rewrite r: Relu(x: f16[A, B]) => x", "`x` is f32[8, 4], not f16[A, B]"),
        (
            "rewrite r: MatMul(x, w) => MatMul(x, Neg(Neg(w))) where weight(x)",
            "`x` is no weight: it depends on the model's inputs",
        ),
        ("rewrite r: Sigmoid(x: T[A, B]) => x where A < 8, B > 3", "`A < 8` is false: A is 8"),
        # A size that is not known is neither true nor false.
        ("rewrite r: Neg(x: T[A, B]) => x where A < 8", "`A < 8` is unknown: A is N"),
        (
            "rewrite r: Sigmoid(x) => Transpose(x, perm=[1, 0]) where rank(x) == 2",
            "the right side cannot be made: the type would change from f32[8, 4] to f32[4, 8]",
        ),
        (
            "rewrite r: Concat(*Abs(xs), axis=k) => Abs(Concat(*xs, axis=k))",
            "Concat of `c`: its inputs are not those of the pattern",
        ),
        # The Split has no sizes; one Clip has a lower end, and it is not what is taken off.
        (
            "rewrite r: Concat(Abs(a), Abs(b), axis=0) => Concat(b, a, axis=0)",
            "Concat of `c`: its inputs are not those of the pattern",
        ),
        (
            "rewrite r: Cos(Split(x, s, axis=1)) => x",
            "Split of `h1`: it leaves out the input `split`, which the pattern has; "
            "`s?` matches both",
        ),
        # A number has no name that could be written with `?`.
        (
            "rewrite r: Sub(Clip(x, 1, 2), l) => x",
            "Clip of `o1`: it leaves out the input `max`, which the pattern has; "
            "a rule without it matches where it is left out",
        ),
        (
            "rewrite r: Sin(Split(x, s?, axis=1, num_outputs=_)) => x",
            "`h2` is output 1 of Split, the pattern has output 0",
        ),
        (
            "rewrite r: Sub(Clip(x, l), l) => x",
            "Clip of `o1`: its input `min` is `one`, not `x0`",
        ),
        (
            "rewrite r: Clip(x) => x",
            "Clip of `o1`: it has the input `min`, which the pattern leaves out",
        ),
        (
            """relation below(y: Tensor, x: Tensor)
            derive below(y, x) if y = Cos(x)
            rewrite r: Sigmoid(x) => x where below(x, y)""",
            "everything else holds; `below(x, y)` was not derived",
        ),
    ],
)
def test_what_is_in_the_way(rules: str, obstacle: str) -> None:
    answer = ask(rules)
    assert answer.applied == 0
    assert obstacle in [attempt.obstacle for attempt in answer.attempts]


def test_the_furthest_attempt_wins() -> None:
    """Two of three parts match at `z`, one at `t`."""
    answer = ask("rewrite r: Sigmoid(Relu(Tanh(x))) => x")
    (attempt,) = answer.attempts
    assert [part.pattern for part in attempt.matched] == ["Sigmoid(Relu(Tanh(x)))", "Relu(Tanh(x))"]
    assert [part.node for part in attempt.matched] == ["Sigmoid of `z`", "Relu of `r`"]
    assert attempt.pattern == "Tanh(x)"


def test_at_one_node() -> None:
    rules = "rewrite r: Relu(Relu(x)) => Relu(x)"
    answer = ask(rules, at="t")
    (attempt,) = answer.attempts
    assert attempt.obstacle == "`t1` is made by Transpose, not by Relu"
    (attempt,) = ask(rules, at="z").attempts
    assert attempt.obstacle == "`z` is made by Sigmoid, not by Relu"


def test_what_fires_is_said_to_fire() -> None:
    answer = ask("rewrite r: Sigmoid(Relu(x)) => Tanh(x)")
    assert answer.applied == 1
    assert [[part.node for part in parts] for parts in answer.fires] == [
        ["Sigmoid of `z`", "Relu of `r`"]
    ]


def test_a_rule_is_tried_on_what_others_made() -> None:
    rules = "rewrite a: Sigmoid(x) => Tanh(x)\nrewrite r: Tanh(Tanh(x)) => x"
    (attempt,) = ask(rules).attempts
    assert attempt.matched[0].node == "Tanh made by rule `a`"


def test_an_operator_that_only_subgraphs_have() -> None:
    proto = model("""(bool c, float[4] x) => (float[4] y) {
      [choice] y = If (c) <
        then_branch = t () => (float[4] p) { q = Relu(x) p = Relu(q) },
        else_branch = e () => (float[4] n) { n = Neg(x) }>
    }""")
    rules = "rewrite r: Relu(Relu(x)) => Relu(x)"
    graph = read_model(proto, ModelSettings(), DeclaredOperators(load(rules)))
    (attempt,) = why_not(load(rules), "r", graph, explore(rules, proto)).attempts
    assert attempt.obstacle == (
        "Relu stands only inside the subgraphs of If node 'choice': rules act there as in a model "
        "of its own, but `why-not` does not look there"
    )


def test_outputs_of_a_match_are_distinct() -> None:
    """`q` and `q` are no two outputs."""
    rules = """rule r {
      match { y1 = MatMul(x, w1) y2 = MatMul(x, w2) }
      where weight(w1), weight(w2)
      emit { y1 = MatMul(x, w1) y2 = MatMul(x, w2) }
    }"""
    answer = ask(rules)
    assert not answer.fires
    assert {a.obstacle for a in answer.attempts} == {
        "`w1` is no weight: it depends on the model's inputs",
        "`w2` is no weight: it depends on the model's inputs",
    }


MERGE = """rule r {
  match { y1 = MatMul(x, w1: T[K, N1]) y2 = MatMul(x, w2: T[K, N2]) }
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}"""


def test_outputs_that_can_be_exchanged_match_once() -> None:
    """There is one pair of products, `q` and `k`; what the rule makes of them is a third product
    of `x`, with which it could pair both, but `@rounds(1)` is its default."""
    answer = ask(MERGE)
    assert answer.applied == 1
    (parts,) = answer.fires
    assert {part.node for part in parts} == {"MatMul of `q`", "MatMul of `k`"}
    pairs = [{part.node for part in attempt.matched} for attempt in answer.attempts]
    assert sorted(map(sorted, pairs)) == [
        ["MatMul made by rule `r`", "MatMul of `k`"],
        ["MatMul made by rule `r`", "MatMul of `q`"],
    ]
    assert all("`@rounds(1)`" in attempt.obstacle for attempt in answer.attempts)
    assert answer.missed == 0


@pytest.mark.parametrize(
    ("name", "at", "message", "help"),
    [
        ("reluu", None, "there is no rule `reluu`", "did you mean `relu`?"),
        ("relu", "qq", "the model has no node and no value `qq`", "did you mean `q`?"),
    ],
)
def test_names_that_are_none(name: str, at: str | None, message: str, help: str) -> None:
    with pytest.raises(UsageError, match=message) as caught:
        ask("rewrite relu: Relu(Relu(x)) => Relu(x)", name, at)
    assert caught.value.help == help


def test_pads_that_are_not_those_of_auto_pad_are_compared_with_those() -> None:
    """SAME_UPPER of a window of 3 is one place at either end."""
    proto = model(
        "(float[1,1,5] x) => (float[1,1,5] y) "
        "{ a = MaxPool<kernel_shape=[3], pads=[2,0]>(x) y = Relu(a) }"
    )
    rules = 'rewrite r: Relu(MaxPool(x, kernel_shape=[3], auto_pad="SAME_UPPER")) => Relu(x)'
    program = load(rules)
    graph = read_model(proto, ModelSettings(), DeclaredOperators(program))
    (attempt,) = why_not(program, "r", graph, explore(rules, proto), None).attempts
    assert attempt.obstacle == "MaxPool has pads=[2, 0]; the pattern says pads=[1, 1]"


def test_nodes_that_are_carried_along_are_not_said_to_be_missing() -> None:
    """Nothing is known of what `Mine` makes, so neither of what the Relu behind it makes."""
    rules = "language 1\nrewrite r: Relu(Relu(x)) => Relu(x)\n"
    text = """<ir_version: 8, opset_import: ["" : 17, "my.ops" : 1]>
    g (float[2] x) => (float[2] y) { a = my.ops.Mine(x) b = Relu(a) y = Relu(b) }"""
    proto = onnx.parser.parse_model(text)
    program = load(rules)
    graph = read_model(proto, ModelSettings(), DeclaredOperators(program))
    (attempt,) = why_not(program, "r", graph, explore(rules, proto)).attempts
    assert attempt.obstacle == (
        "Relu of `b` is carried along as it is, where no rule acts: nothing is known of the type"
        " of `a`"
    )


PAIRS = """rule r {
  match { y1 = MatMul(x, w1: T[K, A]) y2 = MatMul(x, w2: T[K, B]) }
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([A, B]), axis=1) }
}"""


@pytest.mark.parametrize(("rounds", "last"), [("", 1), ("@rounds(2) ", 2)])
def test_what_rounds_keep_from_a_rule_does_not_fire(rounds: str, last: int) -> None:
    """Two products become one, which is of round 1; with the third one it would be of round 2."""
    text = (
        "(float[8,16] x) => (float[8,4] p, float[8,4] q, float[8,4] s) "
        "<float[16,4] u, float[16,4] v, float[16,4] w> "
        "{ p = MatMul(x, u) q = MatMul(x, v) s = MatMul(x, w) }"
    )
    proto, rules = model(text), rounds + PAIRS
    program = load(rules)
    graph = read_model(proto, ModelSettings(), DeclaredOperators(program))
    answer = why_not(program, "r", graph, explore(rules, proto))
    assert answer.fires
    wanted = f"the MatMul by `r` is of round {last} of rules with several outputs: "
    obstacles = {attempt.obstacle for attempt in answer.attempts}
    assert obstacles == {f"{wanted}`@rounds({last})` matches what is of earlier ones"}
