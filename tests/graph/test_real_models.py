"""The light models of the onnx wheel and ../shared/models: read, written, verified, in time."""

import time
from dataclasses import replace
from pathlib import Path

import onnx
import pytest

from tensat_dl.graph.folding.fold import fold_constants
from tensat_dl.graph.randomise import randomise_initializers
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.verifying.verify import verify
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.settings import ExportSettings, ModelSettings, VerifySettings

LIGHT = Path(onnx.__file__).parent / "backend/test/data/light"
SHARED = Path(__file__).parents[2].parent / "shared" / "models"
MODELS = sorted([*LIGHT.glob("light_*.onnx"), *SHARED.glob("*.onnx")])
#: Their weights take more than 200 MB when they run.
LARGE = ("light_bvlc_alexnet", "light_vgg19", "light_zfnet512")


def ids(path: Path) -> str:
    return path.stem


def is_kept(name: str, proto: onnx.ModelProto) -> bool:
    """IR version 3 lists initializers among the inputs; unused ones go."""
    initializers = {tensor.name for tensor in proto.graph.initializer}
    return name not in initializers or any(name in node.input for node in proto.graph.node)


@pytest.mark.slow
@pytest.mark.parametrize("path", MODELS, ids=ids)
def test_round_trip_is_the_same_model(path: Path) -> None:
    before = onnx.load(path)
    after = build_proto(read_model(path, ModelSettings()))
    onnx.checker.check_model(after)
    assert [v.name for v in after.graph.output] == [v.name for v in before.graph.output]
    assert list(after.graph.input) == [v for v in before.graph.input if is_kept(v.name, before)]
    used = [node for node in before.graph.node if node.op_type != "Constant"]
    read = {name for node in before.graph.node for name in node.input}
    for node in (node for node in used if node.op_type == "Dropout"):
        del node.output[1 if node.output[-1] not in read else 2 :]
    assert [n.SerializeToString() for n in after.graph.node] == [
        n.SerializeToString() for n in used
    ]


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in MODELS if p.stem not in LARGE], ids=ids)
def test_folded_and_written_models_verify(path: Path) -> None:
    graph = read_model(path, ModelSettings())
    folded = fold_constants(graph, ExportSettings())
    assert len(folded.nodes) <= len(graph.nodes)
    result = verify(path, build_proto(folded), VerifySettings(samples=1))
    assert result.ok, result
    assert result.max_difference < 1e-6


@pytest.mark.parametrize("path", MODELS, ids=ids)
def test_every_node_is_lifted_and_has_a_type(path: Path) -> None:
    graph = read_model(path, ModelSettings())
    assert [n.operator.name for n in graph.nodes if n.operator.kind.value == "opaque"] == []
    assert graph.source.warnings == ()


def test_a_thousand_nodes_read_and_write_in_about_a_second() -> None:
    path = LIGHT / "light_densenet121.onnx"
    read_model(path, ModelSettings())
    start = time.perf_counter()
    graph = read_model(path, ModelSettings())
    build_proto(graph)
    assert len(graph.nodes) > 1000
    assert time.perf_counter() - start < 2.0


@pytest.mark.slow
@pytest.mark.parametrize("path", [p for p in MODELS if p.stem not in LARGE], ids=ids)
@pytest.mark.parametrize("opset", [0, 21])
def test_every_node_lowered(path: Path, opset: int) -> None:
    """Nothing copied from the source: at its own opset, and at the language's."""
    model = randomise_initializers(onnx.load(path))
    graph = read_model(model, ModelSettings())
    nodes = tuple(replace(node, index=-1) for node in graph.nodes)
    opsets = {**graph.opsets, "": opset or graph.opsets[""]}
    proto = build_proto(replace(graph, nodes=nodes, opsets=opsets))
    result = verify(model, proto, VerifySettings(samples=1))
    assert result.ok, result
    assert result.max_difference < 1e-6
