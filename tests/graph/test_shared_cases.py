"""The small graphs on which ONNX optimisers went wrong: read, write, and they still compute the
outputs that onnxruntime gave without optimisation."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

from tensat_dl.graph.read import read_model
from tensat_dl.graph.write import build_proto
from tensat_dl.settings import ModelSettings

CASES = Path(__file__).parents[2].parent / "shared" / "cases" / "onnx"
NAMES = sorted(path.stem for path in CASES.glob("*.onnx"))

pytestmark = pytest.mark.skipif(not NAMES, reason="../shared/cases is not here")


def interface(proto: onnx.ModelProto) -> list[bytes]:
    values = [*proto.graph.input, *proto.graph.output]
    return [value.SerializeToString(deterministic=True) for value in values]


def about(proto: onnx.ModelProto) -> dict[str, object]:
    return {
        "ir": proto.ir_version,
        "opsets": [(entry.domain, entry.version) for entry in proto.opset_import],
        "metadata": [(entry.key, entry.value) for entry in proto.metadata_props],
        "functions": [f.SerializeToString(deterministic=True) for f in proto.functions],
        "texts": (proto.producer_name, proto.producer_version, proto.domain, proto.doc_string),
        "version": proto.model_version,
        "graph": (proto.graph.name, proto.graph.doc_string),
    }


@pytest.fixture(params=NAMES)
def case(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_keeps_interface_and_metadata(case: str) -> None:
    before = onnx.load(CASES / f"{case}.onnx")
    after = build_proto(read_model(CASES / f"{case}.onnx", ModelSettings()))
    assert interface(after) == interface(before)
    assert about(after) == about(before)


def test_keeps_names_of_nodes(case: str) -> None:
    before = onnx.load(CASES / f"{case}.onnx")
    after = build_proto(read_model(CASES / f"{case}.onnx", ModelSettings()))
    names = [node.name for node in before.graph.node]
    if case == "overload_names":  # onnxruntime refuses what this model does: one name twice
        assert names == ["n", "n"]
        names = ["n", "n_1"]
    assert sorted(node.name for node in after.graph.node) == sorted(names)


def test_gives_the_expected_outputs(case: str) -> None:
    expected = CASES / f"{case}.npz"
    if not expected.exists() or not any(key.startswith("out:") for key in np.load(expected)):
        pytest.skip("onnxruntime does not run the original")
    arrays = np.load(expected, allow_pickle=True)
    proto = build_proto(read_model(CASES / f"{case}.onnx", ModelSettings()))
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), options, ["CPUExecutionProvider"]
    )
    feeds = {name[3:]: arrays[name] for name in arrays if name.startswith("in:")}
    names = [name[4:] for name in arrays if name.startswith("out:")]
    for name, actual in zip(names, session.run(names, feeds), strict=True):
        wanted = arrays[f"out:{name}"]
        assert actual.dtype == wanted.dtype
        np.testing.assert_array_equal(actual, wanted)
