"""Operators that a rule file declares: virtual ones are lowered, foreign ones are written."""

from __future__ import annotations

import onnx
import pytest
from cases import Case, found_and_expected
from line import Line, explore
from onnx import TensorProto, helper
from onnx_text import model, operators

CONV_RELU = """op ConvRelu(x: Tensor, w: Tensor, b: Tensor?, **Conv) -> y: Tensor {
  lower y = Relu(Conv(x, w, b, **Conv))
}
"""
FUSE = CONV_RELU + "rewrite fuse: Relu(Conv(x, w, b?, **o)) => ConvRelu(x, w, b?, **o)\n"
RELU_CONV = (
    "(float[1,1,4,4] x) => (float[1,2,2,2] y) <float[2,1,3,3] w, float[2] b> "
    "{ a = Neg(x) c = Conv<strides=[1,1]>(a, w, b) y = Relu(c) }"
)

VIRTUAL = [
    Case(
        "found_and_lowered",
        FUSE,
        RELU_CONV,
        "Relu(Conv(Neg(x), w, b))",
        "ConvRelu = 1 Conv = 5",
    ),
    Case(
        "with_attributes_and_an_absent_input",
        FUSE,
        "(float[1,2,5,5] x) => (float[1,2,2,2] y) <float[2,1,2,2] w> "
        "{ c = Conv<group=2, strides=[2,2]>(x, w) y = Relu(c) }",
        "Relu(Conv(x, w, group=2, strides=[2, 2]))",
        "ConvRelu = 1 Conv = 5",
    ),
    Case(
        "rules_go_on_from_it",
        FUSE + "rewrite more: ConvRelu(Neg(x), w, b?, **o) => ConvRelu(x, Neg(w), b?, **o)",
        RELU_CONV,
        "Relu(Conv(x, <2x1x3x3>, b))",
    ),
    Case(
        "its_type_is_that_of_its_lowering",
        """op Twice(x: Tensor) -> y: Tensor { lower y = Concat(x, x, axis=0) }
        rewrite r: Expand(x: T[1], [2]) => Twice(x)
        rewrite s: Twice(x: T[N]) => Reshape(Twice(x), i64([2 * N])) where rank(x) == 1""",
        "(float[1] x) => (float[2] y) <int64[1] s = {2}> { y = Expand(x, s) }",
        "Concat(x, x, axis=0)",
        "Expand = 9 Concat = 2",
    ),
    Case(
        "a_lowering_of_several_statements_with_constants",
        """op HalfGelu(x: Tensor, k: float = 0.5) -> y: Tensor {
          lower { a = Mul(x, f32(k))  b = Erf(a)  y = Add(a, b) }
        }
        rewrite r: Gelu(x: f32[*B]) => Neg(Neg(Gelu(x))) where 1 == 2
        rewrite s: Add(Mul(x, 0.25), Erf(Mul(x, 0.25))) => HalfGelu(x, k=0.25)""",
        "(float[2] x) => (float[2] y) <float k = {0.25}> "
        "{ a = Mul(x, k) b = Erf(a) y = Add(a, b) }",
        "Add(Mul(x, f32(0.25)), Erf(Mul(x, f32(0.25))))",
        "HalfGelu = 0 Add = 9",
    ),
    Case(
        "two_outputs",
        """op Halves(x: Tensor) -> a: Tensor, b: Tensor {
          lower { a, b = Split(x, i64([1, 3]), axis=0) }
        }
        rule r { match { a, b = Split(x, s, axis=0) } where value(s) == [1, 3]
                 emit { a, b = Halves(x) } }
        @rounds(2) rule t { match { a, b = Halves(Neg(x)) }
                 emit { c, d = Halves(x)  a = Neg(c)  b = Neg(d) } }""",
        "(float[4] x) => (float[1] y, float[3] z) <int64[2] s = {1, 3}> "
        "{ n = Neg(x) y, z = Split<axis=0>(n, s) }",
        {"y": "Neg(Split(x, s).0)", "z": "Neg(Split(x, s).1)"},
        "Neg = if numel(x) == 4 then 9 else 1 Split = 5",
    ),
]

