"""Copies of models, the parts that are too large for protobuf among them."""

import numpy as np
import onnx
import psutil
import pytest
from onnx import TensorProto, helper, numpy_helper

from tensat_dl.graph import copies
from tensat_dl.graph.copies import copy_model, copy_tensor


def model() -> onnx.ModelProto:
    x, y = (helper.make_tensor_value_info(n, TensorProto.FLOAT, [1 << 16]) for n in ("x", "y"))
    inside = numpy_helper.from_array(np.arange(1 << 16, dtype=np.float32), "inside")
    outside = onnx.TensorProto(name="outside", data_type=TensorProto.FLOAT, dims=[1 << 16])
    outside.data_location = TensorProto.EXTERNAL
    outside.external_data.add(key="location", value="w.bin")
    nodes = [
        helper.make_node("Add", ["x", "inside"], ["a"]),
        helper.make_node("Add", ["a", "outside"], ["y"]),
    ]
    graph = helper.make_graph(nodes, "g", [x], [y], [inside, outside], "said of it")
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=10)


def test_a_copy_is_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(copies, "_LARGE", 0)
    original = model()
    assert copy_model(original) == original
    without = copy_model(original, skip=("initializer",)).graph
    assert (len(without.node), len(without.initializer), without.doc_string) == (2, 0, "said of it")


@pytest.mark.slow
@pytest.mark.skipif(psutil.virtual_memory().available < 12 << 30, reason="takes 6 GB of memory")
def test_one_tensor_of_more_than_two_gigabytes() -> None:
    """Such as the vocabulary of a language model that is in memory."""
    large = onnx.TensorProto(name="w", data_type=TensorProto.INT8, dims=[1 << 31])
    large.raw_data = bytes(1 << 31)
    copy = onnx.TensorProto()
    copy_tensor(large, copy)
    assert (copy.name, len(copy.raw_data)) == ("w", 1 << 31)
