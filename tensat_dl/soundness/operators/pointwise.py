"""Elementwise operators.

In residues, a function that is no polynomial or quotient is a random function with the name of
the operator and its attributes, so that it is the same function on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import reduce
from typing import Any

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Native, Residues, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator
from tensat_dl.vocabulary.dtypes import DType, from_onnx

# --- functions of one element ---------------------------------------------------------------


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x)) if x.size else x


def _sigmoid(x: Array) -> Array:
    return np.asarray(1 / (1 + np.exp(-x)))


def _softplus(x: Array) -> Array:
    return np.asarray(np.logaddexp(x, 0))


def _elu(x: Array, alpha: float) -> Array:
    return np.where(x < 0, alpha * np.expm1(x), x)


def _gelu(x: Array, approximate: str) -> Array:
    if approximate == "tanh":
        return np.asarray(0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))))
    return np.asarray(0.5 * x * (1 + _erf(x / np.sqrt(2))))


#: Operator -> its function of an element, given its attributes.
UNARY: Mapping[str, Callable[[Call], Callable[[Array], Array]]] = {
    "Relu": lambda call: lambda x: np.maximum(x, 0),
    "Sigmoid": lambda call: _sigmoid,
    "Tanh": lambda call: np.tanh,
    "Exp": lambda call: np.exp,
    "Log": lambda call: np.log,
    "Sqrt": lambda call: np.sqrt,
    "Erf": lambda call: _erf,
    "Abs": lambda call: np.abs,
    "Floor": lambda call: np.floor,
    "Ceil": lambda call: np.ceil,
    "Round": lambda call: np.rint,
    "Sign": lambda call: np.sign,
    "Softplus": lambda call: _softplus,
    "Softsign": lambda call: lambda x: x / (1 + np.abs(x)),
    "Sin": lambda call: np.sin,
    "Cos": lambda call: np.cos,
    "Tan": lambda call: np.tan,
    "Sinh": lambda call: np.sinh,
    "Cosh": lambda call: np.cosh,
    "Asin": lambda call: np.arcsin,
    "Acos": lambda call: np.arccos,
    "Atan": lambda call: np.arctan,
    "Asinh": lambda call: np.arcsinh,
    "Acosh": lambda call: np.arccosh,
    "Atanh": lambda call: np.arctanh,
    "Mish": lambda call: lambda x: x * np.tanh(_softplus(x)),
    "HardSwish": lambda call: lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "Elu": lambda call: lambda x: _elu(x, call.number("alpha", 1.0)),
    "Celu": lambda call: (
        lambda x: (
            np.maximum(x, 0)
            + np.minimum(
                0,
                call.number("alpha", 1.0) * np.expm1(np.minimum(x, 0) / call.number("alpha", 1.0)),
            )
        )
    ),
    "Selu": lambda call: (
        lambda x: (
            call.number("gamma", 1.0507009873554805)
            * _elu(x, call.number("alpha", 1.6732632423543772))
        )
    ),
    "LeakyRelu": lambda call: lambda x: np.where(x < 0, x * call.number("alpha", 0.01), x),
    "ThresholdedRelu": lambda call: lambda x: np.where(x > call.number("alpha", 1.0), x, 0),
    "HardSigmoid": lambda call: (
        lambda x: np.clip(call.number("alpha", 0.2) * x + call.number("beta", 0.5), 0, 1)
    ),
    "Gelu": lambda call: lambda x: _gelu(x, call.text("approximate", "none")),
}


def _unary(call: Call) -> list[Array]:
    apply = UNARY[call.operator.name](call)
    return [call.arithmetic.function(_name(call), apply, call.input(0))]


def _name(call: Call) -> str:
    items = [f"{name}={value!r}" for name, value in call.attributes.items]
    return " ".join([call.operator.name, *items])


# --- sums, products, powers -----------------------------------------------------------------


def _identity(call: Call) -> list[Array]:
    return [call.input(0)]


def _dropout(call: Call) -> list[Array]:
    if call.has(2) and bool(np.any(call.input(2))):
        raise Unsupported("random")
    return [call.input(0), np.ones(call.input(0).shape, dtype=bool)][: len(call.results)]


def _add(call: Call) -> list[Array]:
    return [call.arithmetic.add(call.input(0), call.input(1))]


def _sub(call: Call) -> list[Array]:
    return [call.arithmetic.sub(call.input(0), call.input(1))]


def _mul(call: Call) -> list[Array]:
    return [call.arithmetic.mul(call.input(0), call.input(1))]


def _div(call: Call) -> list[Array]:
    return [call.arithmetic.div(call.input(0), call.input(1))]


def _neg(call: Call) -> list[Array]:
    return [call.arithmetic.neg(call.input(0))]


def _reciprocal(call: Call) -> list[Array]:
    return [call.arithmetic.div(call.arithmetic.constant(1.0), call.input(0))]


def _sum(call: Call) -> list[Array]:
    return [reduce(call.arithmetic.add, call.given)]


def _mean(call: Call) -> list[Array]:
    count = call.arithmetic.constant(float(len(call.given)))
    total = reduce(call.arithmetic.add, call.given)
    return [call.arithmetic.div(total, count) if len(call.given) > 1 else total]


def _prelu(call: Call) -> list[Array]:
    x, slope = np.broadcast_arrays(call.input(0), call.input(1))
    return [call.arithmetic.function("PRelu", lambda a, b: np.where(a < 0, a * b, a), x, slope)]


def _pow(call: Call) -> list[Array]:
    """A whole exponent is a product, 1/2 is the square root, any other a function of both."""
    base, exponent, arithmetic = call.input(0), call.input(1), call.arithmetic
    known = set(call.value(1) or ())
    shape = np.broadcast_shapes(base.shape, exponent.shape)
    only = known.pop() if len(known) == 1 else None
    if isinstance(arithmetic, Residues):
        if only is not None and float(only).is_integer() and 0 <= only <= 8:
            one = np.ones(shape, dtype=np.int64)
            return [reduce(arithmetic.mul, [base] * int(only), one)]
        if only == 0.5:
            return [np.broadcast_to(arithmetic.function("Sqrt", np.sqrt, base), shape)]
        return [arithmetic.function("Pow", np.power, *np.broadcast_arrays(base, exponent))]
    if isinstance(arithmetic, Native) and not arithmetic.is_float:
        return [_whole_power(base, exponent, arithmetic)]
    name = "Identity" if only in (0, 1, 2, 3) else "Pow"
    wide_base, wide = np.broadcast_arrays(base, exponent.astype(np.float64))
    return [arithmetic.function(name, np.power, wide_base, wide)]


def _whole_power(base: Array, exponent: Array, arithmetic: Native) -> Array:
    """Of integers, by whole exponents that are not negative."""
    whole = exponent.astype(np.int64)
    if np.any(whole != exponent) or np.any(whole < 0) or np.any(whole > 64):
        raise Unsupported("an integer to a power that is none")
    wide, places = np.broadcast_arrays(base, whole)
    result = np.ones(wide.shape, dtype=arithmetic.numpy)
    for step in range(int(np.max(places, initial=0))):
        result = np.where(places > step, arithmetic.mul(result, wide), result)
    return result


# --- order ----------------------------------------------------------------------------------


def _extreme(name: str, apply: Callable[[Array, Array], Array]) -> Evaluator:
    def evaluate(call: Call) -> list[Array]:
        arrays = list(np.broadcast_arrays(*call.given))
        if len(arrays) == 1:
            return [arrays[0]]
        if isinstance(call.arithmetic, Residues):
            arrays = list(np.sort(np.stack(arrays), axis=0))  # the order of operands is no matter
        several = lambda *given: reduce(apply, given)  # noqa: E731
        return [call.arithmetic.function(name, several, *arrays)]

    return evaluate


def _clip(call: Call) -> list[Array]:
    arithmetic, x = call.arithmetic, call.input(0)
    bounds = [call.input(index) for index in (1, 2) if call.has(index)]
    if not bounds:
        return [x]
    name = f"Clip {call.has(1)} {call.has(2)}"

    def apply(given: Array, *limits: Array) -> Array:
        rest = list(limits)
        low = np.maximum(given, rest.pop(0)) if call.has(1) else given
        return np.minimum(low, rest.pop(0)) if call.has(2) else low

    return [arithmetic.function(name, apply, x, *bounds)]


def _comparison(apply: Callable[[Array, Array], Array]) -> Evaluator:
    def evaluate(call: Call) -> list[Array]:
        if call.dtype(0).is_float and call.scheme.is_symbolic:
            raise Unsupported("residues are not compared")
        return [np.asarray(apply(call.input(0), call.input(1)))]

    return evaluate


def _logical(apply: Callable[..., Array]) -> Evaluator:
    return lambda call: [np.asarray(apply(*call.given))]


def _where(call: Call) -> list[Array]:
    return [np.where(call.input(0), call.input(1), call.input(2))]


# --- element types --------------------------------------------------------------------------


def _cast(call: Call) -> list[Array]:
    target = from_onnx(call.integer("to"))
    return [_converted(call, target)]


def _cast_like(call: Call) -> list[Array]:
    return [_converted(call, call.dtype(1))]


def _converted(call: Call, target: DType | None) -> Array:
    source, array = call.dtype(0), call.input(0)
    if target is None or DType.STRING in (source, target) or target.bits < 8:
        raise Unsupported(f"a conversion to {target}")
    if call.scheme.floats is not None and target.is_float:
        if source.is_float:
            return array
        return call.scheme.of(target).from_integers(array)
    if call.scheme.is_symbolic and source.is_float:
        raise Unsupported("a residue has no integer")
    if target.bits == 8 and target.is_float:
        raise Unsupported("a narrow float")
    return _to_numbers(array, call.scheme.storage(target))


def _to_numbers(array: Array, target: np.dtype[Any]) -> Array:
    if target.kind == "b":
        return np.asarray(array != 0)
    if array.dtype.kind not in "iub" and target.kind in "iu":
        inside = np.isfinite(array.astype(np.float64))
        return np.where(inside, array, 0).astype(np.float64).astype(np.int64).astype(target)
    return array.astype(target)


def _is_nan(call: Call) -> list[Array]:
    if call.scheme.is_symbolic:
        raise Unsupported("residues are numbers")
    return [np.isnan(call.input(0).astype(np.float64))]


EVALUATORS: Mapping[str, Evaluator] = {
    **dict.fromkeys(UNARY, _unary),
    "Identity": _identity,
    "Dropout": _dropout,
    "Add": _add,
    "Sub": _sub,
    "Mul": _mul,
    "Div": _div,
    "Neg": _neg,
    "Reciprocal": _reciprocal,
    "Sum": _sum,
    "Mean": _mean,
    "PRelu": _prelu,
    "Pow": _pow,
    "Max": _extreme("Max", np.maximum),
    "Min": _extreme("Min", np.minimum),
    "Clip": _clip,
    "Equal": _comparison(np.equal),
    "Less": _comparison(np.less),
    "Greater": _comparison(np.greater),
    "LessOrEqual": _comparison(np.less_equal),
    "GreaterOrEqual": _comparison(np.greater_equal),
    "And": _logical(np.logical_and),
    "Or": _logical(np.logical_or),
    "Xor": _logical(np.logical_xor),
    "Not": _logical(np.logical_not),
    "BitwiseAnd": _logical(np.bitwise_and),
    "BitwiseOr": _logical(np.bitwise_or),
    "BitwiseXor": _logical(np.bitwise_xor),
    "BitwiseNot": _logical(np.invert),
    "Where": _where,
    "Cast": _cast,
    "CastLike": _cast_like,
    "IsNaN": _is_nan,
}