ACME = """op "com.acme"::Twice(x: Tensor, by: int = 2) -> y: Tensor {
  since 1
  infer y = like(x)
  cost 3 * numel(y)
}
op "com.acme"::Pair(x: Tensor) -> first: Tensor, second: Tensor {
  infer { first = like(x)  second: i64[dim(x, 0), 2] }
}
"""


@pytest.mark.parametrize("case", VIRTUAL, ids=str)
def test_virtual_operators(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected


def test_a_virtual_operator_costs_what_its_row_says(line: Line) -> None:
    rules = FUSE + "cost model ours { ConvRelu = 2.5 Conv = 5 _ = 1 }"
    answer = line(rules, model(RELU_CONV), cost="ours")
    assert (answer.outcome.cost_before, answer.outcome.cost_after) == (7, 3.5)


def test_without_a_row_it_costs_what_its_lowering_costs(line: Line) -> None:
    rules = FUSE + "cost model ours { Conv = 5 _ = 1 }"
    answer = line(rules, model(RELU_CONV), cost="nodes")
    assert answer.outcome.cost_before == 3
    assert answer.outcome.cost_after in (2, 3)  # as one piece, or as the sum of its parts


def test_a_foreign_operator_is_written_where_the_model_imports_its_domain(line: Line) -> None:
    rules = ACME + 'rewrite r: Add(x: f32[*B], x) => "com.acme"::Twice(x)\n'
    rules += "cost model ours { Add = 9 _ = 1 }"
    text = "(float[2] x) => (float[2] y) { y = Add(x, x) }"
    imports = {"com_acme": 1}
    answer = line(rules, model(text, **imports), cost="ours", check=False)
    [node] = answer.model.graph.node
    assert (node.domain, node.op_type, list(node.input)) == ("com.acme", "Twice", ["x"])
    without = line(rules, model(text), cost="ours")
    assert operators(without.model) == ["Add"]


def test_a_foreign_operator_is_never_written_unverified(line: Line) -> None:
    rules = ACME + 'rewrite r: Add(x: f32[*B], x) => "com.acme"::Twice(x)\n'
    rules += "cost model ours { Add = 9 _ = 1 }"
    proto = model("(float[2] x) => (float[2] y) { y = Add(x, x) }", com_acme=1)
    answer = line(rules, proto, cost="ours")
    assert operators(answer.model) == ["Add"]
    (warning,) = answer.outcome.warnings
    assert warning.startswith('`"com.acme"::Twice`, made by `r`, is left out of the answer: ')
    assert warning.endswith("; for a runtime that has it, write it with --no-check")


def foreign(op_type: str, outputs: list[tuple[str, int, list[int]]]) -> onnx.ModelProto:
    """One foreign node."""
    node = helper.make_node(op_type, ["x"], [o[0] for o in outputs], domain="com.acme")
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])
    infos = [helper.make_tensor_value_info(*o) for o in outputs]
    return helper.make_model(
        helper.make_graph([node], "g", [x], infos),
        opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("com.acme", 1)],
        ir_version=8,
    )


def test_rules_match_foreign_operators_of_the_model(line: Line) -> None:
    rules = ACME + 'rewrite r: "com.acme"::Twice(x: f32[*B]) => Add(x, x)\n'
    rules += "cost model ours { Twice = 9 _ = 1 }"
    answer = line(rules, foreign("Twice", [("y", 1, [2])]), cost="ours", check=False)
    assert operators(answer.model) == ["Add"]


def test_a_foreign_operator_with_two_outputs(line: Line) -> None:
    rules = (
        ACME
        + """rule r {
      match { a, b = "com.acme"::Pair(x: f32[*B]) }
      emit { a = Neg(x)  _, b = "com.acme"::Pair(x) }
    }
    cost model ours { _ = 1 }"""
    )
    proto = foreign("Pair", [("y", 1, [2]), ("z", 7, [2, 2])])
    saturated = explore(rules, proto)
    # `z` is output 1 of the pair; `y` is also the negation.
    y, z = saturated.outputs
    rows = {(type(n.head).__name__, n.eclass) for n in saturated.nodes}
    assert ("Projection", z) in rows
    assert ("Application", y) in rows
