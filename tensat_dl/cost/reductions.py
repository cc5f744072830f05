"""FLOPs of operators that combine neighbours: pools, reductions, normalisations, softmax.

Counts follow the ONNX definitions, as in `pointwise`; x is the first input, y the first output.
What is done once a row or a channel is counted only for batch normalisation, whose per-channel
factors are computed first: `a = scale / sqrt(var + eps)`, `c = B - mean * a`, then `a * x + c`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping

from tensat_dl.cost.shapes import Shapes

_Formula = Callable[[Shapes], float]


def pool(operations: int) -> _Formula:
    """`operations` for each element of each window."""

    def formula(shapes: Shapes) -> float:
        return operations * shapes.output(0).numel * math.prod(shapes.integers("kernel_shape"))

    return formula


def over_input(operations: int) -> _Formula:
    """`operations` for each element of x."""
    return lambda shapes: operations * shapes.input(0).numel


def reduction(inner: int, outer: int) -> _Formula:
    """`inner` operations for each element of x, then `outer` for each of y."""
    return lambda shapes: inner * shapes.input(0).numel + outer * shapes.output(0).numel


def batch_norm(shapes: Shapes) -> float:
    """Two operations an element, five a channel."""
    return 2 * shapes.output(0).numel + 5 * shapes.input(1).numel


def layer_norm(shapes: Shapes) -> float:
    """Mean and variance take 4 an element, normalising 1, the scale 1, a bias 1."""
    return (7 if shapes.input(2).numel else 6) * shapes.input(0).numel


def rms_norm(shapes: Shapes) -> float:
    """Square and sum, divide, scale."""
    return 4 * shapes.input(0).numel


def lrn(shapes: Shapes) -> float:
    """Each element: a square, a sum over `size` channels, `(bias + alpha/size * s) ** beta`,
    a division."""
    return (shapes.number("size", 1) + 5) * shapes.output(0).numel


def top_k(shapes: Shapes) -> float:
    """A heap of k: `log2(k + 1)` comparisons for each element."""
    kept = shapes.output(0)
    length = max(kept.dims, default=1)
    return shapes.input(0).numel * math.ceil(math.log2(length + 1))


def resize(shapes: Shapes) -> float:
    """Nearest copies; linear takes 3 (subtract, multiply, add) and cubic 7 (four products) for
    each output element and each resized dim."""
    operations = {"linear": 3, "cubic": 7}.get(shapes.text("mode", "nearest"), 0)
    x, y = shapes.input(0).dims, shapes.output(0).dims
    resized = sum(before != after for before, after in zip(x, y, strict=False))
    return operations * resized * shapes.output(0).numel


def scatter(updates: int) -> _Formula:
    """One operation for each update where a reduction is asked for."""

    def formula(shapes: Shapes) -> float:
        plain = shapes.text("reduction", "none") == "none"
        return 0 if plain else shapes.input(updates).numel

    return formula


FORMULAS: Mapping[str, _Formula] = {
    "MaxPool": pool(1),
    "AveragePool": pool(1),
    "LpPool": pool(2),
    "GlobalMaxPool": over_input(1),
    "GlobalAveragePool": over_input(1),
    "GlobalLpPool": over_input(2),
    "MaxUnpool": over_input(0),
    "MaxRoiPool": over_input(1),
    "RoiAlign": lambda shapes: 8 * shapes.output(0).numel,
    "GridSample": lambda shapes: 8 * shapes.output(0).numel,
    "AffineGrid": lambda shapes: 6 * shapes.output(0).numel,
    "ReduceSum": over_input(1),
    "ReduceMean": reduction(1, 1),
    "ReduceMax": over_input(1),
    "ReduceMin": over_input(1),
    "ReduceProd": over_input(1),
    "ReduceL1": over_input(2),
    "ReduceL2": reduction(2, 1),
    "ReduceSumSquare": over_input(2),
    "ReduceLogSum": reduction(1, 1),
    "ReduceLogSumExp": reduction(4, 2),  # greatest, subtract, exp, sum; then log, add
    "ArgMax": over_input(1),
    "ArgMin": over_input(1),
    "CumSum": over_input(1),
    "TopK": top_k,
    "Unique": over_input(1),
    "NonZero": over_input(1),
    "Multinomial": over_input(1),
    "NonMaxSuppression": over_input(4),
    "Softmax": over_input(5),  # greatest, subtract, exp, sum, divide
    "LogSoftmax": over_input(5),
    "Hardmax": over_input(1),
    "BatchNormalization": batch_norm,
    "InstanceNormalization": reduction(4, 2),
    "GroupNormalization": reduction(4, 2),
    "LayerNormalization": layer_norm,
    "RMSNormalization": rms_norm,
    "MeanVarianceNormalization": reduction(4, 1),
    "LpNormalization": over_input(3),
    "LRN": lrn,
    "NegativeLogLikelihoodLoss": over_input(2),
    "SoftmaxCrossEntropyLoss": over_input(7),
    "Resize": resize,
    "Upsample": resize,
    "ScatterElements": scatter(2),
    "ScatterND": scatter(2),
    "Scatter": scatter(2),
}
