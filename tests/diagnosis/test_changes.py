"""Which rules led to a node, what a region replaced, what it saves."""

from __future__ import annotations

from line import explore, load, make_settings
from onnx_text import model

from tensat_dl.cost.models import make_cost_model
from tensat_dl.cost.settle import settle
from tensat_dl.cost.writable import Writable
from tensat_dl.diagnosis.changes import Added, Change, explain_answer
from tensat_dl.egraph.adopt import DeclaredOperators
from tensat_dl.graph.reading.read import read_model
from tensat_dl.phases import Phases
from tensat_dl.progress import silent


def changes(rules: str, graph: str, cost: str = "nodes") -> tuple[tuple[Change, ...], float]:
    """The changes, and what the whole saves."""
    settings, proto, program = make_settings(cost), model(graph), load(rules)
    original = read_model(proto, settings.model, DeclaredOperators(program))
    saturated = explore(rules, proto)
    prices = make_cost_model(settings.cost.model, settings.cost, program)
    writable = Writable(program, original.opsets)
    phases = Phases(silent)
    settled = settle(original, saturated, prices, writable, settings.extract, phases)
    saved = settled.before - settled.cost
    return explain_answer(original, saturated, settled, prices, program, saved), saved


def test_a_chain_of_two_rules() -> None:
    """The second rule matches what the first one made."""
    found, saved = changes(
        """rewrite first: Neg(Abs(x)) => Sin(Cos(x))
        rewrite second: Sqrt(Sin(Cos(x))) => Exp(x)""",
        "(float[4] x) => (float[4] y) { a = Abs(x) b = Neg(a) c = Sqrt(b) y = Relu(c) }",
    )
    (change,) = found
    assert change.removed == ("Abs of `a`", "Neg of `b`", "Sqrt of `c`")
    assert change.added == (Added("Exp", ("c",), ("first", "second")),)
    assert change.saved == saved == 2


def test_regions_are_told_apart_and_the_best_comes_first() -> None:
    found, saved = changes(
        """rewrite relu: Relu(Relu(x)) => Relu(x)
        rewrite neg: Neg(Neg(Neg(Neg(x)))) => x""",
        "(float[4] x) => (float[4] y, float[4] z) { a = Relu(x) b = Relu(a) y = Sin(b) "
        "p = Neg(x) q = Neg(p) r = Neg(q) s = Neg(r) z = Sin(s) }",
    )
    assert [change.saved for change in found] == [4, 1]
    assert found[0].removed == ("Neg of `p`", "Neg of `q`", "Neg of `r`", "Neg of `s`")
    assert found[1].removed == ("Relu of `b`",)
    assert not found[0].added and not found[1].added
    assert [change.rules for change in found] == [("neg",), ("relu",)]
    assert saved == 5


def test_several_outputs() -> None:
    found, saved = changes(
        """rule merge {
          match { y1 = Relu(x1: T[A, B]) y2 = Relu(x2: T[C, B]) }
          emit { y1, y2 = Split(Relu(Concat(x1, x2, axis=0)), i64([A, C]), axis=0) }
        }
        cost model ours { Relu = 10  _ = 1 }""",
        "(float[2,4] p, float[3,4] q) => (float[2,4] y, float[3,4] z) { y = Relu(p) z = Relu(q) }",
        "ours",
    )
    (change,) = found
    assert change.removed == ("Relu of `y`", "Relu of `z`")
    assert {(added.operator, added.makes, added.rules) for added in change.added} == {
        ("Concat", (), ("merge",)),
        ("Relu", (), ("merge",)),
        ("Split", ("y", "z"), ("merge",)),
    }
    assert change.saved == saved == 20 - (10 + 1 + 1)


def test_equal_nodes_are_one_without_a_rule() -> None:
    found, saved = changes(
        "rewrite relu: Relu(Relu(x)) => Relu(x)",
        "(float[4] x) => (float[4] y) { a = Sin(x) b = Sin(x) y = Add(a, b) }",
    )
    (change,) = found
    assert change == Change(("Sin of `b`",), (), 1, (), (), ("common subexpression",))
    assert saved == 1


def test_rules_that_only_find_two_tensors_equal_are_named() -> None:
    """`join` makes nothing; through it the pattern of `last` reaches from Exp to Abs."""
    (change,), _ = changes(
        """rewrite join: Neg(Neg(x)) => x
        rewrite last: Exp(Abs(x)) => Sin(x)""",
        "(float[4] x) => (float[4] y) { a = Abs(x) b = Neg(a) c = Neg(b) d = Exp(c) y = Relu(d) }",
    )
    assert change.added == (Added("Sin", ("d",), ("join", "last")),)
    assert change.rules == ("join", "last")


def test_both_sides_were_there() -> None:
    (change,), _ = changes(
        "rewrite r: Relu(x: T[*S]) => Max(x, T(0))  rewrite s: Sin(Cos(x)) => Tan(x)",
        "(float[4] x) => (float[4] y) <float zero = {0}> "
        "{ a = Relu(x) b = Max(x, zero) y = Add(a, b) }",
    )
    assert (len(change.removed), change.added, change.rules) == (1, (), ("r",))


