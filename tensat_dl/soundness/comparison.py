"""Are two arrays equal, as the scheme and the claim of the rule have it?

Enters: the left side's array, the right side's, the scheme they were computed in.  Leaves: the
first place where they differ, or None.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Reals, Scheme
from tensat_dl.soundness.operators import EVALUATORS

#: Where float64 rounds, sides may differ by this share of the largest value.
TOLERANCE = 1e-6
#: Operators whose zeros have no sign that ONNX fixes.
UNSIGNED_ZEROS = frozenset(("Relu", "Max", "Min", "Clip", "MaxPool", "ReduceMax", "ReduceMin"))
#: Operators that are no number for some numbers.
PARTIAL = frozenset(("Div", "Reciprocal", "Log", "Sqrt", "Pow", "Asin", "Acos", "Acosh", "Atanh"))
#: Operators that a library computes, so that the last digits may depend on where an element stands.
LIBRARY = frozenset(
    (
        *("Exp", "Log", "Tanh", "Sigmoid", "Softmax", "LogSoftmax", "Erf", "Softplus", "Pow"),
        *("Sin", "Cos", "Tan", "Sinh", "Cosh", "Asin", "Acos", "Atan", "Asinh", "Acosh", "Atanh"),
        *("Gelu", "Elu", "Celu", "Selu", "Mish", "Softsign", "HardSwish"),
    )
)


@dataclass(frozen=True)
class Difference:
    """`index`: the first place; `left` and `right`: what stands there."""

    index: tuple[int, ...]
    left: object
    right: object


def first_difference(
    left: Array, right: Array, scheme: Scheme, operators: frozenset[str]
) -> Difference | None:
    """None where the sides agree; `operators` are those of both sides.

    What a library computes, ONNX's reference evaluator among them, is trusted up to the last
    digits and the sign of zero.
    """
    if left.shape != right.shape or left.dtype != right.dtype:
        return Difference(
            (), f"{left.dtype}{list(left.shape)}", f"{right.dtype}{list(right.shape)}"
        )
    if left.dtype.kind in "iubO" or scheme.is_symbolic:
        unequal = left != right
    elif scheme.floats is not None:
        unequal = _unequal_reals(left, right, scheme)
    else:
        unequal = _unequal_natives(left, right, operators)
    if not np.any(unequal):
        return None
    index = tuple(int(i) for i in np.argwhere(unequal)[0])
    return Difference(index, left[index], right[index])


def _unequal_reals(left: Array, right: Array, scheme: Scheme) -> Array:
    """Where the left side is a number everywhere, the right side must be that number."""
    if scheme.is_exact:
        return np.asarray(left != right)
    scale = max(float(np.max(np.abs(left), initial=0.0)), 1.0)
    if isinstance(scheme.floats, Reals):
        scale = max(scale, scheme.floats.largest)
    with np.errstate(all="ignore"):
        return np.asarray(~(np.abs(left - right) <= TOLERANCE * scale))


def _unequal_natives(left: Array, right: Array, operators: frozenset[str]) -> Array:
    """NaN at the same places, all else the same, the sign of zero included."""
    one, other = left.astype(np.float64), right.astype(np.float64)
    both_nan = np.isnan(one) & np.isnan(other)
    same = one == other
    borrowed = operators - EVALUATORS.keys()
    if not operators & UNSIGNED_ZEROS and not borrowed:
        same &= np.signbit(one) == np.signbit(other)
    if operators & LIBRARY or borrowed:
        digits = 2.0 ** -(_digits(left.dtype) - 3)
        with np.errstate(all="ignore"):
            same |= np.isfinite(one) & (np.abs(one - other) <= digits * np.abs(one))
    return np.asarray(~(same | both_nan))


def _digits(dtype: np.dtype[np.generic]) -> int:
    """Binary digits of a float type."""
    return {"float64": 53, "float32": 24, "float16": 11}.get(dtype.name, 8)
