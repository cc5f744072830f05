"""What an expression of a rule can be worth, and comparison of such values in three values.

Enters: numbers, dims, types and attributes of the vocabulary.  Leaves: :data:`Value`, `equal`,
`less`, `contains`, each of which answers None where it is not decided.  Knows no syntax.

Decisions: a symbol stands for a number >= 0 (never assumed >= 1); an int equals the element type
of that ONNX code, because attributes hold codes; a float that is exactly a float32 equals a
literal that rounds to it, because attributes are float32.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from enum import Enum
from math import isfinite
from typing import TypeAlias, TypeGuard

from tensat_dl.vocabulary import dims, dtypes
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue, Blob
from tensat_dl.vocabulary.dims import SymbolicDim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import AttributeKind
from tensat_dl.vocabulary.types import AbsentType, OtherType, TensorType


class Unknown(Enum):
    """The type of :data:`UNKNOWN`."""

    UNKNOWN = "unknown"


#: What cannot be decided: a symbolic dim, a value not known, an odd operation.
UNKNOWN = Unknown.UNKNOWN

#: Lists are tuples; a tensor variable is worth its type, a list variable a tuple of types.
Value: TypeAlias = (
    "int | float | bool | str | bytes | SymbolicDim | DType | TensorType | OtherType"
    " | AbsentType | Attributes | Blob | Unknown | tuple[Value, ...]"
)

#: Numbers of more bits, longer lists and polynomials are UNKNOWN: evaluation stays small.
MAX_BITS = 4096
MAX_ITEMS = 1 << 16
MAX_TERMS = 256


def decided(answer: bool | None) -> Value:
    """UNKNOWN where there is no answer yet."""
    return UNKNOWN if answer is None else answer


def is_number(value: Value) -> TypeGuard[int | float]:
    """An int or a float, not a bool."""
    return isinstance(value, int | float) and not isinstance(value, bool)


def is_dim(value: Value) -> TypeGuard[int | SymbolicDim]:
    """An int or a symbolic dim, not a bool."""
    return isinstance(value, int | SymbolicDim) and not isinstance(value, bool)


def equal(left: Value, right: Value) -> bool | None:
    """Are both the same whatever the symbols stand for?  None: that depends, or is unknown."""
    if left is UNKNOWN or right is UNKNOWN:
        return None
    if isinstance(left, tuple) and isinstance(right, tuple):
        return _equal_lists(left, right)
    left, right = _code(left), _code(right)
    if isinstance(left, SymbolicDim) or isinstance(right, SymbolicDim):
        return _equal_dims(left, right)
    if isinstance(left, TensorType) and isinstance(right, TensorType):
        return _equal_types(left, right)
    if isinstance(left, float) or isinstance(right, float):
        return _equal_floats(left, right)
    return bool(left == right)


def less(left: Value, right: Value) -> bool | None:
    """Is `left < right`?  None where that is not decided or makes no sense."""
    if is_number(left) and is_number(right):
        return bool(left < right)
    if not (is_dim(left) and is_dim(right)):
        return None
    difference = right - left
    if dims.is_positive(difference):
        return True
    return False if dims.is_nonnegative(-difference) else None


def at_most(left: Value, right: Value) -> bool | None:
    """Is `left <= right`?  None where that is not decided or makes no sense (NaN included)."""
    if is_number(left) and is_number(right):
        return bool(left <= right)
    larger = less(right, left)
    return None if larger is None else not larger


def contains(items: Value, item: Value) -> bool | None:
    """Is `item` one of the list `items`?"""
    if not isinstance(items, tuple):
        return None
    return any_of(equal(item, other) for other in items)


def any_of(answers: Iterable[bool | None]) -> bool | None:
    """Kleene's `or` of answers."""
    found: bool | None = False
    for answer in answers:
        if answer is True:
            return True
        found = None if answer is None else found
    return found


def all_of(answers: Iterable[bool | None]) -> bool | None:
    """Kleene's `and` of answers."""
    found: bool | None = True
    for answer in answers:
        if answer is False:
            return False
        found = None if answer is None else found
    return found


def as_dtype(value: Value) -> DType | None:
    """The element type that `value` is, or is the ONNX code of."""
    if isinstance(value, DType):
        return value
    return dtypes.from_onnx(value) if isinstance(value, int) else None


def as_attribute(value: Value, kind: AttributeKind) -> AttributeValue | None:
    """`value` as an attribute of that kind: floats rounded to float32, element types as codes.

    None where it has no such form (unknown, symbolic, of another kind).
    """
    if kind is AttributeKind.OTHER:
        return value if isinstance(value, Blob) else None
    element = _ELEMENT_KINDS.get(kind)
    if element is None:
        return _scalar_attribute(value, kind)
    if not isinstance(value, tuple):
        return None
    items = [_scalar_attribute(item, element) for item in value]
    return None if any(item is None for item in items) else tuple(items)  # type: ignore[return-value]


_ELEMENT_KINDS = {
    AttributeKind.INTS: AttributeKind.INT,
    AttributeKind.FLOATS: AttributeKind.FLOAT,
    AttributeKind.STRINGS: AttributeKind.STRING,
}


def _scalar_attribute(value: Value, kind: AttributeKind) -> int | float | str | bytes | None:
    if kind is AttributeKind.STRING:
        return value if isinstance(value, str | bytes) else None
    if isinstance(value, DType) and kind is AttributeKind.INT:
        return value.onnx_code
    if not isinstance(value, int | float):
        return None
    if kind is AttributeKind.FLOAT:
        return _float32(value)
    return int(value) if isfinite(value) and int(value) == value else None


def _float32(value: int | float) -> float | None:
    try:
        return float(struct.unpack("<f", struct.pack("<f", value))[0])
    except (OverflowError, struct.error):
        return None


def _equal_lists(left: tuple[Value, ...], right: tuple[Value, ...]) -> bool | None:
    if len(left) != len(right):
        return False
    return all_of(equal(a, b) for a, b in zip(left, right, strict=True))


def _equal_dims(left: Value, right: Value) -> bool | None:
    if not (is_dim(left) and is_dim(right)):
        return None if is_number(left) or is_number(right) else False
    if left == right:
        return True
    return False if dims.definitely_different(left, right) else None


def _code(value: Value) -> Value:
    """An element type is the number that ONNX has for it."""
    return value.onnx_code if isinstance(value, DType) else value


def _equal_types(left: TensorType, right: TensorType) -> bool | None:
    if left.dtype is not right.dtype:
        return False
    if left.dims is None or right.dims is None:
        return None
    return _equal_lists(left.dims, right.dims)


def _equal_floats(left: Value, right: Value) -> bool:
    if left == right:
        return True
    if not (isinstance(left, int | float) and isinstance(right, int | float)):
        return False
    return left == _float32(right) or right == _float32(left)
