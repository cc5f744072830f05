"""The built-in functions of the rule language, as a table.

Enters: argument values (a tensor is its type).  Leaves: a value; UNKNOWN where it is not known
or makes no sense.  `BUILTINS` gives each function's parameters, for the checker and for `show`.
A function of tensors given a list variable answers with a list.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from enum import Enum

from tensat_dl.language import values
from tensat_dl.language.arithmetic import binary, bounded, negate
from tensat_dl.language.values import MAX_ITEMS, UNKNOWN, Value
from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import SymbolicDim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import OtherType, TensorType


class Takes(Enum):
    """What a parameter of a built-in is."""

    TENSOR = "a tensor"
    VALUE = "a value"
    EITHER = "a tensor or a value"


class Gives(Enum):
    """What a built-in returns."""

    CONDITION = "a condition"
    VALUE = "a value"
    TYPE = "a type"


@dataclass(frozen=True)
class Builtin:
    """One function: `takes` by position (the last repeats when `variadic`), `least` required."""

    signature: str
    takes: tuple[Takes, ...]
    gives: Gives
    apply: Callable[..., Value]
    least: int
    variadic: bool = False

    def accepts(self, count: int) -> bool:
        """Can it be called with that many arguments?"""
        return self.least <= count and (self.variadic or count <= len(self.takes))


def call(name: str, args: tuple[Value, ...]) -> Value:
    """The built-in `name` of `args`; UNKNOWN for a wrong number of them."""
    builtin = BUILTINS[name]
    if not builtin.accepts(len(args)):
        return UNKNOWN
    return bounded(builtin.apply(*args))


# --- of tensors -----------------------------------------------------------------------------


def _of_type(function: Callable[[TensorType], Value]) -> Callable[[Value], Value]:
    """Lift to lists of tensors; not a tensor: UNKNOWN."""

    def apply(tensor: Value) -> Value:
        if isinstance(tensor, tuple):
            return tuple(apply(item) for item in tensor)
        return function(tensor) if isinstance(tensor, TensorType) else UNKNOWN

    return apply


def _shape(tensor: TensorType) -> Value:
    return UNKNOWN if tensor.dims is None else tensor.dims


def _rank(tensor: TensorType) -> Value:
    return UNKNOWN if tensor.dims is None else len(tensor.dims)


def _dim(tensor: Value, axis: Value) -> Value:
    return _of_type(lambda one: item(_shape(one), axis))(tensor)


def _numel(tensor: TensorType) -> Value:
    return _prod(_shape(tensor))


def _bytes(tensor: TensorType) -> Value:
    bits = binary("*", _numel(tensor), tensor.dtype.bits)
    return binary("//", binary("+", bits, 7), 8)


def _value(tensor: TensorType) -> Value:
    """Flat, row-major; the element itself for a scalar of rank 0."""
    if tensor.value is None:
        return UNKNOWN
    return tensor.value[0] if tensor.dims == () else tensor.value


def _known(value: Value) -> Value:
    """True for a tensor with a value, and for a number; else UNKNOWN, as it may become known."""
    if isinstance(value, tuple):
        return values.decided(values.all_of(_known(item) is True or None for item in value))
    if isinstance(value, TensorType):
        return UNKNOWN if value.value is None else True
    return UNKNOWN if isinstance(value, SymbolicDim | OtherType) or value is UNKNOWN else True


def _const(tensor: TensorType) -> Value:
    """True for a tensor whose value is numbers; else UNKNOWN, as it may become one."""
    if tensor.value is None:
        return UNKNOWN
    return UNKNOWN if any(isinstance(item, SymbolicDim) for item in tensor.value) else True


def _scalar(tensor: TensorType) -> Value:
    return values.decided(values.equal(_numel(tensor), 1))


def _like(tensor: Value, shape: Value = UNKNOWN, dtype: Value = UNKNOWN) -> Value:
    """The type of a tensor without its value; with other dims, with another element type."""
    if not isinstance(tensor, TensorType):
        return tensor if isinstance(tensor, OtherType) else UNKNOWN
    element = dtype if isinstance(dtype, DType) else tensor.dtype
    if shape is UNKNOWN:
        return TensorType(element, tensor.dims)
    sizes = _dims_of(shape)
    return UNKNOWN if sizes is None else TensorType(element, sizes)


def _dims_of(shape: Value) -> tuple[dims.Dim, ...] | None:
    items = shape if isinstance(shape, tuple) else ()
    sizes = tuple(size for size in items if isinstance(size, int | SymbolicDim))
    return sizes if isinstance(shape, tuple) and len(sizes) == len(items) else None


def _broadcast(*shapes: Value) -> Value:
    """The shape of an elementwise result, where each dim of it is certain."""
    sizes = [_shape(shape) if isinstance(shape, TensorType) else shape for shape in shapes]
    lists = [size for size in sizes if isinstance(size, tuple)]
    if len(lists) < len(sizes):
        return UNKNOWN
    rank = max(map(len, lists))
    padded = [(1,) * (rank - len(size)) + size for size in lists]
    joined = tuple(_broadcast_dim(column) for column in zip(*padded, strict=True))
    return UNKNOWN if UNKNOWN in joined else joined


def _broadcast_dim(sizes: tuple[Value, ...]) -> Value:
    large = [size for size in sizes if values.equal(size, 1) is not True]
    same = all(values.equal(size, large[0]) is True for size in large)
    return (large[0] if large else 1) if same else UNKNOWN


# --- of lists and numbers -------------------------------------------------------------------


def item(items: Value, index: Value) -> Value:
    """`items[index]` as in Python; UNKNOWN where out of range or not known."""
    if not isinstance(items, tuple) or not isinstance(index, int):
        return UNKNOWN
    return items[index] if -len(items) <= index < len(items) else UNKNOWN


def _extreme(smallest: bool) -> Callable[..., Value]:
    def apply(*args: Value) -> Value:
        items = args[0] if len(args) == 1 and isinstance(args[0], tuple) else args
        for candidate in items:
            answers = (_no_worse(candidate, other, smallest) for other in items)
            if values.all_of(answers) is True:
                return candidate
        return UNKNOWN

    return apply


def _no_worse(one: Value, other: Value, smallest: bool) -> bool | None:
    return values.at_most(one, other) if smallest else values.at_most(other, one)


def _abs(value: Value) -> Value:
    negative = values.less(value, 0)
    return UNKNOWN if negative is None else (negate(value) if negative else value)


def _len(items: Value) -> Value:
    return len(items) if isinstance(items, tuple) else UNKNOWN


def _fold(operator: str, start: int) -> Callable[[Value], Value]:
    def apply(items: Value) -> Value:
        if not isinstance(items, tuple):
            return UNKNOWN
        total: Value = start
        for one in items:
            total = binary(operator, total, one)
        return total

    return apply


_prod = _fold("*", 1)


def _range(*bounds: Value) -> Value:
    if not all(isinstance(bound, int) for bound in bounds):
        return UNKNOWN
    if len(bounds) == 3 and bounds[2] == 0:
        return UNKNOWN
    numbers = range(*bounds)  # type: ignore[arg-type]
    return tuple(numbers) if len(numbers) <= MAX_ITEMS else UNKNOWN


def _compose(outer: Value, inner: Value) -> Value:
    """`[outer[j] for j in inner]`: the permutation of two transpositions, outer first."""
    if not isinstance(inner, tuple):
        return UNKNOWN
    picked = tuple(item(outer, j) for j in inner)
    return UNKNOWN if UNKNOWN in picked else picked


def _inverse(permutation: Value) -> Value:
    if not isinstance(permutation, tuple):
        return UNKNOWN
    size = len(permutation)
    places = {axis: place for place, axis in enumerate(permutation)}
    if any(axis not in places for axis in range(size)):
        return UNKNOWN
    return tuple(places[axis] for axis in range(size))


def _normal_axis(axis: Value, rank: Value) -> Value:
    """`axis`, or each of a list, counted from the front; `rank` is a number or a tensor."""
    if isinstance(axis, tuple):
        return tuple(_normal_axis(one, rank) for one in axis)
    size = _rank(rank) if isinstance(rank, TensorType) else rank
    if not isinstance(axis, int) or not isinstance(size, int) or not -size <= axis < size:
        return UNKNOWN
    return axis % size


def _builtin(
    signature: str,
    takes: tuple[Takes, ...],
    apply: Callable[..., Value],
    gives: Gives = Gives.VALUE,
    *,
    optional: int = 0,
    variadic: bool = False,
) -> tuple[str, Builtin]:
    name = signature.partition("(")[0]
    return name, Builtin(signature, takes, gives, apply, len(takes) - optional, variadic)


_T, _V, _E = Takes.TENSOR, Takes.VALUE, Takes.EITHER

#: Every built-in function of expressions.  `weight` is a relation and not among them.
BUILTINS: Mapping[str, Builtin] = dict(
    (
        _builtin("rank(x)", (_T,), _of_type(_rank)),
        _builtin("shape(x)", (_T,), _of_type(_shape)),
        _builtin("dim(x, axis)", (_T, _V), _dim),
        _builtin("dtype(x)", (_T,), _of_type(lambda tensor: tensor.dtype)),
        _builtin("numel(x)", (_T,), _of_type(_numel)),
        _builtin("bytes(x)", (_T,), _of_type(_bytes)),
        _builtin("value(x)", (_T,), _of_type(_value)),
        _builtin("known(x)", (_E,), _known, Gives.CONDITION),
        _builtin("const(x)", (_T,), _of_type(_const), Gives.CONDITION),
        _builtin("scalar(x)", (_T,), _of_type(_scalar), Gives.CONDITION),
        _builtin("like(x, dims, dtype)", (_T, _V, _V), _like, Gives.TYPE, optional=2),
        _builtin("broadcast(a, b, ...)", (_E, _E), _broadcast, optional=1, variadic=True),
        _builtin("min(a, b, ...)", (_V,), _extreme(True), variadic=True),
        _builtin("max(a, b, ...)", (_V,), _extreme(False), variadic=True),
        _builtin("abs(a)", (_V,), _abs),
        _builtin("len(list)", (_E,), _len),
        _builtin("sum(list)", (_V,), _fold("+", 0)),
        _builtin("prod(list)", (_V,), _prod),
        _builtin("range(start, stop, step)", (_V, _V, _V), _range, optional=2),
        _builtin("compose(p, q)", (_V, _V), _compose),
        _builtin("inverse(p)", (_V,), _inverse),
        _builtin("normal_axis(axis, rank)", (_V, _E), _normal_axis),
    )
)
