"""Types of what onnxruntime's own operators give: those of the tensors that it gives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from numpy.typing import NDArray
from onnx import helper

from tensat_dl.graph.reading.read import read_model
from tensat_dl.settings import ModelSettings
from tensat_dl.vocabulary.types import UNDECLARED, TensorType

F32, U8 = np.float32, np.uint8
SCALE, ZERO = np.array(0.5, F32), np.array(3, U8)


def f32(*shape: int) -> NDArray[Any]:
    return np.full(shape, 0.25, F32)


def u8(*shape: int) -> NDArray[Any]:
    return np.full(shape, 7, U8)


#: Operator, attributes, inputs (None: left out); the first dim of the first input is symbolic.
CASES: Sequence[tuple[str, Mapping[str, Any], Sequence[NDArray[Any] | None]]] = [
    ("Attention", {"num_heads": 2}, [f32(2, 3, 4), f32(4, 12), f32(12)]),
    ("Attention", {"num_heads": 2}, [f32(2, 3, 8), f32(8, 12), f32(12)]),
    ("BiasGelu", {}, [f32(2, 3), f32(3)]),
    ("DequantizeLinear", {}, [u8(2, 3), SCALE, ZERO]),
    ("DynamicQuantizeMatMul", {}, [f32(2, 5, 3), u8(3, 4), SCALE, ZERO]),
    ("FastGelu", {}, [f32(2, 3)]),
    ("FusedMatMul", {"alpha": 0.5}, [f32(2, 5, 3), f32(3, 4)]),
    ("FusedMatMul", {"transB": 1}, [f32(2, 5, 4), f32(4, 4)]),
    ("GatherBlockQuantized", {"block_size": 16, "quantize_axis": 1, "bits": 8}, [
        u8(9, 16), np.ones((2, 3), np.int64), f32(9, 1)]),
    ("Gelu", {}, [f32(2, 3)]),
    ("MatMulIntegerToFloat", {}, [u8(2, 3), u8(3, 4), SCALE, SCALE]),
    ("MatMulNBits", {"K": 16, "N": 5, "bits": 4, "block_size": 16}, [
        f32(2, 3, 16), u8(5, 1, 8), f32(5)]),
    ("MultiHeadAttention", {"num_heads": 2}, [f32(2, 3, 4), f32(2, 5, 4), f32(2, 5, 6)]),
    ("QLinearAdd", {}, [u8(2, 3), SCALE, ZERO, u8(4, 1, 3), SCALE, ZERO, SCALE, ZERO]),
    ("QLinearMul", {}, [u8(2, 3), SCALE, ZERO, u8(3), SCALE, ZERO, SCALE, ZERO]),
    ("QLinearSigmoid", {}, [u8(2, 3), SCALE, ZERO, SCALE, ZERO]),
    ("QLinearSoftmax", {"opset": 13}, [u8(2, 3), SCALE, ZERO, SCALE, ZERO]),
    ("QuantizeLinear", {}, [f32(2, 3), SCALE, ZERO]),
    ("QuickGelu", {}, [f32(2, 3)]),
    ("SkipLayerNormalization", {}, [f32(2, 3, 4), f32(2, 3, 4), f32(4), f32(4)]),
    ("SkipSimplifiedLayerNormalization", {}, [f32(2, 3, 4), f32(2, 3, 4), f32(4)]),
]  # fmt: skip


def _model(
    op: str, attributes: Mapping[str, Any], inputs: Sequence[NDArray[Any] | None]
) -> onnx.ModelProto:
    """`op`, and an Identity behind it, of which nothing is declared."""
    given = {f"i{place}": value for place, value in enumerate(inputs) if value is not None}
    names = [f"i{place}" if value is not None else "" for place, value in enumerate(inputs)]
    node = helper.make_node(op, names, ["a"], domain="com.microsoft", **attributes)
    declared = [
        helper.make_tensor_value_info(
            name,
            helper.np_dtype_to_tensor_dtype(value.dtype),
            ["N", *value.shape[1:]] if name == "i0" and value.ndim else value.shape,
        )
        for name, value in given.items()
    ]
    nodes = [node, helper.make_node("Identity", ["a"], ["y"])]
    graph = helper.make_graph(nodes, "g", declared, [onnx.ValueInfoProto(name="y")])
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize(("op", "attributes", "inputs"), CASES)
def test_types_are_those_of_what_the_runtime_gives(
    op: str, attributes: Mapping[str, Any], inputs: Sequence[NDArray[Any] | None]
) -> None:
    model = _model(op, attributes, inputs)
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    feed = {f"i{place}": value for place, value in enumerate(inputs) if value is not None}
    (value,) = session.run(["y"], feed)
    found = read_model(model, ModelSettings()).types["a"]
    assert isinstance(found, TensorType)
    assert found.dtype.onnx_code == helper.np_dtype_to_tensor_dtype(value.dtype)
    assert (found.dims is None) == ("transB" in attributes)
    for dim, size in zip(found.dims or (), value.shape, strict=found.dims is not None):
        assert size == (2 if str(dim) == "N" else dim) or str(dim).startswith("?")


def test_what_is_not_in_the_table_has_no_type() -> None:
    types = read_model(_model("NhwcMaxPool", {}, [u8(2, 3)]), ModelSettings()).types
    assert types["a"] == UNDECLARED
