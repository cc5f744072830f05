"""The next best answer is written: the runtime refuses the best, or it has NaN or infinities."""

from __future__ import annotations

import onnx
import pytest
from line import Line
from onnx import TensorProto, helper
from onnx_text import model

from tensat_dl import attempts
from tensat_dl.errors import VerificationError

#: onnxruntime has no Elu of f64; that with an alpha of 0 is a ReLU.
ELU = """language 1
rewrite elu: Relu(x) => Elu(x, alpha=0.0)
rewrite max: Relu(x) => Max(x, Sub(x, x))
cost model ours { Relu = 9 Elu = 1 _ = 1 }
"""
F64 = "(double[2] x) => (double[2] y) { a = Relu(x) b = Exp(a) y = Relu(b) }"


def operators(answer: onnx.ModelProto) -> list[str]:
    return sorted(node.op_type for node in answer.graph.node)


def test_an_operator_that_the_runtime_lacks_gives_way_to_the_next_best(line: Line) -> None:
    answer = line(ELU, model(F64), cost="ours")
    assert operators(answer.model) == ["Exp", "Max", "Max", "Sub", "Sub"]
    assert (answer.outcome.cost_before, answer.outcome.cost_after) == (19, 5)
    assert dict(answer.outcome.rules_in_answer) == {"max": 4}
    (warning,) = answer.outcome.warnings
    assert warning.startswith("`Elu`, made by `elu`, is left out of the answer: ")
    assert "Could not find an implementation for Elu" in warning


def test_outputs_that_can_be_compared_save_no_model_that_cannot_be_run(line: Line) -> None:
    """It would be cheaper with two operators of the rule; y alone does not depend on them."""
    rules = """language 1
    op "my"::Rectify(x: Tensor) -> y: Tensor { infer y = like(x) }
    @allow(W1002) rewrite r: Relu(x) => Rectify(x)
    rewrite n: Neg(Neg(x)) => x
    cost model ours { Relu = 9 _ = 1 }
    """
    text = "(float[2] x) => (float[2] y, float[2] z) "
    proto = model(text + "{ a = Neg(x) b = Neg(a) y = Exp(b) c = Relu(x) z = Exp(c) }")
    answer = line(rules, proto, cost="ours")
    assert operators(answer.model) == ["Exp", "Exp", "Relu"]
    (warning,) = answer.outcome.warnings
    assert "Rectify" in warning and "--no-check" in warning


def test_what_it_has_is_not_given_up(line: Line) -> None:
    answer = line(ELU, model(F64.replace("double", "float")), cost="ours")
    assert operators(answer.model) == ["Elu", "Elu", "Exp"]
    assert not answer.outcome.warnings


def test_where_nothing_else_is_left_it_is_the_original(line: Line) -> None:
    rules = ELU.replace("rewrite max: Relu(x) => Max(x, Sub(x, x))\n", "")
    proto = model(F64)
    answer = line(rules, proto, cost="ours")
    assert answer.model == proto
    assert len(answer.outcome.warnings) == 1


def test_the_parts_around_an_unknown_operator_are_no_exception(line: Line) -> None:
    proto = model(F64, com_acme=1)
    proto.graph.node[1].op_type, proto.graph.node[1].domain = "Fancy", "com.acme"
    proto.graph.value_info.append(helper.make_tensor_value_info("b", TensorProto.DOUBLE, [2]))
    answer = line(ELU, proto, cost="ours")
    assert operators(answer.model) == ["Fancy", "Max", "Max", "Sub", "Sub"]
    (warning,) = answer.outcome.warnings
    assert warning.startswith("`Elu`, made by `elu`, is left out of the answer: ")
    assert answer.outcome.verification is not None
    assert "not compared: Fancy node" in answer.outcome.verification.skipped


def test_only_so_many_are_tried(line: Line, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(attempts, "MOST", 1)
    proto = model(F64)
    answer = line(ELU, proto, cost="ours")
    assert answer.model == proto
    assert len(answer.outcome.warnings) == 1


#: Over real numbers (x + a) l is x l - a (-l).
SPREAD = """language 1
@real
rewrite spread: Mul(Add(x, a), l) => Sub(Mul(x, l), Mul(a, Neg(l))) where weight(a) and weight(l)
cost model ours { Sub = 1 Add = 5 Mul = 1 _ = 1 }
"""


def shifted(a: str, factor: str) -> onnx.ModelProto:
    weights = f"<float[2] a = {{{a}}}, float[2] b = {{{factor}}}>"
    return model(
        f"(float[2] x) => (float[2] y) {weights} {{ l = Log(b) s = Add(x, a) y = Mul(s, l) }}"
    )


def test_constants_that_become_nan_give_way(line: Line) -> None:
    """The logarithm of 0 times 0: the original gives infinities, whatever x."""
    answer = line(SPREAD, shifted("0, 1", "0, 0"), cost="ours")
    assert operators(answer.model) == ["Add", "Mul"]
    (warning,) = answer.outcome.warnings
    assert warning == (
        "`Mul`, made by `spread`, is left out of the answer: of constants that hold none it makes"
        " NaN, which the original does not have"
    )
    answer = line(SPREAD, shifted("0, 1", "2, 2"), cost="ours")
    assert operators(answer.model) == ["Mul", "Sub"]


def test_constants_that_become_infinite_give_way(line: Line) -> None:
    """x times 0 times 3e30 is 0.  3e30 squared is no f32, so that neither (0 * 3e30²) nor 3e30²
    may be a constant; 0 * 3e30 may."""
    rules = """language 1
@real
rewrite fold: Mul(Mul(x, c), d) => Mul(x, Mul(c, d)) where weight(c), weight(d)
"""
    weights = "<float[2] z = {0, 1}, float[2] a = {3e30, 2}, float[2] b = {3e30, 2}>"
    nodes = "{ m = Mul(x, z) n = Mul(m, a) y = Mul(n, b) }"
    answer = line(rules, model(f"(float[2] x) => (float[2] y) {weights} {nodes}"))
    assert operators(answer.model) == ["Mul", "Mul"]
    assert [text.split(" it makes ")[1] for text in answer.outcome.warnings] == [
        "NaN, which the original does not have",
        "infinities, which the original does not have",
    ]


def test_nan_that_the_original_makes_is_nobodys_fault(line: Line) -> None:
    answer = line(SPREAD, shifted("0, 1", "-1, 2"), cost="ours")
    assert operators(answer.model) == ["Mul", "Sub"]
    assert not answer.outcome.warnings


def test_a_wrong_rule_is_no_excuse(line: Line) -> None:
    wrong = "language 1\nrewrite wrong: Relu(x) => Abs(x)\ncost model ours { Relu = 9 _ = 1 }"
    with pytest.raises(VerificationError, match=r"0\.0 became"):
        line(wrong, model("(float[2] x) => (float[2] y) { y = Relu(x) }"), cost="ours")
