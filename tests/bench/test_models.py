"""The models of the benchmarks have the operators that their publications count."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import onnx
import pytest

sys.path.insert(0, str(Path(__file__).parent))

import vision_models as vision
from models import bert, nasrnn

COUNTS: list[tuple[Callable[[], onnx.ModelProto], dict[str, int]]] = [
    (nasrnn, {"MatMul": 80}),
    (bert, {"MatMul": 48}),
    (vision.resnet50, {"Conv": 52}),
    (vision.resnext50, {"Conv": 53, "MaxPool": 1}),
    (vision.squeezenet, {"Conv": 26, "MaxPool": 3, "AveragePool": 1}),
    (vision.inception_v3, {"Conv": 94, "Relu": 94, "MaxPool": 5, "AveragePool": 9}),
    (
        vision.mobilenet_v2,
        {"Conv": 54, "BatchNormalization": 53, "Relu": 36, "Add": 10, "AveragePool": 1},
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(("build", "counts"), COUNTS, ids=lambda x: getattr(x, "__name__", ""))
def test_they_have_the_published_operators(
    build: Callable[[], onnx.ModelProto], counts: dict[str, int]
) -> None:
    found = Counter(node.op_type for node in build().graph.node)
    assert {name: found[name] for name in counts} == counts


@pytest.mark.slow
def test_repvgg_keeps_its_size_through_all_blocks() -> None:
    model = onnx.shape_inference.infer_shapes(vision.repvgg(blocks=2), strict_mode=True)
    dims = [dim.dim_value for dim in model.graph.output[0].type.tensor_type.shape.dim]
    assert dims == [1, 64, 28, 28]


@pytest.mark.parametrize(
    ("size", "kernel", "stride", "pad"),
    [(224, 7, 2, 3), (56, 3, 1, 1), (56, 1, 2, 0), (35, 3, 2, 1), (28, 3, 2, 1)],
)
def test_padding_is_that_of_the_publication(size: int, kernel: int, stride: int, pad: int) -> None:
    assert vision.same(size, kernel, stride) == pad
