"""Models whose files are links, as caches lay them out that keep files by their content."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper

import tensat_dl
from tensat_dl.graph.running.run import open_reference
from tensat_dl.graph.source import load_source

SIZE = 300


def linked_model(folder: Path, files: Path) -> Path:
    """y = Relu(Relu(x + v)) * w, v and w in files of their own; all files are links into `files`,
    where they have other names."""
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [SIZE]) for n in "xy")
    nodes = [
        helper.make_node("Add", ["x", "v"], ["a"]),
        helper.make_node("Relu", ["a"], ["b"]),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Mul", ["c", "w"], ["y"]),
    ]
    tensors = []
    for count, name in enumerate("vw", start=1):
        tensor = numpy_helper.from_array(count + np.arange(SIZE, dtype=np.float32), name)
        _keep(folder / f"{name}.bin", files / f"{name}s" / f"0{count}", tensor.raw_data)
        tensor.ClearField("raw_data")
        tensor.data_location = TensorProto.EXTERNAL
        tensor.external_data.add(key="location", value=f"{name}.bin")
        tensors.append(tensor)
    graph = helper.make_graph(nodes, "g", [x], [y], tensors)
    opsets = [helper.make_opsetid("", 17)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=8)
    return _keep(folder / "m.onnx", files / "00", model.SerializeToString())


def _keep(link: Path, file: Path, content: bytes) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    link.symlink_to(file)
    return link


def test_data_behind_links_is_read_where_it_is(tmp_path: Path) -> None:
    folder = tmp_path / "snapshot"
    folder.mkdir()
    path = linked_model(folder, tmp_path / "files")
    result = tensat_dl.optimize(path, "std", {"cost": {"model": "roofline"}})
    assert result.report["verification"]["samples"] == 3
    written = onnx.load(result.model)
    assert [node.op_type for node in written.graph.node] == ["Add", "Relu", "Mul"]
    session = onnxruntime.InferenceSession(result.model, providers=["CPUExecutionProvider"])
    numbers = np.arange(SIZE, dtype=np.float32)
    (output,) = session.run(None, {"x": np.ones(SIZE, np.float32)})
    np.testing.assert_array_equal(output, (2 + numbers) * (2 + numbers))


def test_the_reference_evaluator_has_data_that_is_outside(tmp_path: Path) -> None:
    """It runs what onnxruntime has no kernels for, and reads no files itself."""
    path = linked_model(tmp_path, tmp_path / "files")
    (output,) = open_reference(load_source(path)).run({"x": np.ones(SIZE, np.float32)})
    numbers = np.arange(SIZE, dtype=np.float32)
    np.testing.assert_array_equal(output, (2 + numbers) * (2 + numbers))
