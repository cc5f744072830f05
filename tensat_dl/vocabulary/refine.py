"""What two answers about one tensor's type say together.

A number says more than a symbol of an input, and that more than an unknown symbol.  Of two
symbols one is chosen by a total order, so that `meet` is associative, commutative and
idempotent, and the order in which answers arrive does not show.
"""

from __future__ import annotations

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import Dim, SymbolicDim
from tensat_dl.vocabulary.types import UNDECLARED, Scalar, TensorType, Type


def meet(left: Type, right: Type) -> Type | None:
    """The type that says what both say, or None where they contradict each other."""
    if left == right or right == UNDECLARED:
        return left
    if left == UNDECLARED:
        return right
    if not isinstance(left, TensorType) or not isinstance(right, TensorType):
        return None
    return _meet_tensors(left, right)


def meet_dims(left: Dim, right: Dim) -> Dim | None:
    """The dim that says more, or None where both cannot hold."""
    if left == right:
        return left
    if dims.definitely_different(left, right):
        return None
    return min(left, right, key=_vagueness)


def information(type_: Type) -> int:
    """How much a type says; grows strictly when a rank, a dim or an element becomes known."""
    if not isinstance(type_, TensorType):
        return 0 if type_ == UNDECLARED else 1
    if type_.dims is None:
        return 1
    known = sum(_certainty(dim) for dim in type_.dims)
    value = 0 if type_.value is None else 1 + sum(_certainty(item) for item in type_.value)
    return 2 + known + value + (type_.fill is not None)


def _meet_tensors(left: TensorType, right: TensorType) -> TensorType | None:
    if left.dtype is not right.dtype:
        return None
    shape = right.dims if left.dims is None else left.dims
    if left.dims is not None and right.dims is not None:
        shape = _meet_shapes(left.dims, right.dims)
        if shape is None:
            return None
    value = right.value if left.value is None else left.value
    if left.value is not None and right.value is not None:
        value = _meet_values(left.value, right.value)
        if value is None:
            return None
    fill = right.fill if left.fill is None else left.fill
    if right.fill is not None and right.fill != fill:
        return None
    if value is None or fill is None:
        return TensorType(left.dtype, shape, value, fill)
    value = _meet_values(value, (fill,) * len(value))
    return None if value is None else TensorType(left.dtype, shape, value)


def _meet_shapes(left: tuple[Dim, ...], right: tuple[Dim, ...]) -> tuple[Dim, ...] | None:
    if len(left) != len(right):
        return None
    met = map(meet_dims, left, right)
    found = tuple(dim for dim in met if dim is not None)
    return found if len(found) == len(left) else None


def _meet_values(left: tuple[Scalar, ...], right: tuple[Scalar, ...]) -> tuple[Scalar, ...] | None:
    if len(left) != len(right):
        return None
    met = map(_meet_scalars, left, right)
    found = tuple(item for item in met if item is not None)
    return found if len(found) == len(left) else None


def _meet_scalars(left: Scalar, right: Scalar) -> Scalar | None:
    if isinstance(left, float) or isinstance(right, float):
        return left if left == right or (left != left and right != right) else None
    return meet_dims(left, right)


def _vagueness(dim: Dim) -> tuple[int, int, str]:
    text = str(dim)
    return -_certainty(dim), len(text), text


def _certainty(item: Scalar) -> int:
    if not isinstance(item, SymbolicDim):
        return 4
    if dims.is_ambiguous(item):
        return 1
    return 2 if item.is_unknown else 3
