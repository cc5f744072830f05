"""What a model makes of its weights alone is computed once, and changes nothing."""

import ml_dtypes
import numpy as np
import onnx
from onnx import helper, numpy_helper, parser

from tensat_dl.graph.running.beside import divide
from tensat_dl.graph.running.run import OrtRunner, open_runner
from tensat_dl.graph.running.steady import Steady, steady_part
from tensat_dl.graph.source import Source

HEAD = '<ir_version: 8, opset_import: ["": 17]>'
SIDE = 160  # 100 KiB


def weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal((SIDE, SIDE)).astype(np.float32)


def model(body: str, outputs: str = f"float[1,{SIDE}] y") -> onnx.ModelProto:
    """With an input x, and weights w and v."""
    proto = parser.parse_model(f"{HEAD} g (float[1,{SIDE}] x) => ({outputs}) {{ {body} }}")
    held = [numpy_helper.from_array(weights(seed), name) for seed, name in ((0, "w"), (1, "v"))]
    proto.graph.initializer.extend(held)
    return proto


def steady(proto: onnx.ModelProto, *wanted: str) -> Steady | None:
    parts = divide(proto)
    assert parts is not None
    return steady_part(parts.fed(), parts.weights, wanted)


def operators(proto: onnx.ModelProto) -> list[str]:
    return [node.op_type for node in proto.graph.node]


CHAIN = """
  s = Constant <value_ints = [160, 160]> ()
  t = Transpose <perm = [1, 0]> (w)
  r = Reshape(v, s)
  a = Abs(r)
  p = MatMul(x, t)
  y = Add(p, a)
"""


def test_nodes_that_read_weights_alone_run_once() -> None:
    proto = model(CHAIN, f"float[{SIDE},{SIDE}] y")
    part = steady(proto)
    assert part is not None
    assert operators(part.once) == ["Constant", "Transpose", "Reshape", "Abs"]
    assert [value.name for value in part.once.graph.output] == ["t", "a"]
    runner = open_runner(Source(proto))
    assert isinstance(runner, OrtRunner)
    np.testing.assert_array_equal(runner.fed["t"], weights(0).T)
    np.testing.assert_array_equal(runner.fed["a"], abs(weights(1)))
    rest = part.rest({name: runner.fed[name] for name in ("t", "a")})
    assert operators(rest) == ["Constant", "MatMul", "Add"]
    for seed in (2, 3):
        x = weights(seed)[:1]
        (y,) = runner.run({"x": x})
        np.testing.assert_allclose(y, x @ weights(0).T + abs(weights(1)), rtol=1e-4, atol=1e-4)


def test_what_is_asked_for_is_made_as_before() -> None:
    """Outputs of the model, and values that are shown beside them."""
    proto = model(
        "t = Transpose(w) y = Abs(v) z = MatMul(x, t)", "float[160,160] y, float[1,160] z"
    )
    part = steady(proto)
    assert part is not None and operators(part.once) == ["Transpose"]
    assert steady(proto, "t") is None
    y, z, t = open_runner(Source(proto), also=["t"]).run({"x": weights(2)[:1]})
    np.testing.assert_array_equal(y, abs(weights(1)))
    np.testing.assert_array_equal(t, weights(0).T)
    np.testing.assert_allclose(z, weights(2)[:1] @ weights(0).T, rtol=1e-4, atol=1e-4)


def test_random_operators_run_at_every_run() -> None:
    proto = model("n = RandomNormalLike(w) t = Transpose(n) y = MatMul(x, t)")
    assert steady(proto) is None
    runner = open_runner(Source(proto))
    first, second = (runner.run({"x": weights(2)[:1]})[0] for _ in range(2))
    assert not np.array_equal(first, second)


def test_branches_see_what_was_computed() -> None:
    proto = model("t = Transpose(w) y = If(c)")
    then, other = (
        helper.make_graph(
            [helper.make_node(operator, ["x", name], [f"{name}_out"])],
            name,
            [],
            [helper.make_tensor_value_info(f"{name}_out", 1, [1, SIDE])],
        )
        for operator, name in (("MatMul", "t"), ("MatMul", "v"))
    )
    node = proto.graph.node[1]
    node.attribute.append(helper.make_attribute("then_branch", then))
    node.attribute.append(helper.make_attribute("else_branch", other))
    proto.graph.input.append(helper.make_tensor_value_info("c", onnx.TensorProto.BOOL, []))
    runner = open_runner(Source(proto))
    assert isinstance(runner, OrtRunner) and "t" in runner.fed
    x = weights(2)[:1]
    for condition, matrix in ((True, weights(0).T), (False, weights(1))):
        (y,) = runner.run({"x": x, "c": np.array(condition)})
        np.testing.assert_allclose(y, x @ matrix, rtol=1e-4, atol=1e-4)


def test_a_default_that_callers_override_is_no_constant() -> None:
    proto = model("t = Mul(w, k) y = MatMul(x, t)")
    proto.graph.initializer.append(numpy_helper.from_array(np.float32(2), "k"))
    part = steady(proto)
    assert part is not None and operators(part.once) == ["Mul"]
    proto.graph.input.append(helper.make_tensor_value_info("k", onnx.TensorProto.FLOAT, []))
    assert steady(proto) is None
    (y,) = open_runner(Source(proto)).run({"x": weights(2)[:1], "k": np.array(3, np.float32)})
    expected = weights(2)[:1] @ (weights(0) * np.float32(3))
    np.testing.assert_allclose(y, expected, rtol=1e-4, atol=1e-4)


def test_bits_of_other_types_are_not_taken_for_integers() -> None:
    """numpy arrays carry fp8 as integers of eight bits."""
    body = "q = Cast<to = 17>(w) d = DequantizeLinear(q, k) y = MatMul(x, d)"
    proto = model(body)
    proto.opset_import[0].version, proto.ir_version = 19, 9
    proto.graph.input.append(helper.make_tensor_value_info("k", onnx.TensorProto.FLOAT, []))
    assert steady(proto) is not None
    x = weights(2)[:1]
    (y,) = open_runner(Source(proto)).run({"x": x, "k": np.array(0.5, np.float32)})
    rounded = weights(0).astype(ml_dtypes.float8_e4m3fn).astype(np.float32)
    np.testing.assert_allclose(y, x @ (rounded * np.float32(0.5)), rtol=1e-4, atol=1e-4)


def test_sequences_are_made_at_every_run() -> None:
    proto = model("s = SplitToSequence<axis = 1>(w) i = Cast<to = 7>(k) t = SequenceAt(s, i) "
                  "y = Add(x, t)", f"float[{SIDE},{SIDE}] y")  # fmt: skip
    proto.graph.input.append(helper.make_tensor_value_info("k", onnx.TensorProto.FLOAT, []))
    (y,) = open_runner(Source(proto)).run({"x": weights(2)[:1], "k": np.array(3, np.float32)})
    np.testing.assert_array_equal(y, weights(2)[:1] + weights(0)[:, 3:4])


def test_weights_that_only_steady_nodes_read_are_spent() -> None:
    runner = open_runner(Source(model("t = Transpose(w) p = MatMul(x, t) y = MatMul(p, v)")))
    assert isinstance(runner, OrtRunner)
    assert sorted(runner.fed) == ["t", "v"]
