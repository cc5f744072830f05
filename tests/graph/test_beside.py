"""Large weights are handed to onnxruntime beside the model, and change nothing."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from tensat_dl.graph.running.beside import divide
from tensat_dl.graph.running.run import open_runner, try_optimised
from tensat_dl.graph.source import Source

SIZE = 1 << 15  # elements; 128 KiB


def weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)


def model(ir_version: int, *, listed: bool) -> onnx.ModelProto:
    """y = (x + w) * c + s, z = k: w is an initializer, c and k are made by nodes, s is small."""
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [SIZE])
    w = helper.make_tensor_value_info("w", TensorProto.FLOAT, [SIZE])
    outputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [SIZE]) for n in "yz"]
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(weights(1))),
        helper.make_node("Constant", [], ["z"], value=numpy_helper.from_array(weights(2))),
        helper.make_node("Add", ["x", "w"], ["a"]),
        helper.make_node("Mul", ["a", "c"], ["b"]),
        helper.make_node("Add", ["b", "s"], ["y"]),
    ]
    held = [
        numpy_helper.from_array(weights(0), "w"),
        numpy_helper.from_array(np.float32(3), "s"),
    ]
    graph = helper.make_graph(nodes, "g", [x, w] if listed else [x], outputs, held)
    return helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=ir_version
    )


@pytest.mark.parametrize("ir_version", [3, 8])
def test_a_divided_model_computes_the_same(ir_version: int) -> None:
    proto = model(ir_version, listed=ir_version < 4)
    parts = divide(proto)
    assert parts is not None
    assert sorted(parts.weights) == ["c", "w"]
    x = weights(3)
    y, z = open_runner(Source(proto)).run({"x": x})
    np.testing.assert_array_equal(y, (x + weights(0)) * weights(1) + np.float32(3))
    np.testing.assert_array_equal(z, weights(2))


def test_onnxruntime_takes_the_weights_as_data_elsewhere() -> None:
    proto = model(8, listed=False)
    parts = divide(proto)
    assert parts is not None
    options = onnxruntime.SessionOptions()
    light = parts.outside(options)
    assert light.ByteSize() < proto.ByteSize() / 2  # z, an output, stays inside
    session = onnxruntime.InferenceSession(light.SerializeToString(), options)
    x = weights(3)
    y, z = session.run(None, {"x": x})
    np.testing.assert_array_equal(y, (x + weights(0)) * weights(1) + np.float32(3))
    np.testing.assert_array_equal(z, weights(2))
    try_optimised(Source(proto), parts)


def test_a_default_that_callers_may_override_stays_inside() -> None:
    proto = model(8, listed=True)
    parts = divide(proto)
    assert parts is not None
    assert sorted(parts.weights) == ["c"]
    y, _ = open_runner(Source(proto)).run({"x": weights(3), "w": weights(4)})
    expected = (weights(3) + weights(4)) * weights(1) + np.float32(3)
    np.testing.assert_array_equal(y, expected)


def test_a_model_of_small_weights_is_not_divided() -> None:
    proto = model(8, listed=False)
    for tensor in (
        proto.graph.initializer[0],
        *(proto.graph.node[i].attribute[0].t for i in (0, 1)),
    ):
        tensor.CopyFrom(numpy_helper.from_array(np.ones(SIZE // 8, np.float32), tensor.name))
    assert divide(proto) is None
