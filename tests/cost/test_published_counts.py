"""FLOPs of whole networks against the multiply-adds that their papers and model zoos publish."""

from __future__ import annotations

from pathlib import Path

import onnx
import pytest

from tensat_dl.cost.flops import flops
from tensat_dl.cost.shapes import shapes_of
from tensat_dl.graph.reading.read import read_model
from tensat_dl.settings import ModelSettings

LIGHT = Path(onnx.__file__).parent / "backend" / "test" / "data" / "light"


@pytest.mark.parametrize(
    ("name", "multiply_adds"),
    [
        ("resnet50", 4.1e9),
        ("vgg19", 19.6e9),
        ("densenet121", 2.87e9),
        ("squeezenet", 0.35e9),
    ],
)
def test_networks(name: str, multiply_adds: float) -> None:
    graph = read_model(LIGHT / f"light_{name}.onnx", ModelSettings())
    total = 0.0
    for node in graph.nodes:
        if node.operator.name not in ("Conv", "Gemm", "MatMul"):
            continue
        inputs = [graph.types[value] for value in node.inputs if value]
        outputs = [graph.types[value] for value in node.outputs]
        total += flops(node.operator, shapes_of(node.attributes, inputs, outputs, 1))
    assert total / 2 == pytest.approx(multiply_adds, rel=0.02)
