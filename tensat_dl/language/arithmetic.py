"""Arithmetic on values: total, three-valued.

Enters: two values.  Leaves: a value, UNKNOWN where the operation has no answer (a division by
what may be 0, a string plus a number, a float and a symbol).  Knows no syntax.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite
from typing import Any

from tensat_dl.language.values import (
    MAX_BITS,
    MAX_ITEMS,
    MAX_TERMS,
    UNKNOWN,
    Value,
    is_dim,
    is_number,
)
from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import SymbolicDim


def binary(operator: str, left: Value, right: Value) -> Value:
    """`left operator right` for `+ - * / // % **`."""
    if operator == "+" and isinstance(left, tuple) and isinstance(right, tuple):
        return bounded(left + right)
    if not (_is_numeric(left) and _is_numeric(right)):
        return UNKNOWN
    return bounded(_OPERATIONS[operator](left, right))


def negate(value: Value) -> Value:
    """`-value`."""
    return -value if _is_numeric(value) else UNKNOWN  # type: ignore[operator]


def bounded(value: Value) -> Value:
    """`value`, or UNKNOWN where it has grown beyond all use."""
    if isinstance(value, tuple):
        return value if len(value) <= MAX_ITEMS else UNKNOWN
    if isinstance(value, SymbolicDim):
        return value if len(value.terms) <= MAX_TERMS else UNKNOWN
    if isinstance(value, int):
        return value if value.bit_length() <= MAX_BITS else UNKNOWN
    return value


def _is_numeric(value: Value) -> bool:
    return is_number(value) or isinstance(value, SymbolicDim)


def _ring(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Value]:
    def apply(left: Any, right: Any) -> Value:
        symbolic = isinstance(left, SymbolicDim) or isinstance(right, SymbolicDim)
        if symbolic and not (is_dim(left) and is_dim(right)):
            return UNKNOWN
        try:
            result: Value = operation(left, right)
        except OverflowError:
            return UNKNOWN
        return result

    return apply


def _true_division(left: Any, right: Any) -> Value:
    if not (is_number(left) and is_number(right)) or right == 0:
        return UNKNOWN
    try:
        return float(left / right)
    except OverflowError:
        return UNKNOWN


def _by_divisor(operation: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Value]:
    exact = _ring(operation)

    def apply(left: Any, right: Any) -> Value:
        may_be_zero = not dims.is_positive(right) if is_dim(right) else True
        if isinstance(right, int | float):
            may_be_zero = right == 0 or not isfinite(right) or not _is_finite(left)
        return UNKNOWN if may_be_zero else exact(left, right)

    return apply


def _is_finite(value: Any) -> bool:
    return not isinstance(value, float) or isfinite(value)


def _power(base: Any, exponent: Any) -> Value:
    if isinstance(base, SymbolicDim):
        return _symbolic_power(base, exponent)
    if isinstance(exponent, int) and isinstance(base, int):
        return _integer_power(base, exponent)
    if not (is_number(base) and is_number(exponent)):
        return UNKNOWN
    try:
        result = float(base) ** float(exponent)
    except (OverflowError, ZeroDivisionError):
        return UNKNOWN
    return result if isinstance(result, float) else UNKNOWN


def _symbolic_power(base: SymbolicDim, exponent: Any) -> Value:
    if not isinstance(exponent, int) or not 0 <= exponent <= 8:
        return UNKNOWN
    result: Value = 1
    for _ in range(exponent):
        result = binary("*", result, base)
    return result


def _integer_power(base: int, exponent: int) -> Value:
    if exponent < 0:
        return float(base) ** exponent if base and base.bit_length() < 1000 else UNKNOWN
    if base.bit_length() * exponent > MAX_BITS and abs(base) > 1:
        return UNKNOWN
    if abs(base) > 1:
        return int(base**exponent)
    return int(base ** (exponent % 2 or (2 if exponent else 0)))


_OPERATIONS: Mapping[str, Callable[[Any, Any], Value]] = {
    "+": _ring(lambda left, right: left + right),
    "-": _ring(lambda left, right: left - right),
    "*": _ring(lambda left, right: left * right),
    "/": _true_division,
    "//": _by_divisor(lambda left, right: left // right),
    "%": _by_divisor(lambda left, right: left % right),
    "**": _power,
}
