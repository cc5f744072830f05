"""Virtual operators written out: inside each other, over lists, and at opsets that lack a part."""

from __future__ import annotations

import pytest
from cases import Case, found_and_expected
from line import Line, load
from onnx_text import model, operators

from tensat_dl.egraph.lowering import lower
from tensat_dl.egraph.snapshot import Application
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

ADD_RELU = "(float[2] x, float[2] z) => (float[2] y) { r = Relu(x) y = Add(r, z) }"

CASES = [
    Case(
        "one_inside_another",
        """op Inner(x: Tensor) -> y: Tensor { lower y = Relu(Neg(x)) }
        op Outer(x: Tensor, z: Tensor) -> y: Tensor { lower y = Add(Inner(Neg(x)), z) }
        rewrite fuse: Add(Relu(x), z) => Outer(x, z)""",
        ADD_RELU,
        "Add(Relu(Neg(Neg(x))), z)",
        "Outer = 1 Add = 9",
    ),
    Case(
        "a_list_operand_by_operand",
        """op JoinedRelu(*xs: Tensor) -> y: Tensor { lower y = Concat(*Relu(xs), axis=0) }
        rewrite fuse: Relu(Concat(*xs, axis=0)) => JoinedRelu(*xs)""",
        "(float[1] x, float[2] z) => (float[3] y) { c = Concat<axis=0>(x, z) y = Relu(c) }",
        "Concat(Relu(x), Relu(z), axis=0)",
        "JoinedRelu = 1 Concat = 9",
    ),
    Case(
        "a_list_after_a_tensor",
        """op Behind(x: Tensor, *xs: Tensor) -> y: Tensor { lower y = Concat(*xs, x, axis=0) }
        rewrite fuse: Concat(a, b, c, axis=0) => Behind(c, a, b)""",
        "(float[1] x, float[2] z, float[3] t) => (float[6] y) { y = Concat<axis=0>(x, z, t) }",
        "Concat(x, z, t, axis=0)",
        "Behind = 1 Concat = 9",
    ),
    Case(
        "its_own_input",
        """op Same(x: Tensor) -> y: Tensor { lower y = x }
        rewrite fuse: Neg(Neg(x)) => Same(x)""",
        "(float[2] x) => (float[2] y) { n = Neg(x) y = Neg(n) }",
        "Identity(x)",
    ),
    Case(
        "one_value_as_two_outputs",
        """op Both(x: Tensor) -> a: Tensor, b: Tensor { lower { t = Relu(x)  a = t  b = t } }
        rule r { match { a = Relu(x) b = Max(x, 0) } emit { a, b = Both(x) } }""",
        "(float[2] x) => (float[2] y, float[2] z) <float w = {0}> { y = Relu(x) z = Max(x, w) }",
        {"y": "Relu(x)", "z": "Identity(Relu(x))"},
        "Relu = 9 Max = 9",
    ),
]


@pytest.mark.parametrize("case", CASES, ids=str)
def test_a_lowering_is_written(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected


@pytest.mark.parametrize(("opset", "written"), [(17, ["Add", "Relu"]), (20, ["Add", "Gelu"])])
def test_what_the_opset_lacks_is_not_chosen(line: Line, opset: int, written: list[str]) -> None:
    """Gelu came with ai.onnx 20; the rule is wrong, so nothing is verified."""
    rules = """op Inner(x: Tensor) -> y: Tensor { lower y = Gelu(x) }
    op Outer(x: Tensor, z: Tensor) -> y: Tensor { lower y = Add(Inner(x), z) }
    rewrite fuse: Add(Relu(x), z) => Outer(x, z)
    cost model ours { Outer = 1 Add = 9 _ = 1 }"""
    answer = line(rules, model(ADD_RELU, opset), cost="ours", check=False)
    assert operators(answer.model) == written


def test_outputs_that_a_lowering_does_not_read_have_names() -> None:
    """TopK has two outputs whether they are read or not."""
    program = load("op Top(x: Tensor) -> y: Tensor { lower y = TopK(x, i64([1]), axis=0) }")
    [custom] = program.operators.values()
    x = TensorType(DType.F32, (4,))
    lowered = lower(program, Application(custom.operator, Attributes(()), 1), (x,))
    [node] = lowered.nodes
    assert len(set(node.outputs)) == 2
    assert lowered.outputs == node.outputs[:1]
    assert lowered.type_of(node.outputs[0]) == TensorType(DType.F32, (1,))
