"""Models without their large tensors: what is looked at in them is what the model says."""

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tensat_dl.graph.digest import model_digest
from tensat_dl.graph.light import lighten, with_weights_as_inputs
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.running.beside import Divided
from tensat_dl.graph.running.run import CannotRun, open_runner, try_without_weights
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.check import checker_complaint
from tensat_dl.settings import ModelSettings

SIZE = 1 << 15  # elements; 128 KiB


def weights(seed: int) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(SIZE).astype(np.float32)


def model(operator: str = "Mul", seed: int = 1) -> onnx.ModelProto:
    """y = (x + w) * c + s: w is an initializer, c is made by a node, s is small."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [SIZE]) for n in "xy")
    nodes = [
        helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(weights(seed))),
        helper.make_node("Add", ["x", "w"], ["a"]),
        helper.make_node(operator, ["a", "c"], ["b"]),
        helper.make_node("Add", ["b", "s"], ["y"]),
    ]
    held = [numpy_helper.from_array(weights(0), "w"), numpy_helper.from_array(np.float32(3), "s")]
    graph = helper.make_graph(nodes, "g", [x], [y], held)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def test_large_weights_become_inputs() -> None:
    proto = model()
    light = with_weights_as_inputs(proto)
    assert [value.name for value in light.graph.input] == ["x", "w", "c"]
    assert [tensor.name for tensor in light.graph.initializer] == ["s"]
    assert [node.op_type for node in light.graph.node] == ["Add", "Mul", "Add"]
    assert light.ByteSize() < 1000
    assert proto == model()


def test_a_model_that_nothing_goes_from_is_not_copied() -> None:
    proto = model()
    assert lighten(proto, lambda name, _: name == "other").proto is proto


def test_what_the_checker_says_does_not_depend_on_large_weights() -> None:
    assert checker_complaint(model()) == ""
    wrong = model()
    wrong.graph.node[2].input[1] = "nowhere"
    assert "nowhere" in checker_complaint(wrong)


def test_the_content_of_a_constant_node_is_in_the_digest() -> None:
    def digest(proto: onnx.ModelProto) -> str:
        graph = read_model(proto, ModelSettings())
        return model_digest(graph, graph.source.proto)

    assert digest(model()) == digest(model())
    assert len({digest(model()), digest(model(seed=2)), digest(model("Sub"))}) == 3


def test_an_operator_that_onnxruntime_lacks_is_found_without_the_weights() -> None:
    try_without_weights(Source(model()))
    with pytest.raises(CannotRun, match="Mull"):
        try_without_weights(Source(model("Mull")))


def test_what_wants_its_weights_to_be_constant_gets_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if onnxruntime refused an operator whose weight is an input."""
    monkeypatch.setattr(Divided, "fed", lambda _: model("Mull"))
    runner = open_runner(Source(model()))
    assert runner.divided is None
    (y,) = runner.run({"x": weights(2)})
    expected = (weights(2) + weights(0)) * weights(1) + np.float32(3)
    np.testing.assert_array_equal(y, expected)