def test_a_chain_of_joins() -> None:
    """From the answer's Abs to the outermost Neg over both pairs; `other` acts elsewhere."""
    found, _ = changes(
        """rewrite neg: Neg(Neg(x)) => x
        rewrite relu: Relu(Abs(x)) => Abs(x)
        rewrite other: Sigmoid(Sin(x)) => Sin(x)""",
        "(float[4] x) => (float[4] y, float[4] z) { a = Abs(x) b = Relu(a) c = Neg(b) d = Neg(c) "
        "y = Cos(d) s = Sin(x) t = Sigmoid(s) z = Cos(t) }",
    )
    assert [sorted(change.rules) for change in found] == [["neg", "relu"], ["other"]]


def test_outputs_that_were_found_equal() -> None:
    (change,), _ = changes(
        """rule same { match { a, b = Split(Concat(x, y, axis=0), s, axis=0) }
          where value(s) == [dim(x, 0), dim(y, 0)] emit { a = x  b = y } }""",
        "(float[2,4] x, float[3,4] y) => (float[2,4] p, float[3,4] q) <int64[2] s = {2, 3}> "
        "{ c = Concat<axis=0>(x, y) a, b = Split<axis=0>(c, s) p = Relu(a) q = Relu(b) }",
    )
    assert (change.added, change.rules) == ((), ("same",))


MERGE = """rule merge {
  match each (y, w, N) by (x) { y = MatMul(x, w: T[K, N]) }
  emit { *y = Split(Gemm(x, Concat(*w, axis=1)), i64([*N]), axis=1) }
}
"""
PRODUCTS = "(float[2,3] x, float[3,4] v, float[3,5] w) => (float[2,4] p, float[2,5] q)"


def test_all_partners_at_once() -> None:
    """Both sides are there: the rule makes nothing, and joins the parts to the products."""
    (change,), saved = changes(
        MERGE,
        PRODUCTS + " <int64[2] s = {4, 5}> { a = MatMul(x, v) b = MatMul(x, w) "
        "j = Concat<axis=1>(v, w) m = Gemm(x, j) c, d = Split<axis=1>(m, s) "
        "p = Add(a, c) q = Mul(b, d) }",
    )
    # One product less the other way: a concatenation, a product and a split for two products.
    assert change == Change(("Concat of `j`", "Gemm of `m`", "Split of `c`"), (), 3, ("merge",))
    assert saved == 3


def test_what_led_to_a_group() -> None:
    """The members are what `first` made of the two exponentials."""
    (change,), saved = changes(
        f"""rewrite first: Exp(Sub(x, Sin(w))) => MatMul(x, w)
        {MERGE}
        cost model ours {{ MatMul = 10  _ = 1 }}""",
        "(float[3,3] x, float[3,3] v, float[3,3] w) => (float[3,3] p, float[3,3] q) "
        "{ a = Sin(v) b = Sub(x, a) p = Exp(b) c = Sin(w) d = Sub(x, c) q = Exp(d) }",
        "ours",
    )
    assert {(added.operator, added.makes, added.rules) for added in change.added} == {
        ("Concat", (), ("first", "merge")),
        ("Gemm", (), ("first", "merge")),
        ("Split", ("p", "q"), ("first", "merge")),
    }
    assert change.rules == ("first", "merge")
    assert change.saved == saved == 6 - 3


ZERO = "rewrite zero: Mul(x, 0): T[*S] => Expand(T(0), i64([*S]))\n"
PLUS = "rewrite plus: Add(x, 0) => x\n"


def test_what_became_a_constant_is_gone_by_the_rule_that_made_it_one() -> None:
    """The product is zero, so nothing needs Sin, and the sum is Cos."""
    (change,), saved = changes(
        ZERO + PLUS,
        "(float[4] x) => (float[4] y) <float[4] z = {0, 0, 0, 0}> "
        "{ a = Sin(x) b = Mul(a, z) c = Cos(x) d = Add(c, b) y = Tan(d) }",
    )
    assert change == Change(("Sin of `a`", "Mul of `b`", "Add of `d`"), (), 3, ("zero", "plus"))
    assert saved == 3


def test_what_reads_constants_only_is_folded() -> None:
    """Exp is of a constant, by way of `zero`; Add reads it and stays."""
    (change,), saved = changes(
        ZERO,
        "(float[4] x) => (float[4] y) <float[4] z = {0, 0, 0, 0}> "
        "{ b = Mul(x, z) c = Exp(b) y = Add(x, c) }",
    )
    gone = ("Mul of `b`", "Exp of `c`")
    assert change == Change(gone, (), 2, ("zero",), (), ("constant folding",))
    assert saved == 2


def test_an_output_that_is_constant() -> None:
    (change,), saved = changes(
        "rewrite none: Sub(x, x): T[*S] => Expand(T(0), i64([*S]))",
        "(float[4] x) => (float[4] y) { a = Sin(x) y = Sub(a, a) }",
    )
    assert change == Change(("Sin of `a`", "Sub of `y`"), (), 2, ("none",))
    assert saved == 2


def test_nodes_that_a_rule_makes_the_same_are_shared() -> None:
    (change,), saved = changes(
        "rewrite relu: Relu(Relu(x)) => Relu(x)",
        "(float[4] x) => (float[4] y) "
        "{ r = Relu(x) s = Relu(r) a = Sin(r) b = Sin(s) y = Add(a, b) }",
    )
    gone = ("Relu of `s`", "Sin of `b`")
    assert change == Change(gone, (), 2, ("relu",), (), ("common subexpression",))
    assert saved == 2
