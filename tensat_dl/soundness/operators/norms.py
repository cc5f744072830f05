"""Normalisations and softmax: quotients of sums, with the root or the exponential of an element."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tensat_dl.soundness.arithmetic import Arithmetic, Array, Residues, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator
from tensat_dl.soundness.operators.linear import mean


def _batch_normalization(call: Call) -> list[Array]:
    if call.integer("training_mode") or len(call.results) > 1:
        raise Unsupported("training")
    x, arithmetic = call.input(0), call.arithmetic
    aligned = [call.input(i).reshape(-1, *[1] * max(x.ndim - 2, 0)) for i in range(1, 5)]
    scale, shift, centre, variance = aligned
    root = _root(arithmetic, variance, call.number("epsilon", 1e-5))
    centred = arithmetic.sub(x, centre)
    return [arithmetic.add(arithmetic.mul(arithmetic.div(centred, root), scale), shift)]


def _root(arithmetic: Arithmetic, variance: Array, epsilon: float) -> Array:
    shifted = arithmetic.add(variance, arithmetic.constant(epsilon))
    return arithmetic.function("Sqrt", np.sqrt, shifted)


def _standardised(arithmetic: Arithmetic, x: Array, axes: tuple[int, ...], epsilon: float) -> Array:
    centred = arithmetic.sub(x, mean(arithmetic, x, axes))
    variance = mean(arithmetic, arithmetic.mul(centred, centred), axes)
    return arithmetic.div(centred, _root(arithmetic, variance, epsilon))


def _layer_normalization(call: Call) -> list[Array]:
    if len(call.results) > 1 or call.input(0).size == 0:
        raise Unsupported("statistics")
    x, arithmetic = call.input(0), call.arithmetic
    axes = tuple(range(call.integer("axis", -1) % x.ndim, x.ndim))
    y = _standardised(arithmetic, x, axes, call.number("epsilon", 1e-5))
    y = arithmetic.mul(y, call.input(1))
    return [arithmetic.add(y, call.input(2)) if call.has(2) else y]


def _rms_normalization(call: Call) -> list[Array]:
    x, arithmetic = call.input(0), call.arithmetic
    if x.size == 0:
        raise Unsupported("an average of nothing")
    axes = tuple(range(call.integer("axis", -1) % x.ndim, x.ndim))
    square = mean(arithmetic, arithmetic.mul(x, x), axes)
    y = arithmetic.div(x, _root(arithmetic, square, call.number("epsilon", 1e-5)))
    return [arithmetic.mul(y, call.input(1))]


def _group_normalization(call: Call) -> list[Array]:
    x, arithmetic, groups = call.input(0), call.arithmetic, call.integer("num_groups", 1)
    if x.size == 0:
        raise Unsupported("an average of nothing")
    grouped = x.reshape(x.shape[0], groups, -1)
    y = _standardised(arithmetic, grouped, (2,), call.number("epsilon", 1e-5)).reshape(x.shape)
    scale, shift = (call.input(i).reshape(-1, *[1] * (x.ndim - 2)) for i in (1, 2))
    return [arithmetic.add(arithmetic.mul(y, scale), shift)]


def _instance_normalization(call: Call) -> list[Array]:
    x, arithmetic = call.input(0), call.arithmetic
    if x.size == 0:
        raise Unsupported("an average of nothing")
    scale, shift = (call.input(i).reshape(-1, *[1] * (x.ndim - 2)) for i in (1, 2))
    axes = tuple(range(2, x.ndim))
    y = _standardised(arithmetic, x, axes, call.number("epsilon", 1e-5))
    return [arithmetic.add(arithmetic.mul(y, scale), shift)]


def _softmax(call: Call) -> list[Array]:
    x, arithmetic = call.input(0), call.arithmetic
    axis = call.integer("axis", -1) % x.ndim
    if x.size and not isinstance(arithmetic, Residues):  # the same over the reals
        x = arithmetic.sub(x, np.max(x, axis=axis, keepdims=True))
    powers = arithmetic.function("Exp", np.exp, x)
    return [arithmetic.div(powers, arithmetic.sum(powers, (axis,)))]


def _log_softmax(call: Call) -> list[Array]:
    [shares] = _softmax(call)
    return [call.arithmetic.function("Log", np.log, shares)]


EVALUATORS: Mapping[str, Evaluator] = {
    "BatchNormalization": _batch_normalization,
    "LayerNormalization": _layer_normalization,
    "RMSNormalization": _rms_normalization,
    "GroupNormalization": _group_normalization,
    "InstanceNormalization": _instance_normalization,
    "Softmax": _softmax,
    "LogSoftmax": _log_softmax,
}
