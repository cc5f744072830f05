"""Times in onnxruntime itself: only what holds on any machine, busy or not."""

from __future__ import annotations

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

from tensat_dl.cost.measured.little_model import LittleModel, empty_model
from tensat_dl.cost.measured.timer import LEAST, OrtTimer, bound_run, open_session

pytestmark = pytest.mark.measures


def products(count: int, side: int) -> LittleModel:
    """A chain of products with one matrix."""
    values = ["x", *(f"v{i}" for i in range(1, count)), "y"]
    nodes = [helper.make_node("MatMul", [values[i], "w"], [values[i + 1]]) for i in range(count)]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, [side, side])
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
    matrix = np.eye(side, dtype=np.float32)
    graph = helper.make_graph(nodes, "g", [x], [y], [numpy_helper.from_array(matrix, "w")])
    opset = helper.make_opsetid("", 21)
    return LittleModel(
        helper.make_model(graph, opset_imports=[opset], ir_version=10),
        {"x": np.ones((side, side), np.float32)},
    )


def broken() -> LittleModel:
    """A product whose sizes do not fit."""
    model = products(1, 4)
    return LittleModel(model.proto, {"x": np.ones((3, 3), np.float32)})


def test_more_work_takes_longer() -> None:
    one, nothing, many = OrtTimer(1).time([products(1, 160), broken(), products(8, 160)])
    assert nothing is None
    assert one is not None
    assert many is not None
    assert LEAST <= one < many


def test_the_empty_model_takes_nothing() -> None:
    (seconds,) = OrtTimer(1).time([empty_model()])
    assert seconds is not None
    assert seconds < 1e-4


def test_a_bound_run_fills_its_outputs() -> None:
    model = products(2, 8)
    session = open_session(model.proto.SerializeToString(), 1)
    assert bound_run(session, model.feeds)() is None


def test_what_is_no_tensor_of_numbers_runs_as_well() -> None:
    x = helper.make_tensor_value_info("x", TensorProto.STRING, [2])
    y = helper.make_tensor_value_info("y", TensorProto.STRING, [2])
    graph = helper.make_graph([helper.make_node("Identity", ["x"], ["y"])], "g", [x], [y])
    opset = helper.make_opsetid("", 21)
    proto = helper.make_model(graph, opset_imports=[opset], ir_version=10)
    session = open_session(proto.SerializeToString(), 1)
    run = bound_run(session, {"x": np.array(["a", "b"], dtype=object)})
    (output,) = run()  # type: ignore[misc]
    assert list(output) == ["a", "b"]


def test_a_model_that_does_not_load_is_an_error_of_the_runtime() -> None:
    from tensat_dl.graph.run import ort_errors

    graph = helper.make_graph(
        [helper.make_node("Nobody", [], ["y"])], "g", [], [onnx.ValueInfoProto(name="y")]
    )
    with pytest.raises(ort_errors()):
        open_session(helper.make_model(graph).SerializeToString(), 1)
