"""FLOPs of operators that compute each output element on its own.

The count is that of the operator's ONNX definition, each arithmetic operation, comparison and
elementary function (exp, log, erf, tanh, sqrt, pow, sin ...) being one.  `Sigmoid` is
`1 / (1 + exp(-x))`: negate, exp, add, divide.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.cost.shapes import Shapes

#: Operations for each element of the output.
PER_ELEMENT: Mapping[str, int] = {
    **dict.fromkeys(("Add", "Sub", "Mul", "Div", "Mod", "Pow", "Neg", "Reciprocal"), 1),
    **dict.fromkeys(("And", "Or", "Xor", "Not", "Where", "Abs", "Sign", "Range"), 1),
    **dict.fromkeys(("Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"), 1),
    **dict.fromkeys(("BitShift", "BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor"), 1),
    **dict.fromkeys(("Ceil", "Floor", "Round", "IsInf", "IsNaN", "Sqrt", "Exp", "Log", "Erf"), 1),
    **dict.fromkeys(("Sin", "Cos", "Tan", "Asin", "Acos", "Atan", "Tanh"), 1),
    **dict.fromkeys(("Sinh", "Cosh", "Asinh", "Acosh", "Atanh"), 1),
    **dict.fromkeys(("Relu", "ThresholdedRelu"), 1),  # one comparison
    **dict.fromkeys(("RandomNormal", "RandomNormalLike", "Bernoulli"), 1),
    **dict.fromkeys(("RandomUniform", "RandomUniformLike"), 1),
    **dict.fromkeys(("HannWindow", "HammingWindow", "BlackmanWindow"), 4),
    "LeakyRelu": 2,  # compare, multiply
    "PRelu": 2,
    "Shrink": 2,
    "Clip": 2,
    "Elu": 4,  # compare, exp, subtract, multiply
    "Selu": 5,
    "Celu": 7,  # max(0, x) + min(0, alpha * (exp(x / alpha) - 1))
    "Sigmoid": 4,
    "HardSigmoid": 4,  # multiply, add, clip
    "HardSwish": 5,
    "Softplus": 3,  # exp, add, log
    "Softsign": 3,  # abs, add, divide
    "Mish": 5,  # x * tanh(softplus(x))
    "QuantizeLinear": 4,  # divide, round, add, saturate
    "DequantizeLinear": 2,  # subtract, multiply
    "DynamicQuantizeLinear": 6,  # least, greatest, and QuantizeLinear
    "RotaryEmbedding": 3,  # two products, a sum
}


def gelu(shapes: Shapes) -> float:
    """`x * 0.5 * (1 + erf(x / sqrt(2)))`, or the polynomial inside a tanh."""
    operations = 9 if shapes.text("approximate", "none") == "tanh" else 5
    return operations * shapes.output(0).numel


def folded(shapes: Shapes) -> float:
    """Sum, Max, Min of n tensors: n - 1 operations for each element."""
    return max(0, len(shapes.inputs) - 1) * shapes.output(0).numel


def mean(shapes: Shapes) -> float:
    """Mean of n tensors: the sum, then one division."""
    return folded(shapes) + shapes.output(0).numel


def _times(operations: int) -> Callable[[Shapes], float]:
    return lambda shapes: operations * shapes.output(0).numel


FORMULAS: Mapping[str, Callable[[Shapes], float]] = {
    **{name: _times(operations) for name, operations in PER_ELEMENT.items()},
    "Gelu": gelu,
    "Sum": folded,
    "Max": folded,
    "Min": folded,
    "Mean": mean,
}
