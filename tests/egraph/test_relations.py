"""Relations and derivations: transitive ones, integers, conditions, what rules ask of them."""

from __future__ import annotations

import time

import pytest
from cases import Case, found_and_expected
from line import Line, applications, explore, load
from onnx_text import model

from tensat_dl.egraph.demand import demanded_arguments, uses_of

BELOW = """relation below(y: Tensor, x: Tensor)
derive below(y, x) if y = Relu(x)
derive below(y, x) if y = Neg(x)
derive below(z, x) if below(z, y), below(y, x)
"""

CASES = [
    Case(
        "derived_at_once",
        BELOW + "rewrite r: Max(y, x) => y where below(y, x), 1 == 1",
        "(float[2] x) => (float[2] y) { a = Abs(x) b = Relu(a) c = Max(b, a) y = Sin(c) }",
        "Sin(Relu(Abs(x)))",
        "Max = 9",
    ),
    Case(
        "derived_over_a_chain",
        BELOW + "rewrite r: Sub(Sub(y, x), y) => Neg(x) where below(y, x)",
        "(float[2] x) => (float[2] y) { a = Relu(x) b = Neg(a) c = Relu(b) "
        "d = Sub(c, x) y = Sub(d, c) }",
        "Neg(x)",
        # c - x - c is -x up to rounding.
    ),
    Case(
        "not_derived",
        BELOW + "rewrite r: Sub(Sub(y, x), y) => Neg(x) where below(y, x)",
        "(float[2] x) => (float[2] y) { a = Relu(x) b = Abs(a) c = Relu(b) "
        "d = Sub(c, x) y = Sub(d, c) }",
        "Sub(Sub(Relu(Abs(Relu(x))), x), Relu(Abs(Relu(x))))",
    ),
    Case(
        "the_pattern_binds_the_tensor_below",
        BELOW + "rewrite r: Neg(Neg(y)) => y where below(y, x), rank(x) == 1",
        "(float[2] x) => (float[2] y, float[2] z) { a = Relu(x) b = Relu(a) c = Neg(b) d = Neg(c) "
        "y = Sin(d) e = Abs(x) f = Neg(e) g = Neg(f) z = Sin(g) }",
        {"y": "Sin(Relu(Relu(x)))", "z": "Sin(Neg(Neg(Abs(x))))"},
    ),
    Case(
        "the_pattern_binds_the_tensor_above",
        BELOW
        + """derive below(y, x) if y = MatMul(x, w)
        rewrite r: Abs(Abs(x)) => Abs(x) where below(y, x), dim(y, 1) == 5""",
        "(float[2,3] x, float[2,3] p, float[3,5] w, float[3,4] s) => (float[2,3] y, float[2,3] z, "
        "float[2,5] u, float[2,4] v) { a = Abs(x) y = Abs(a) b = Relu(x) u = MatMul(b, w) "
        "c = Abs(p) z = Abs(c) d = Relu(p) v = MatMul(d, s) }",
        {"y": "Abs(x)", "u": "MatMul(Relu(x), w)", "z": "Abs(Abs(p))", "v": "MatMul(Relu(p), s)"},
    ),
    Case(
        "a_derivation_reads_the_relation_and_binds_nothing",
        BELOW
        + """relation deep(y: Tensor)
        derive deep(y) if below(y, x), below(x, w)
        rewrite r: Neg(Neg(y)) => y where deep(y)""",
        "(float[2] x) => (float[2] y, float[2] z) { a = Neg(x) b = Relu(a) c = Neg(b) d = Neg(c) "
        "y = Sin(d) e = Abs(x) f = Relu(e) g = Neg(f) h = Neg(g) z = Sin(h) }",
        {"y": "Sin(Relu(Neg(x)))", "z": "Sin(Neg(Neg(Relu(Abs(x)))))"},
    ),
    Case(
        "an_integer_column_bound_by_an_attribute",
        """relation flat(y: Tensor, axis: int)
        derive flat(y, k) if y = Softmax(x, axis=k)
        rewrite r: Neg(Neg(y)) => y where flat(y, k), k == 0""",
        "(float[2,2] x) => (float[2,2] y, float[2,2] z) { a = Softmax<axis=0>(x) b = Neg(a) "
        "c = Neg(b) y = Relu(c) d = Softmax<axis=1>(x) e = Neg(d) f = Neg(e) z = Relu(f) }",
        {
            "y": "Relu(Softmax(x, axis=0))",
            "z": "Relu(Neg(Neg(Softmax(x, axis=1))))",
        },
    ),
    Case(
        "an_integer_handed_on",
        """relation flat(y: Tensor, axis: int)
        derive flat(y, k) if y = Softmax(x, axis=k)
        derive flat(y, k) if y = Relu(x), flat(x, k)
        rewrite r: Neg(Neg(y)) => y where flat(y, k), k == 0""",
        "(float[2,2] x) => (float[2,2] y) { a = Softmax<axis=0>(x) b = Relu(a) "
        "c = Neg(b) d = Neg(c) y = Sin(d) }",
        "Sin(Relu(Softmax(x, axis=0)))",
    ),
    Case(
        "conditions_and_types_in_a_derivation",
        """relation small(y: Tensor)
        derive small(y) if y = Relu(x: f32[N]), N < 3
        rewrite r: Neg(Neg(y)) => y where small(y)""",
        "(float[2] x, float[4] p) => (float[2] y, float[4] z) { a = Relu(x) b = Neg(a) "
        "c = Neg(b) y = Sin(c) d = Relu(p) e = Neg(d) f = Neg(e) z = Sin(f) }",
        {"y": "Sin(Relu(x))", "z": "Sin(Neg(Neg(Relu(p))))"},
    ),
    Case(
        "weights_in_a_derivation",
        """relation scaled(y: Tensor, x: Tensor)
        derive scaled(y, x) if y = Mul(x, w), weight(w), scalar(w)
        rewrite r: Neg(Neg(y)) => y where scaled(y, x)""",
        "(float[2] x, float k) => (float[2] y, float[2] z) <float w> { a = Mul(w, x) b = Neg(a) "
        "c = Neg(b) y = Sin(c) d = Mul(x, k) e = Neg(d) f = Neg(e) z = Sin(f) }",
        {"y": "Sin(Mul(w, x))", "z": "Sin(Neg(Neg(Mul(x, k))))"},
    ),
    Case(
        "facts_of_what_rules_made",
        """relation clean(y: Tensor)
        derive clean(y) if y = Abs(x)
        rewrite make: Max(x, Neg(x)) => Abs(x)
        rewrite use: Relu(y) => y where clean(y)""",
        "(float[2] x) => (float[2] y) { a = Neg(x) b = Max(x, a) c = Relu(b) y = Sin(c) }",
        "Sin(Abs(x))",
    ),
    Case(
        "mutually_recursive",
        """relation even(y: Tensor, x: Tensor)
        relation odd(y: Tensor, x: Tensor)
        derive odd(y, x) if y = Neg(x)
        derive odd(z, x) if z = Neg(y), even(y, x)
        derive even(z, x) if z = Neg(y), odd(y, x)
        rewrite r: Add(y, x) => Sub(x, x) where odd(y, x)
        rewrite s: Sub(y, x) => Sub(x, x) where even(y, x)""",
        "(float[2] x) => (float[2] y, float[2] z) { a = Neg(x) b = Neg(a) c = Neg(b) d = Neg(c) "
        "y = Add(c, x) z = Sub(d, x) }",
        {"y": "Sub(x, x)", "z": "Identity(Sub(x, x))"},
    ),
    Case(
        "a_relation_of_a_list_and_its_members",
        """relation joined(y: Tensor, x: Tensor)
        derive joined(y, x) if y = Concat(x, z, axis=0)
        rewrite r: Neg(Neg(y)) => y where joined(y, x), weight(x)""",
        "(float[2] x) => (float[4] y, float[4] z) <float[2] w> "
        "{ a = Concat<axis=0>(w, x) b = Neg(a) "
        "y = Neg(b) c = Concat<axis=0>(x, w) d = Neg(c) z = Neg(d) }",
        {"y": "Concat(w, x, axis=0)", "z": "Neg(Neg(Concat(x, w, axis=0)))"},
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_relations(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected


@pytest.mark.parametrize(
    ("uses", "expected"),
    [
        ("rewrite r: Neg(y) => y where below(y, x)", {"below": 0}),
        ("rewrite r: Neg(x) => x where below(y, x)", {"below": 1}),
        ("rewrite r: Max(y, x) => y where below(y, x)", {"below": 0}),
        (
            "rewrite r: Max(y, x) => y where below(y, x)\nrewrite s: Neg(x) => x where below(y, x)",
            {"below": 1},
        ),
        (
            "rewrite r: Neg(y) => y where below(y, x)\nrewrite s: Neg(x) => x where below(y, x)",
            {},
        ),
        ("rewrite r: Neg(y) => y where below(y, x), below(x, z)", {}),
        ("relation q(y: Tensor)\nderive q(y) if y = Relu(z), below(z, x)", {"below": 0}),
        ("relation q(y: Tensor)\nderive q(y) if below(y, x)", {}),
        ("", {"below": 0}),
    ],
)
def test_a_closure_is_derived_by_demand_where_every_use_binds_an_end(
    uses: str, expected: dict[str, int]
) -> None:
    checked = load(BELOW + uses)
    read = tuple(uses_of(checked.rules, checked.derivations))
    assert demanded_arguments(read, checked.derivations) == expected


def test_a_transitive_relation_over_a_long_chain_takes_no_time() -> None:
    """1,000 nodes have 500,000 pairs; the rule needs those of one node."""
    count = 1000
    chain = " ".join(f"a{i + 1} = Relu(a{i})" for i in range(count))
    graph = model(
        f"(float[2] x) => (float[2] y) {{ a0 = Neg(x) {chain} b = Sub(a{count}, a0) "
        f"y = Sub(b, a{count}) }}"
    )
    rules = BELOW + "rewrite r: Sub(Sub(y, x), y) => Neg(x) where below(y, x)"
    started = time.monotonic()
    saturated = explore(rules, graph)
    assert time.monotonic() - started < 5
    assert saturated.exploration.stopped_by == "saturated"
    assert len(applications(saturated, "Neg")) == 2
