"""The opset stays what it is unless the user allows a newer one and a rule needs it."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest
from onnx import parser

import tensat_dl
from tensat_dl.errors import UsageError

#: Gelu exists from 20 on, the second rule's Swish-like form everywhere.
RULES = """\
language 1
rewrite erf_gelu:
  Mul(Mul(x, Add(Erf(Div(x, s)), one)), half) => Gelu(x)
  where value(one) == 1, value(half) == 0.5
"""
GELU = (
    "g (float[2,4] x) => (float[2,4] y)"
    "<float s = {1.4142135}, float one = {1}, float half = {0.5}>"
    "{ d = Div(x, s) e = Erf(d) a = Add(e, one) m = Mul(x, a) y = Mul(m, half) }"
)


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "gelu.tsat"
    path.write_text(RULES)
    return str(path)


def model(text: str, opset: int = 17) -> onnx.ModelProto:
    return parser.parse_model(f'<ir_version: 8, opset_import: ["": {opset}]> {text}')


def run(proto: onnx.ModelProto, rules: str, opset: int = 0) -> tuple[onnx.ModelProto, list[str]]:
    settings = {"model": {"opset": opset}, "cost": {"model": "nodes"}}
    result = tensat_dl.optimize(proto, rules, settings)
    return result.model, result.report["notes"] + result.report["warnings"]


def opset(proto: onnx.ModelProto) -> int:
    return next(entry.version for entry in proto.opset_import if not entry.domain)


def test_a_rule_whose_operator_the_opset_lacks_is_off_and_the_report_says_so(rules: str) -> None:
    proto, notes = run(model(GELU), rules)
    assert [node.op_type for node in proto.graph.node] == ["Div", "Erf", "Add", "Mul", "Mul"]
    assert notes == ["off at ai.onnx 17: erf_gelu (for want of Gelu; --opset 20 has it)"]


def test_a_newer_opset_is_taken_where_it_is_needed_and_no_newer_than_that(rules: str) -> None:
    proto, notes = run(model(GELU), rules, opset=22)
    assert [node.op_type for node in proto.graph.node] == ["Gelu"]
    assert (opset(proto), proto.ir_version) == (20, 9)
    assert notes == []


def test_an_opset_that_nothing_needs_is_not_taken(rules: str) -> None:
    proto, _ = run(model("g (float[2] x) => (float[2] y) { y = Relu(x) }"), rules, opset=22)
    assert (opset(proto), proto.ir_version) == (17, 8)


def test_a_node_that_is_carried_along_keeps_the_opset(rules: str) -> None:
    """ReduceSum inside the loop would mean the same, its Pad of opset 17 is not that of 18."""
    body = (
        "<body = b (int64 k, bool go, float[2,4] v) => (bool on, float[2,4] u)"
        " { on = Identity(go) u = Pad(v, p) }>"
    )
    text = GELU.replace("half = {0.5}>", "half = {0.5}, int64 n = {2}, int64[4] p = {0,0,0,0}>")
    text = text.replace("y = Mul(m, half)", f"h = Mul(m, half) y = Loop(n, , h) {body}")
    proto, notes = run(model(text), rules, opset=20)
    assert opset(proto) == 17
    assert "the opset stays 17: Loop node number 5 is only carried along" in notes[-1]


def test_opsets_nobody_knows_are_refused(rules: str) -> None:
    with pytest.raises(UsageError, match=r"known up to ai\.onnx 25"):
        run(model(GELU), rules, opset=900)


#: RMSNormalization exists from 23 on; nothing that opset 18 has can be made of it.
NEWER = """\
language 1
rewrite rms:
  Mul(Div(x: f32[*_, D], Sqrt(Add(ReduceMean(Mul(x, x), axes, keepdims=1), e))), c: f32[D])
    => RMSNormalization(x, c, epsilon=value(e))
  where rank(e) == 0, value(axes) == [-1]
rewrite in_vain: Neg(x) => RMSNormalization(x, x)
  where rank(x) == 7
"""
RMS = (
    "g (float[2,4] x) => (float[2,4] y)"
    "<float e = {0.5}, float[4] c = {1,2,3,4}, int64[1] a = {-1}>"
    "{ q = Mul(x, x) m = ReduceMean<keepdims=1>(q, a) p = Add(m, e) s = Sqrt(p) d = Div(x, s)"
    " h = Mul(d, c) y = Neg(h) }"
)


@pytest.fixture
def newer(tmp_path: Path) -> str:
    path = tmp_path / "newer.tsat"
    path.write_text(NEWER)
    return str(path)


def test_rules_of_operators_newer_than_the_language_are_not_tried_below_their_opset(
    newer: str,
) -> None:
    settings = {"cost": {"model": "nodes"}}
    result = tensat_dl.optimize(model(RMS, 18), newer, settings)
    assert [node.op_type for node in result.model.graph.node][-2:] == ["Mul", "Neg"]
    assert result.report["rules"] == []
    note = "off at ai.onnx 18: rms (for want of RMSNormalization; --opset 23 has it)"
    assert result.report["notes"] == [note]


@pytest.mark.parametrize(("own", "allowed"), [(18, 24), (23, 0), (25, 0)])
def test_rules_of_operators_newer_than_the_language_act_where_the_opset_has_them(
    newer: str, own: int, allowed: int
) -> None:
    proto, notes = run(model(RMS, own), newer, opset=allowed)
    assert [node.op_type for node in proto.graph.node] == ["RMSNormalization", "Neg"]
    assert opset(proto) == max(own, 23)
    assert notes == []
