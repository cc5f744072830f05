"""Times in onnxruntime itself: only what holds on any machine, busy or not."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper

from tensat_dl.cost.measured.little_model import LittleModel, empty_model
from tensat_dl.cost.measured.optimised import optimised_key, write_optimised
from tensat_dl.cost.measured.timer import LEAST, OrtTimer, Timing, bound_run, open_session

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
    one, nothing, many = OrtTimer(1).time([products(1, 160), broken(), products(8, 160)], {})
    assert nothing is None
    assert one is not None
    assert many is not None
    assert LEAST <= one.seconds < many.seconds
    assert one.key != many.key


def test_the_empty_model_takes_nothing() -> None:
    (seconds,) = OrtTimer(1).time([empty_model()], {})
    assert seconds is not None
    assert seconds.seconds < 1e-4


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
    from tensat_dl.graph.running.run import ort_errors

    graph = helper.make_graph(
        [helper.make_node("Nobody", [], ["y"])], "g", [], [onnx.ValueInfoProto(name="y")]
    )
    with pytest.raises(ort_errors()):
        open_session(helper.make_model(graph).SerializeToString(), 1)


def convolution(*, normalised: bool, size: int = 8) -> LittleModel:
    """A convolution with a bias, or with a normalisation behind it, and a ReLU."""
    rng = np.random.default_rng(size + normalised)
    names = ["scale", "shift", "mean", "variance"] if normalised else ["bias"]
    tensors = {"w": rng.random((16, 16, 3, 3)), **{name: rng.random(16) + 1 for name in names}}
    inputs = ["x", "w"] if normalised else ["x", "w", "bias"]
    nodes = [helper.make_node("Conv", inputs, ["c"], pads=[1, 1, 1, 1])]
    if normalised:
        nodes.append(helper.make_node("BatchNormalization", ["c", *names], ["n"]))
    nodes.append(helper.make_node("Relu", [nodes[-1].output[0]], ["y"]))
    dims = [1, 16, size, size]
    graph = helper.make_graph(
        nodes,
        "g",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, dims)],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(t.astype(np.float32), name) for name, t in tensors.items()],
    )
    opset = helper.make_opsetid("", 21)
    proto = helper.make_model(graph, opset_imports=[opset], ir_version=10)
    return LittleModel(proto, {"x": np.ones(dims, np.float32)})


def test_the_key_of_a_model_is_never_that_of_the_model_before(tmp_path: Path) -> None:
    open_session(products(1, 4).proto.SerializeToString(), 1, tmp_path)
    assert optimised_key(tmp_path)
    write_optimised(onnxruntime.SessionOptions(), tmp_path)  # of a session that writes nothing
    with pytest.raises(FileNotFoundError):
        optimised_key(tmp_path)


def test_what_the_runtime_makes_the_same_takes_the_same() -> None:
    """onnxruntime folds the normalisation into the convolution, whatever the weights are."""
    models = [convolution(normalised=normalised) for normalised in (True, False)]
    other = convolution(normalised=True, size=9)
    first, second, third = OrtTimer(1).time([*models, other], {})
    assert first is not None and third is not None
    assert first == second
    assert first.key and third.key and first.key != third.key
    known = OrtTimer(1).time(models, {first.key: 5.0})
    assert known == [Timing(5.0, first.key)] * 2
