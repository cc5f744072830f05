"""Types of what operators of ai.onnx.ml give: those of the tensors that onnxruntime gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper

from tensat_dl.graph.reading.read import read_model
from tensat_dl.settings import ModelSettings
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

_NODE = {"nodes_nodeids": [0], "nodes_treeids": [0], "nodes_featureids": [0]}
_LEAF = {"nodes_modes": ["LEAF"], "nodes_values": [0.0]}
_CHILDREN = {"nodes_truenodeids": [0], "nodes_falsenodeids": [0]}
_TREE = {**_NODE, **_LEAF, **_CHILDREN}


def _leaf(of: str) -> dict[str, Any]:
    """Of one tree of one leaf what it gives."""
    places = {f"{of}_ids": [0], f"{of}_nodeids": [0], f"{of}_treeids": [0]}
    return {**_TREE, **places, f"{of}_weights": [1.5]}


_SVM = {"kernel_type": "LINEAR", "kernel_params": [0.0, 0.0, 0.0]}

OPERATORS: Mapping[str, dict[str, Any]] = {
    "LinearClassifier": {
        "coefficients": [1.0] * 6,
        "intercepts": [0.0, 0.5],
        "classlabels_ints": [4, 5],
    },
    "LinearRegressor": {"coefficients": [1.0] * 6, "intercepts": [0.0, 0.5], "targets": 2},
    "Normalizer": {"norm": "L2"},
    "Scaler": {"offset": [1.0], "scale": [2.0]},
    "SVMClassifier": {
        **_SVM,
        "coefficients": [1.0] * 6,
        "rho": [0.5],
        "classlabels_ints": [4, 5],
    },
    "SVMRegressor": {**_SVM, "coefficients": [1.0] * 3, "rho": [0.5], "n_supports": 0},
    "TreeEnsembleClassifier": {**_leaf("class"), "classlabels_int64s": [4, 5]},
    "TreeEnsembleRegressor": {**_leaf("target"), "n_targets": 2},
}


def _model(name: str, shape: list[int | str], version: int) -> onnx.ModelProto:
    classifies = name.endswith("Classifier")
    outputs = ["label", "score"] if classifies else ["score"]
    node = helper.make_node(name, ["x"], outputs, domain="ai.onnx.ml", **OPERATORS[name])
    elements = dict(zip(outputs[::-1], (TensorProto.FLOAT, TensorProto.INT64), strict=False))
    ends = [
        onnx.helper.make_node("Neg" if name == "score" else "Identity", [name], [f"end_{name}"])
        for name in outputs
    ]
    declared = [helper.make_tensor_value_info(f"end_{o}", elements[o], None) for o in outputs]
    entry = helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)
    graph = helper.make_graph([node, *ends], "g", [entry], declared)
    opsets = [helper.make_opsetid("", 15), helper.make_opsetid("ai.onnx.ml", version)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


@pytest.mark.parametrize("version", [1, 3])
@pytest.mark.parametrize("shape", [[3], ["N", 3]])
@pytest.mark.parametrize("name", OPERATORS)
def test_types_are_those_of_what_the_runtime_gives(
    name: str, shape: list[int | str], version: int
) -> None:
    model = _model(name, shape, version)
    if "TreeEnsemble" in name and version == 3 and len(shape) == 1:
        pytest.skip("ONNX, and thereby onnxruntime, refuses it in this version")
    session = onnxruntime.InferenceSession(
        model.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    rows = 7
    real = [rows if dim == "N" else dim for dim in shape]
    given = session.run(None, {"x": np.ones(real, np.float32)})
    types = read_model(model, ModelSettings()).types
    for output, value in zip(session.get_outputs(), given, strict=True):
        found = types[output.name]
        assert isinstance(found, TensorType)
        assert found.dtype.onnx_code == helper.np_dtype_to_tensor_dtype(value.dtype)
        assert found.dims is not None
        said = [rows if str(dim) == "N" else dim for dim in found.dims]
        assert len(said) == value.ndim
        assert all(
            dim == size for dim, size in zip(said, value.shape, strict=True) if isinstance(dim, int)
        )
        assert isinstance(said[0], int)


def test_without_a_rank_there_is_the_element_type() -> None:
    model = _model("TreeEnsembleClassifier", ["N", 3], 1)
    model.graph.input[0].type.tensor_type.ClearField("shape")
    types = read_model(model, ModelSettings()).types
    assert types["score"] == TensorType(DType.F32, None)
    assert types["label"] == TensorType(DType.I64, None)
