"""Operators on single elements that are numbers, booleans or symbolic dims.

Each function raises :class:`NotKnown` where the answer depends on what a symbol stands for, or
where the elements are floats.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import isfinite

from tensat_dl.vocabulary import dims, dtypes
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.types import Scalar


class NotKnown(Exception):
    """The value is not known; never leaves `vocabulary.values`."""


def cast(item: Scalar, code: int) -> Scalar:
    """`item` as the element type with that ONNX code; raises NotKnown."""
    target = dtypes.from_onnx(code)
    if target is None:
        raise NotKnown
    if target.is_integer:
        return _to_integer(item)
    if target is dtypes.DType.BOOL:
        return _to_bool(item)
    exact = target in (dtypes.DType.F32, dtypes.DType.F64) and isinstance(item, int)
    if exact and isinstance(item, int) and abs(item) < 1 << 24:
        return float(item)
    if isinstance(item, float) and target is dtypes.DType.F64:
        return item
    raise NotKnown


def _to_integer(item: Scalar) -> Scalar:
    if isinstance(item, float):
        if not isfinite(item):
            raise NotKnown
        return int(item)
    return int(item) if isinstance(item, bool) else item


def _to_bool(item: Scalar) -> bool:
    if isinstance(item, int | float):
        return item != 0
    return _truth(dims.definitely_different(item, 0), False)


def _truth(yes: bool, no: bool) -> bool:
    if yes == no:
        raise NotKnown
    return yes


def _dim(item: Scalar) -> Dim:
    if isinstance(item, float):
        raise NotKnown
    return item


def _settled(item: Scalar) -> Dim:
    """A number, or a dim whose name settles it."""
    dim = _dim(item)
    if dims.is_ambiguous(dim):
        raise NotKnown
    return dim


def _add(left: Scalar, right: Scalar) -> Scalar:
    return _dim(left) + _dim(right)


def _sub(left: Scalar, right: Scalar) -> Scalar:
    return _settled(left) - _settled(right)


def _mul(left: Scalar, right: Scalar) -> Scalar:
    return _dim(left) * _dim(right)


def _div(left: Scalar, right: Scalar) -> Scalar:
    """Integer division, which truncates towards zero."""
    numerator, divisor = _settled(left), _settled(right)
    if divisor == 0:
        raise NotKnown
    if isinstance(numerator, int) and isinstance(divisor, int):
        quotient = abs(numerator) // abs(divisor)
        return quotient if (numerator < 0) == (divisor < 0) else -quotient
    if dims.is_nonnegative(numerator) and dims.is_nonnegative(divisor):
        return numerator // divisor
    raise NotKnown


def _mod(left: Scalar, right: Scalar) -> Scalar:
    """The remainder where both sides are >= 0, so that the sign convention does not matter."""
    numerator, divisor = _settled(left), _settled(right)
    if divisor == 0 or not (dims.is_nonnegative(numerator) and dims.is_nonnegative(divisor)):
        raise NotKnown
    return numerator % divisor


def _minimum(left: Scalar, right: Scalar) -> Scalar:
    return dims.minimum(_settled(left), _settled(right))


def _maximum(left: Scalar, right: Scalar) -> Scalar:
    return dims.maximum(_settled(left), _settled(right))


def _equal(left: Scalar, right: Scalar) -> bool:
    a, b = _dim(left), _dim(right)
    return _truth(dims.definitely_equal(a, b), dims.definitely_different(a, b))


def _less(left: Scalar, right: Scalar) -> bool:
    difference = _settled(right) - _settled(left)
    return _truth(dims.is_positive(difference), dims.is_nonnegative(-difference))


def _at_most(left: Scalar, right: Scalar) -> bool:
    return not _less(right, left)


def _flag(item: Scalar) -> bool:
    if not isinstance(item, bool):
        raise NotKnown
    return item


def _absolute(item: Scalar) -> Scalar:
    dim = _dim(item)
    if isinstance(dim, int):
        return abs(dim)
    if dims.is_nonnegative(dim):
        return dim
    raise NotKnown


SCALARS: Mapping[str, Callable[..., Scalar]] = {
    "Abs": _absolute,
    "Add": _add,
    "And": lambda a, b: _flag(a) and _flag(b),
    "Div": _div,
    "Equal": _equal,
    "Greater": lambda a, b: _less(b, a),
    "GreaterOrEqual": lambda a, b: _at_most(b, a),
    "Less": _less,
    "LessOrEqual": _at_most,
    "Max": _maximum,
    "Min": _minimum,
    "Mod": _mod,
    "Mul": _mul,
    "Neg": lambda a: -_dim(a),
    "Not": lambda a: not _flag(a),
    "Or": lambda a, b: _flag(a) or _flag(b),
    "Sub": _sub,
    "Sum": _add,
    "Xor": lambda a, b: _flag(a) != _flag(b),
}
