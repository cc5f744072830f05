"""Which model is written: the found one, the original folded, or the original as it was."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

import tensat_dl
from tensat_dl.errors import VerificationError
from tensat_dl.graph import tensors

HEAD = '<ir_version: 9, opset_import: ["": 21]>'


def model(text: str, **weights: np.ndarray) -> onnx.ModelProto:
    proto = parser.parse_model(HEAD + text)
    for name, array in weights.items():
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return proto


def rand(*dims: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(dims).astype(np.float32)


@pytest.fixture
def idle(tmp_path: Path) -> str:
    """Rules that never help."""
    path = tmp_path / "idle.tsat"
    path.write_text("language 1\nrewrite abs_abs: Abs(Abs(x)) => Abs(x)\n")
    return str(path)


def operators(proto: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in proto.graph.node]


def test_constants_are_folded_where_no_rule_helps(idle: str) -> None:
    proto = model(
        "g (float[2,4] x) => (float[2,4] y)"
        "{ t = Transpose<perm=[1,0]>(w) n = Neg(t) y = MatMul(x, n) }",
        w=rand(4, 4),
    )
    result = tensat_dl.optimize(proto, idle)
    assert operators(result.model) == ["MatMul"]
    assert result.report["status"] == "improved"
    cost = result.report["cost"]
    assert cost["before"] == cost["after"]


def test_a_model_with_nothing_to_do_is_written_as_it_was(idle: str, tmp_path: Path) -> None:
    proto = model("g (float[2,4] x) => (float[2,4] y) { y = MatMul(x, w) }", w=rand(4, 4))
    path = tmp_path / "m.onnx"
    onnx.save(proto, path)
    written = tensat_dl.optimize(path, idle).model
    assert Path(written).read_bytes() == path.read_bytes()


def test_a_model_older_than_rules_is_told_nothing_else(idle: str) -> None:
    proto = model("g (float[2] x) => (float[2] y) { a = Relu(x) y = Relu(a) }")
    proto.opset_import[0].version = 5
    result = tensat_dl.optimize(proto, idle)
    assert operators(result.model) == ["Relu", "Relu"]
    (warning,) = result.report["warnings"]
    assert "rules apply from 7 on" in warning
    assert result.report["notes"] == []


def test_a_result_that_the_runtime_refuses_is_not_written(idle: str) -> None:
    """onnxruntime runs Range with a limit of one dim unless it sees that it is a constant."""
    proto = model(
        "g (float[3] x) => (float[K] y) <int64 z = {0}, int64 o = {1}, int64[1] k = {3}>"
        "{ a = Abs(x) b = Abs(a) s = Shape(b) t = Min(s, k) r = Range(z, t, o)"
        "  f = Cast<to=1>(r) y = Add(f, b) }"
    )
    result = tensat_dl.optimize(proto, "std", {"cost": {"model": "roofline"}})
    assert result.model == proto
    assert result.report["status"] == "refused"
    assert result.report["verification"]["ok"]
    (warning,) = [w for w in result.report["warnings"] if "not written" in w]
    assert "Range" in warning


LORA = (
    "g (float[N,64] x) => (float[N,64] y)"
    "{ a = MatMul(x, w) b = MatMul(x, u) c = MatMul(b, v) y = Add(a, c) }"
)


def test_the_budget_does_not_stop_what_makes_the_model_cheaper() -> None:
    """x w + (x u) v = x (w + u v): one product instead of three, and w + u v is new."""
    proto = model(LORA + "", w=rand(64, 64), u=rand(64, 4), v=rand(4, 64))
    proto.graph.node.append(onnx.helper.make_node("MatMul", ["x", "w"], ["other"]))
    value = onnx.helper.make_tensor_value_info("other", 1, ["N", 64])
    proto.graph.output.append(value)
    tight = {
        "cost": {"model": "roofline"},
        "export": {"fold_bytes": 0, "fold_ratio": 0.0},
        "verify": {"samples": 2},
    }
    result = tensat_dl.optimize(proto, "std", tight)
    assert "Add" not in operators(result.model)
    names = {tensor.name: tensor for tensor in result.model.graph.initializer}
    assert sum(np.prod(t.dims) for t in names.values()) >= 2 * 64 * 64
    assert result.report["cost"]["after"] < result.report["cost"]["before"]


@pytest.mark.slow
def test_what_is_never_folded_has_its_price() -> None:
    """A quantised weight is unpacked at every run."""
    text = "g (float[1,64] x) => (float[1,64] y) <float s = {0.5}>{ %s y = MatMul(x, d) }"
    q = np.ones((64, 64), np.int8)
    settings = {"cost": {"model": "nodes"}}
    packed = tensat_dl.optimize(model(text % "d = DequantizeLinear(q, s)", q=q), "std", settings)
    plain = tensat_dl.optimize(model(text % "d = Cast<to=1>(q)", q=q), "std", settings)
    assert packed.report["cost"]["before"] == packed.report["cost"]["after"] == 2
    assert plain.report["cost"]["before"] == 1
    assert operators(packed.model) == ["DequantizeLinear", "MatMul"]
    assert operators(plain.model) == ["MatMul"]


def test_a_model_over_the_limit_of_protobuf(idle: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """With a limit of 90,000 bytes: no step may serialise the whole."""
    monkeypatch.setattr(tensors, "PROTO_LIMIT", 90_000)
    proto = model(
        "g (float[2,160] x) => (float[2,160] y) { a = Abs(x) b = Abs(a) y = MatMul(b, w) }",
        w=rand(160, 160),
    )
    whole = onnx.ModelProto.SerializeToString

    def small(self: onnx.ModelProto, **more: object) -> bytes:
        content = whole(self, **more)
        assert len(content) < 90_000
        return content

    monkeypatch.setattr(onnx.ModelProto, "SerializeToString", small)
    result = tensat_dl.optimize(proto, idle)
    assert operators(result.model) == ["Abs", "MatMul"]
    assert result.report["verification"]["samples"] == 3


def test_what_was_not_changed_is_kept_to_the_letter(tmp_path: Path) -> None:
    """Of two equal nodes the one whose value stays; an Identity that an output needs; a constant
    that a rule writes as the model has it."""
    text = (
        "g (float[3] x) => (float[3] y, float[3] i, float[3] z) <float k = {4}>"
        "{ [first] a = Abs(x) [second] y = Abs(x) [copy] i = Identity(x)"
        "  b = Add(a, y) c = Add(y, a) z = Add(b, c) }"
    )
    proto = model(text)
    proto.graph.initializer[0].doc_string = "four"
    for node in proto.graph.node:
        node.doc_string = f"makes {node.output[0]}"
    path = tmp_path / "r.tsat"
    path.write_text(
        "language 1\nrewrite copy: Identity(x) => x\n"
        "rewrite four: Add(Add(x, x), Add(x, x)) => Mul(x, f32(4))\n"
    )
    result = tensat_dl.optimize(proto, str(path), {"cost": {"model": "nodes"}})
    second, copy = proto.graph.node[1:3]
    assert second in result.model.graph.node
    assert copy in result.model.graph.node
    assert list(result.model.graph.initializer) == list(proto.graph.initializer)


#: The first is true of all numbers, not of NaN and infinities; the second is wrong.
_TIMES_ZERO = "@real\nrewrite times_zero: Mul(0, _): T[*S] => Expand(T(0), i64([*S]))\n"
_NO_SUM = "{}rewrite no_sum: Add(x, _) => x\n"


def test_infinities_that_rules_over_the_reals_lose_stay(tmp_path: Path) -> None:
    rules = tmp_path / "zero.tsat"
    rules.write_text("language 1\n" + _TIMES_ZERO + "rewrite relu_relu: Relu(Relu(x)) => Relu(x)\n")
    proto = model(
        "g (float[3] x) => (float[3] y, float[3] z)"
        " <float zero = {0}> { a = Add(x, k) y = Mul(a, zero) b = Relu(x) z = Relu(b) }",
        k=np.array([0, -np.inf, np.nan], np.float32),
    )
    result = tensat_dl.optimize(proto, str(rules))
    assert operators(result.model) == ["Add", "Mul", "Relu"]
    (note,) = result.report["notes"]
    assert "rules.exact=true" in note
    finite = model(
        "g (float[3] x) => (float[3] y) <float zero = {0}> { a = Add(x, k) y = Mul(a, zero) }",
        k=np.array([0, 1, 2], np.float32),
    )
    assert operators(tensat_dl.optimize(finite, str(rules)).model) == []


def test_what_is_left_of_a_sum_that_cancels_stays(tmp_path: Path) -> None:
    rules = tmp_path / "cancel.tsat"
    rules.write_text("language 1\n@real\nrewrite cancel: Sub(Add(x, c), c) => x\n")
    proto = model(
        "g (float[9] x) => (float[9] y) <float c = {1000}>"
        "{ a = Add(x, c) b = Sub(a, c) y = Sub(b, x) }"
    )
    result = tensat_dl.optimize(proto, str(rules))
    assert operators(result.model) == ["Add", "Sub", "Sub"]
    (note,) = result.report["notes"]
    assert "rules.exact=true" in note


def test_half_floats_that_overflow_where_the_runtime_rounds_them_stay(tmp_path: Path) -> None:
    """onnxruntime computes them as f32, and rounds where a node of another kind comes between."""
    rules = tmp_path / "nothing.tsat"
    rules.write_text("language 1\nrewrite nothing: Dropout(x) => x\n")
    proto = model(
        "g (float16[4] x) => (float16[4] y)"
        "{ a = Add(x, c) b = Exp(a) e = Concat<axis=0>(b) f = Dropout(e) y = Log(f) }",
        c=np.array(15, np.float16),
    )
    proto.opset_import[0].version = 9
    result = tensat_dl.optimize(proto, str(rules))
    assert operators(result.model) == ["Add", "Exp", "Concat", "Dropout", "Log"]
    (note,) = result.report["notes"]
    assert "no rule is applied" in note


@pytest.mark.parametrize(("mark", "number"), [("", "inf"), ("@real ", "1")])
def test_a_wrong_rule_is_told_all_the_same(mark: str, number: str, tmp_path: Path) -> None:
    rules = tmp_path / "wrong.tsat"
    rules.write_text("language 1\n" + _NO_SUM.format(mark))
    proto = model(
        "g (float[3] x) => (float[3] y) { y = Add(x, k) }",
        k=np.array([0, 0, float(number)], np.float32),
    )
    with pytest.raises(VerificationError) as caught:
        tensat_dl.optimize(proto, str(rules))
    assert "`no_sum`" in str(caught.value.help)


def test_an_operator_that_gives_numbers_for_nan_is_done_without(tmp_path: Path) -> None:
    """A row of which all is masked by minus infinity: a softmax gives NaN there, Attention 0."""
    rules = tmp_path / "rules.tsat"
    rules.write_text(
        "language 1\n@real rewrite fused:\n"
        "  MatMul(Softmax(Add(MatMul(q, t), m), axis=3), v)\n"
        "    => Attention(q, Transpose(t, perm=[0, 1, 3, 2]), v, m, scale=1.0)\n"
    )
    model = parser.parse_model(
        '<ir_version: 10, opset_import: ["": 23]>'
        "g (float[1,1,8,4] q, float[1,1,4,1] t, float[1,1,1,4] v, float[1,1,8,1] m)"
        " => (float[1,1,8,4] y) { a = Relu(m) l = Log(a) s = MatMul(q, t) x = Add(s, l)"
        " p = Softmax<axis=3>(x) y = MatMul(p, v) }"
    )
    result = tensat_dl.optimize(model, str(rules), {"cost": {"model": "nodes"}})
    kinds = [node.op_type for node in result.model.graph.node]
    assert kinds == ["Relu", "Log", "MatMul", "Add", "Softmax", "MatMul"]
    assert result.report["notes"] == []
    (warning,) = result.report["warnings"]
    assert warning.startswith("`Attention`, made by `fused`, is left out of the answer: the model")
    assert result.report["verification"]["ok"]
