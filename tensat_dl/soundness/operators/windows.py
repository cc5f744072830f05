"""Poolings: averages and extremes of sliding windows."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Undefined, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator
from tensat_dl.soundness.operators.linear import mean
from tensat_dl.soundness.operators.patches import Window, coverage, patches


def _average_pool(call: Call) -> list[Array]:
    x, arithmetic = call.input(0), call.arithmetic
    window = Window.of(call, call.ints("kernel_shape"))
    outputs = call.result_dims()[2:]
    places = patches(x, window, outputs, 0)
    spatial = len(window.kernel)
    axes = tuple(range(2, 2 + spatial))
    total = arithmetic.sum(places, axes).reshape(*x.shape[:2], *outputs)
    counted = coverage(window, x.shape[2:], outputs, bool(call.integer("count_include_pad")))
    if call.scheme.is_symbolic and np.any(counted == 0):
        raise Unsupported("an average of nothing")
    return [arithmetic.div(total, _numbers(call, counted))]


def _numbers(call: Call, counts: Array) -> Array:
    """Counts as elements of the arithmetic."""
    return counts.astype(call.scheme.storage(call.dtype(0)))


def _max_pool(call: Call) -> list[Array]:
    if len(call.results) > 1 or (call.scheme.is_symbolic and call.dtype(0).is_float):
        raise Unsupported("residues are not compared")
    x = call.input(0)
    window = Window.of(call, call.ints("kernel_shape"))
    lowest = -np.inf if call.dtype(0).is_float else np.iinfo(x.dtype).min
    outputs = call.result_dims()[2:]
    if np.any(coverage(window, x.shape[2:], outputs, padding=False) == 0):
        raise Undefined("an extreme of nothing")
    places = patches(x, window, outputs, lowest)
    axes = tuple(range(2, 2 + len(window.kernel)))
    return [np.asarray(np.max(places, axis=axes))]


def _spatial(call: Call) -> tuple[int, ...]:
    return tuple(range(2, call.input(0).ndim))


def _global_average_pool(call: Call) -> list[Array]:
    return [mean(call.arithmetic, call.input(0), _spatial(call))]


def _global_max_pool(call: Call) -> list[Array]:
    if call.scheme.is_symbolic or call.input(0).size == 0:
        raise Unsupported("residues are not compared")
    return [np.max(call.input(0), axis=_spatial(call), keepdims=True)]


def _global_lp_pool(call: Call) -> list[Array]:
    """The p-norm of what is there for each channel."""
    order, arithmetic = call.integer("p", 2), call.arithmetic
    powers = arithmetic.function(f"power {order}", lambda x: np.abs(x) ** order, call.input(0))
    total = arithmetic.sum(powers, _spatial(call))
    return [arithmetic.function(f"root {order}", lambda x: x ** (1 / order), total)]


EVALUATORS: Mapping[str, Evaluator] = {
    "AveragePool": _average_pool,
    "MaxPool": _max_pool,
    "GlobalAveragePool": _global_average_pool,
    "GlobalLpPool": _global_lp_pool,
    "GlobalMaxPool": _global_max_pool,
}
