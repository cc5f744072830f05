"""Do two outputs agree?

Integers, booleans and strings must be equal.  Floats may differ by rounding: the largest
absolute difference, relative to the largest finite magnitude in the expected output, must stay
within the tolerance of the element type; NaN and infinities must stand at the same positions.

Tolerances are 2**11 units in the last place for f32 (2.4e-4): rules that hold over the reals
reorder sums and scale weights, and on networks of up to some hundred layers (TENSAT's models,
the light models with random weights) that moves outputs by up to 2**7 units, while a wrong rule
moves them by far more.  Half types accumulate the same relative error per operator but have
fewer bits to lose: 2**4 units for f16 and bf16, 1 for fp8.  f64 is held to 2**18 units (6e-11),
because constants of f64 models often come from f32 arithmetic.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import TensorProto

Array = NDArray[Any]

#: Element type code -> largest allowed difference, relative to the output's magnitude.
TOLERANCES: Mapping[int, float] = {
    TensorProto.DOUBLE: 2.0**-34,
    TensorProto.FLOAT: 2.0**-12,
    TensorProto.FLOAT16: 2.0**-6,
    TensorProto.BFLOAT16: 2.0**-3,
    TensorProto.COMPLEX64: 2.0**-12,
    TensorProto.COMPLEX128: 2.0**-34,
}
#: For the narrow floats (fp8, fp4), one unit of which is a quarter of the value.
NARROW_TOLERANCE = 0.25

#: Outputs smaller than this in magnitude are compared as if they were of this magnitude: what is
#: left of a sum that cancels has no digits of its own, and a runtime computes the likes of Sigmoid
#: around 1, so that small results are a unit of 1 off (2**-12 of this, for f32).
SMALLEST_SCALE = 2.0**-9


@dataclass(frozen=True)
class Difference:
    """`relative`: as defined above (inf where values cannot be subtracted); `index`: where it is
    largest; `problem`: why the outputs disagree, "" where they agree; `beyond_reals`: over the
    reals they may agree; NaN, an infinity or the rounding left of a sum that cancels is lost."""

    relative: float
    index: tuple[int, ...] = ()
    problem: str = ""
    beyond_reals: bool = False


def tolerance(code: int) -> float:
    """What values of a floating-point element type may differ by, relative to the largest."""
    return TOLERANCES.get(code, NARROW_TOLERANCE)


def compare(expected: Any, actual: Any, code: int) -> Difference:
    """Compare two outputs; floats as those of element type `code` (0: their own) are compared."""
    if isinstance(expected, list | tuple):
        return _compare_lists(expected, actual, code)
    if isinstance(expected, Mapping):
        return _compare_maps(expected, actual, code)
    if expected is None or actual is None:
        same = expected is None and actual is None
        return Difference(0.0) if same else Difference(np.inf, (), "one is empty, one is not")
    return _compare_arrays(np.asarray(expected), np.asarray(actual), code)


def _compare_lists(expected: Sequence[Any], actual: Any, code: int) -> Difference:
    if not isinstance(actual, list | tuple) or len(actual) != len(expected):
        count = len(actual) if isinstance(actual, list | tuple) else "no list"
        return Difference(np.inf, (), f"a sequence of {len(expected)} became {count}")
    worst = Difference(0.0)
    for position, (left, right) in enumerate(zip(expected, actual, strict=True)):
        found = compare(left, right, code)
        if found.problem or found.relative > worst.relative:
            worst = replace(found, index=(position, *found.index))
        if worst.problem:
            break
    return worst


def _compare_maps(expected: Mapping[Any, Any], actual: Any, code: int) -> Difference:
    if not isinstance(actual, Mapping) or actual.keys() != expected.keys():
        other = sorted(actual) if isinstance(actual, Mapping) else "no map"
        return Difference(np.inf, (), f"a map of {sorted(expected)} became {other}")
    kind = object if any(isinstance(value, str) for value in expected.values()) else None
    left = np.array(list(expected.values()), dtype=kind)
    right = np.array([actual[key] for key in expected], dtype=kind)
    return _compare_arrays(left, right, code)


def _compare_arrays(expected: Array, actual: Array, code: int) -> Difference:
    if expected.dtype != actual.dtype:
        return Difference(np.inf, (), f"element type {expected.dtype} became {actual.dtype}")
    if expected.shape != actual.shape:
        left, right = list(expected.shape), list(actual.shape)
        return Difference(np.inf, (), f"shape {left} became {right}")
    if not expected.size:
        return Difference(0.0)
    if expected.dtype.kind in "fc":
        return _compare_floats(expected, actual, code or _code_of(expected))
    return _compare_exact(expected, actual)


def _compare_exact(expected: Array, actual: Array) -> Difference:
    unequal = expected != actual
    if not np.any(unequal):
        return Difference(0.0)
    index = _where(np.asarray(unequal))
    text = f"{expected[index]} became {actual[index]}"
    return Difference(np.inf, index, f"{text} ({int(np.sum(unequal))} of {expected.size} differ)")


def _compare_floats(expected: Array, actual: Array, code: int) -> Difference:
    special = _special_difference(expected, actual)
    if special is not None:
        return special
    finite = np.isfinite(expected)
    wide = np.complex128 if expected.dtype.kind == "c" else np.float64
    left = np.where(finite, expected, 0).astype(wide)
    right = np.where(finite, actual, 0).astype(wide)
    scale = max(float(np.max(np.abs(left))), SMALLEST_SCALE)
    gaps = np.abs(left - right)
    index = _where(gaps)
    relative = float(gaps[index]) / scale
    allowed = tolerance(code)
    if relative <= allowed:
        return Difference(relative, index)
    text = (
        f"{expected[index]} became {actual[index]}: a difference of {relative:.2g} relative to "
        f"the largest value {scale:.3g}, {allowed:.2g} is allowed"
    )
    is_residue = scale == SMALLEST_SCALE and float(gaps[index]) <= allowed
    return Difference(relative, index, text, is_residue)


def _special_difference(expected: Array, actual: Array) -> Difference | None:
    for test, name in ((np.isnan, "NaN"), (np.isposinf, "inf"), (np.isneginf, "-inf")):
        if expected.dtype.kind == "c" and name != "NaN":
            continue
        unequal = test(expected) != test(actual)
        if np.any(unequal):
            index = _where(unequal)
            text = f"{expected[index]} became {actual[index]} ({name} must stay)"
            return Difference(np.inf, index, text, not np.isfinite(expected[index]))
    return None


def _where(weights: Array) -> tuple[int, ...]:
    """Index of the largest entry."""
    return tuple(int(i) for i in np.unravel_index(int(np.argmax(weights)), weights.shape))


def _code_of(array: Array) -> int:
    from onnx.helper import np_dtype_to_tensor_dtype

    return int(np_dtype_to_tensor_dtype(array.dtype))
