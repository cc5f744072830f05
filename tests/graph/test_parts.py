"""Models with operators that nothing here knows are compared between those."""

import onnx
import pytest
from onnx import parser

from tensat_dl.errors import VerificationError
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.verifying.verify import Verification, require, verify
from tensat_dl.settings import ModelSettings, VerifySettings

HEAD = '<ir_version: 9, opset_import: ["": 18, "acme": 1, "loc": 1]>'
TYPED = "<float[N,4] u>"


def model(text: str) -> onnx.ModelProto:
    return parser.parse_model(HEAD + text)


def check(before: str, after: str) -> Verification:
    given = read_model(model(before), ModelSettings())
    return verify(given.source, model(after), VerifySettings(), types=given.types)


CHAIN = (
    "g (float[N,4] x) => (float[N,4] y, float[N,4] z) %s"
    "{ a = %s(x) u = acme.Op<k=1>(a) y = %s(u) z = %s(x) }"
)


def test_all_parts_are_compared_where_types_are_known() -> None:
    right = check(CHAIN % (TYPED, "Relu", "Exp", "Neg"), CHAIN % (TYPED, "Relu", "Exp", "Neg"))
    assert (right.ok, right.samples) == (True, 3)
    assert "not compared: Op node number 1" in right.skipped
    assert "acme" in right.skipped


@pytest.mark.parametrize(
    ("operators", "where"),
    [
        (("Abs", "Exp", "Neg"), "input 0 of Op node number 1"),
        (("Relu", "Neg", "Neg"), "output 'y'"),
        (("Relu", "Exp", "Abs"), "output 'z'"),
    ],
)
def test_a_difference_is_found_on_either_side(operators: tuple[str, ...], where: str) -> None:
    result = check(CHAIN % (TYPED, "Relu", "Exp", "Neg"), CHAIN % (TYPED, *operators))
    assert {m.label for m in result.mismatches} == {where}
    with pytest.raises(VerificationError, match=where):
        require(result)


def test_what_has_no_type_is_named() -> None:
    result = check(CHAIN % ("", "Relu", "Exp", "Neg"), CHAIN % ("", "Relu", "Neg", "Neg"))
    assert result.ok
    assert "not compared: output 'y', Op node number 1" in result.skipped
    assert not check(CHAIN % ("", "Relu", "Exp", "Neg"), CHAIN % ("", "Abs", "Exp", "Neg")).ok


def test_a_new_operator_of_a_rule_leaves_what_depends_on_it_out() -> None:
    after = CHAIN.replace("y = %s(u)", "y = acme.%s(u)")
    result = check(CHAIN % (TYPED, "Relu", "Exp", "Neg"), after % (TYPED, "Relu", "New", "Neg"))
    assert result.ok
    assert "not compared: output 'y', Op node number 1" in result.skipped


def test_a_model_that_gets_its_first_unknown_operator_is_refused() -> None:
    """Nobody can run it here, who could run the original; its other outputs do not matter."""
    text = "g (float[N,4] x) => (float[N,4] y, float[N,4] z) { y = %s(x) z = %s(x) }"
    result = check(text % ("Exp", "Neg"), text % ("acme.Exp", "Neg"))
    assert not result.ok and "acme:Exp" in result.refused


def test_unknown_operators_that_a_rule_merged_are_not_paired() -> None:
    """Op(Op(x)) = Op(x): what the one reads is not what either of the two read."""
    text = "g (float[4] x) => (float[4] y, float[4] z) <float[4] u, float[4] v> { %s z = Neg(x) }"
    before = text % "u = acme.Op(x) v = acme.Op(u) y = Exp(v)"
    after = text % "v = acme.Op(x) y = Exp(v)"
    result = check(before, after)
    assert result.ok
    assert "output 'y'" in result.skipped


def test_unknown_operators_in_branches_and_functions() -> None:
    branches = (
        "g (float[4] x, bool c) => (float[4] y, float[4] z) <float[4] u>"
        "{ a = %s(x) u = If(c) <then_branch = t () => (float[4] p) { p = acme.Op(a) },"
        "                       else_branch = e () => (float[4] q) { q = Neg(a) }>"
        "  y = Exp(u) z = Abs(x) }"
    )
    assert check(branches % "Relu", branches % "Relu").ok
    assert not check(branches % "Relu", branches % "Neg").ok
    function = (
        "g (float[4] x) => (float[4] y) <float[4] u> { u = loc.F(x) y = %s(u) }"
        '<opset_import: ["acme": 1], domain: "loc"> F (x) => (y) { y = acme.Op(x) }'
    )
    assert check(function % "Exp", function % "Exp").ok
    assert not check(function % "Exp", function % "Neg").ok
