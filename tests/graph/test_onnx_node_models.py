"""Operator models of the onnx package, a sample of them spread over the operators: every node
is lifted, lowered again and compared.  ONNX's own test models are the independent source."""

import warnings
from dataclasses import replace

import onnx
import pytest

from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.verifying.verify import verify
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.settings import ModelSettings, VerifySettings
from tensat_dl.vocabulary.operators import OperatorKind

STEP = 17

pytestmark = pytest.mark.slow


def node_models() -> dict[str, onnx.ModelProto]:
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    found = {case.name: case.model for case in cases if case.model is not None}
    return dict(sorted(found.items())[::STEP])


@pytest.fixture(scope="module")
def models() -> dict[str, onnx.ModelProto]:
    return node_models()


def test_lowered_nodes_compute_the_same(models: dict[str, onnx.ModelProto]) -> None:
    compared = 0
    for name, model in models.items():
        graph = read_model(model, ModelSettings())
        nodes = tuple(
            node if node.operator.kind is OperatorKind.OPAQUE else replace(node, index=-1)
            for node in graph.nodes
        )
        proto = build_proto(replace(graph, nodes=nodes))
        result = verify(model, proto, VerifySettings(samples=2))
        assert not result.mismatches, (name, result)
        compared += result.samples > 0
    assert compared > 0.95 * len(models) > 100
