"""The small graphs on which ONNX optimisers went wrong: read and written, and optimised with
`std`, they still compute the outputs that onnxruntime gave without optimisation."""

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest

import tensat_dl
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.language.program import CheckedProgram
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


def expected(case: str) -> tuple[dict[str, np.ndarray], dict[str, np.ndarray]]:
    """Inputs and outputs by name."""
    path = CASES / f"{case}.npz"
    arrays = dict(np.load(path, allow_pickle=True)) if path.exists() else {}
    outputs = {name[4:]: array for name, array in arrays.items() if name.startswith("out:")}
    if not outputs:
        pytest.skip("onnxruntime does not run the original")
    return {name[3:]: a for name, a in arrays.items() if name.startswith("in:")}, outputs


def run(path: Path | bytes, feeds: dict[str, np.ndarray], names: list[str]) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])
    return [np.asarray(value) for value in session.run(names, feeds)]


def test_gives_the_expected_outputs(case: str) -> None:
    feeds, outputs = expected(case)
    proto = build_proto(read_model(CASES / f"{case}.onnx", ModelSettings()))
    actual = run(proto.SerializeToString(), feeds, list(outputs))
    for wanted, found in zip(outputs.values(), actual, strict=True):
        assert found.dtype == wanted.dtype
        np.testing.assert_array_equal(found, wanted)


@pytest.fixture(scope="module")
def std() -> CheckedProgram:
    return tensat_dl.load_rules("std")


@pytest.mark.slow
def test_std_keeps_outputs_and_interface(case: str, std: CheckedProgram, tmp_path: Path) -> None:
    source, target = CASES / f"{case}.onnx", tmp_path / "out.onnx"
    result = tensat_dl.optimize(source, std, {"cost": {"model": "roofline"}}, output=target)
    assert result.report["verification"]["ok"]
    assert interface(onnx.load(target)) == interface(onnx.load(source))
    assert about(onnx.load(target)) == about(onnx.load(source))
    feeds, outputs = expected(case)
    for wanted, found in zip(outputs.values(), run(target, feeds, list(outputs)), strict=True):
        assert found.dtype == wanted.dtype
        if wanted.dtype.kind == "f":
            np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)
        else:
            np.testing.assert_array_equal(found, wanted)
