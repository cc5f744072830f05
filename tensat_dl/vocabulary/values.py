"""Folding of small integer tensors whose elements are numbers or symbolic dims.

Enters: a :class:`Question`.  Leaves: the values of its outputs, None where they are not known.
Arrays have numpy's object type: their elements are Python ints, bools, floats and dims, so that
numpy's own broadcasting, slicing and reshaping serve symbols too.  Floats are only moved, cast
and rounded; arithmetic on them is left to the constant folder, which runs the real kernels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensat_dl.vocabulary.attributes import is_negative_zero
from tensat_dl.vocabulary.dims import Dim, SymbolicDim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.question import Question, Refusal
from tensat_dl.vocabulary.scalars import SCALARS, NotKnown, cast
from tensat_dl.vocabulary.shapes.select import places, slice_columns
from tensat_dl.vocabulary.types import (
    MAX_FLOAT_VALUE_ELEMENTS,
    MAX_VALUE_ELEMENTS,
    Number,
    Scalar,
    TensorType,
    Type,
)

Array = NDArray[np.object_]
Value = tuple[Scalar, ...]


def fold(question: Question, outputs: Sequence[Type]) -> list[Array | None]:
    """The value of each output, as an array of the output's shape, or None."""
    function = _FUNCTIONS.get(question.op.name) if not question.op.domain else None
    if function is None or not all(isinstance(given, TensorType) for given in outputs):
        return [None] * len(outputs)
    try:
        folded = function(question)
    except NotKnown:
        return [None] * len(outputs)
    except (ValueError, IndexError, TypeError, ZeroDivisionError, Refusal):
        return [None] * len(outputs)
    padded = [*folded, *[None] * len(outputs)]
    return [_checked(array, output) for array, output in zip(padded, outputs, strict=False)]


def fill_of(question: Question) -> Number | None:
    """What all elements of the first output are, where elements of a like input are moved."""
    name = "" if question.op.domain else question.op.name
    if name == "ConstantOfShape":
        return _as_fill([_filling(question)])
    tensor = question.tensor(0) if name in _MOVING else None
    if tensor is None:
        return None
    return _as_fill(tensor.value or ()) if tensor.fill is None else tensor.fill


def _as_fill(items: Sequence[Scalar]) -> Number | None:
    first = items[0] if items else None
    if first is None or isinstance(first, SymbolicDim):
        return None
    alike = all(item == first and not is_negative_zero(item) for item in items)
    return first if alike else None


def flat(array: Array) -> Value:
    """The elements, row-major."""
    return tuple(array.reshape(-1).tolist())


def _checked(array: Array | None, output: Type) -> Array | None:
    """The array where it is small and its elements fit the element type."""
    if array is None or not isinstance(output, TensorType):
        return None
    limit = MAX_FLOAT_VALUE_ELEMENTS if output.dtype.is_float else MAX_VALUE_ELEMENTS
    whole = np.asarray(array, dtype=object)  # numpy gives elements of rank 0 bare
    if whole.size > limit or not all(_fits(item, output.dtype) for item in flat(whole)):
        return None
    return whole


def _fits(item: Scalar, dtype: DType) -> bool:
    if isinstance(item, SymbolicDim):
        return dtype in (DType.I64, DType.I32)
    if isinstance(item, bool):
        return dtype is DType.BOOL
    if isinstance(item, float):
        return dtype.is_float and not is_negative_zero(item)
    if not dtype.is_integer:
        return False
    low = -(1 << dtype.bits - 1) if dtype.is_signed else 0
    return low <= item < (1 << dtype.bits - dtype.is_signed)


# --- inputs ---------------------------------------------------------------------------------


def _array(question: Question, index: int) -> Array:
    """An input's value; raises NotKnown."""
    tensor = question.tensor(index)
    if tensor is None or tensor.value is None or tensor.dims is None:
        raise NotKnown
    sizes = _numbers(tensor.dims)
    array = np.empty(len(tensor.value), dtype=object)
    array[:] = tensor.value
    return array.reshape(sizes)


def _numbers(items: Iterable[object]) -> list[int]:
    """The items, which must be numbers; raises NotKnown."""
    found = list(items)
    if not all(isinstance(item, int) for item in found):
        raise NotKnown
    return [item for item in found if isinstance(item, int)]


def _ints(question: Question, index: int) -> list[int]:
    return _numbers(_array(question, index).reshape(-1).tolist())


def _elementwise(function: Callable[..., Scalar], *arrays: Array) -> Array:
    """Apply to each element; numpy's `vectorize` would guess an element type."""
    shape = np.broadcast_shapes(*(array.shape for array in arrays))
    columns = [np.broadcast_to(array, shape).reshape(-1) for array in arrays]
    result = np.empty(int(np.prod(shape)), dtype=object)
    for place, items in enumerate(zip(*columns, strict=True)):
        result[place] = function(*items)
    return result.reshape(shape)


# --- functions ------------------------------------------------------------------------------


def _pointwise(question: Question) -> list[Array | None]:
    function = SCALARS[question.op.name]
    arrays = [_array(question, index) for index in range(len(question.inputs))]
    total = arrays[0]
    if len(arrays) == 1:
        return [
            total if question.op.name in ("Max", "Min", "Sum") else _elementwise(function, total)
        ]
    for array in arrays[1:]:
        total = _elementwise(function, total, array)
    return [total]


def _where(question: Question) -> list[Array | None]:
    arrays = [_array(question, index) for index in range(3)]
    return [_elementwise(lambda condition, yes, no: yes if condition else no, *arrays)]


def _cast(question: Question) -> list[Array | None]:
    code = question.integer("to")
    return [_elementwise(lambda item: cast(item, code), _array(question, 0))]


def _shape(question: Question) -> list[Array | None]:
    sizes = question.dims(0)
    if sizes is None:
        raise NotKnown
    end = question.attribute_values.get("end", len(sizes))
    return [_vector(sizes[question.integer("start") : end if isinstance(end, int) else None])]


def _size(question: Question) -> list[Array | None]:
    sizes = question.dims(0)
    if sizes is None:
        raise NotKnown
    total: Dim = 1
    for size in sizes:
        total = total * size
    return [_vector([total]).reshape(())]


def _vector(items: Sequence[Scalar]) -> Array:
    array = np.empty(len(items), dtype=object)
    array[:] = items
    return array


def _same_elements(question: Question) -> list[Array | None]:
    return [_array(question, 0)]


def _reshape(question: Question) -> list[Array | None]:
    array, target = _array(question, 0), _ints(question, 1)
    copies = not question.integer("allowzero")
    return [
        array.reshape([array.shape[i] if copies and n == 0 else n for i, n in enumerate(target)])
    ]


def _flatten(question: Question) -> list[Array | None]:
    array, axis = _array(question, 0), question.integer("axis", 1)
    return [array.reshape(int(np.prod(array.shape[:axis])), -1)]


def _squeeze(question: Question) -> list[Array | None]:
    axes = tuple(_ints(question, 1)) if question.has(1) else None
    return [_array(question, 0).squeeze(axes)]


def _unsqueeze(question: Question) -> list[Array | None]:
    return [np.expand_dims(_array(question, 0), tuple(_ints(question, 1)))]


def _transpose(question: Question) -> list[Array | None]:
    return [_array(question, 0).transpose(question.ints("perm"))]


def _concat(question: Question) -> list[Array | None]:
    arrays = [_array(question, index) for index in range(len(question.inputs))]
    return [np.concatenate(arrays, axis=question.integer("axis"))]


def _split(question: Question) -> list[Array | None]:
    array, axis = _array(question, 0), question.integer("axis")
    if question.has(1):
        sizes = _ints(question, 1)
    else:
        chunk = -(-array.shape[axis] // question.outputs)
        sizes = [chunk] * question.outputs
    return list(np.split(array, np.cumsum(sizes)[:-1], axis=axis))


def _gather(question: Question) -> list[Array | None]:
    indices = _array(question, 1).astype(np.int64)
    return [np.take(_array(question, 0), indices, axis=question.integer("axis"))]


def _slice(question: Question) -> list[Array | None]:
    array = _array(question, 0)
    columns = slice_columns(question, array.ndim)
    if columns is None:
        raise NotKnown
    for axis, start, end, step in columns:
        first, last, stride = _numbers((start, end, step))
        taken = places(first, last, stride, array.shape[axis])
        array = np.take(array, np.array(taken, dtype=np.int64), axis=axis)
    return [array]


def _expand(question: Question) -> list[Array | None]:
    array, target = _array(question, 0), _ints(question, 1)
    shape = np.broadcast_shapes(array.shape, tuple(target))
    _require_small(shape)
    return [np.broadcast_to(array, shape)]


def _tile(question: Question) -> list[Array | None]:
    array, repeats = _array(question, 0), _ints(question, 1)
    _require_small([size * count for size, count in zip(array.shape, repeats, strict=True)])
    return [np.tile(array, repeats)]


def _require_small(shape: Sequence[int]) -> None:
    if int(np.prod(shape)) > MAX_VALUE_ELEMENTS:
        raise NotKnown


def _range(question: Question) -> list[Array | None]:
    start, limit, delta = (_ints(question, index)[0] for index in range(3))
    places = range(start, limit, delta)
    _require_small([len(places)])
    return [_vector(list(places))]


def _constant_of_shape(question: Question) -> list[Array | None]:
    shape = _ints(question, 0)
    _require_small(shape)
    return [np.full(shape, _filling(question), dtype=object)]


def _filling(question: Question) -> Any:
    from onnx import numpy_helper

    blob = question.attribute_values.get("value")
    payload: Any = getattr(blob, "payload", None)
    return 0.0 if payload is None else numpy_helper.to_array(payload).reshape(-1)[0].item()


def _non_zero(question: Question) -> list[Array | None]:
    array = _array(question, 0)
    numbers = np.array(_numbers(array.reshape(-1).tolist()), dtype=np.int64).reshape(array.shape)
    places = np.array(np.nonzero(np.atleast_1d(numbers)), dtype=object)
    return [places]


def _reduction(question: Question) -> list[Array | None]:
    array = _array(question, 0)
    axes = _ints(question, 1) if question.has(1) else []
    if not axes and question.integer("noop_with_empty_axes"):
        return [array]
    reduced = sorted(axis % array.ndim for axis in axes) or list(range(array.ndim))
    function = SCALARS[_FOLDS[question.op.name]]
    for axis in reversed(reduced):
        parts = list(np.moveaxis(array, axis, 0))
        if not parts:
            raise NotKnown
        total = np.asarray(parts[0], dtype=object)
        for part in parts[1:]:
            total = _elementwise(function, total, np.asarray(part, dtype=object))
        array = total
    if question.integer("keepdims", 1):
        array = np.expand_dims(array, tuple(reduced))
    return [array]


_FOLDS = {"ReduceMax": "Max", "ReduceMin": "Min", "ReduceProd": "Mul", "ReduceSum": "Sum"}

#: Their output holds elements of the first input alone.
_MOVING = frozenset(
    "Expand Flatten Gather Identity Reshape Slice Squeeze Tile Transpose Unsqueeze".split()
)

_FUNCTIONS: Mapping[str, Callable[[Question], list[Array | None]]] = {
    **dict.fromkeys(SCALARS, _pointwise),
    **dict.fromkeys(_FOLDS, _reduction),
    "Cast": _cast,
    "Concat": _concat,
    "ConstantOfShape": _constant_of_shape,
    "Expand": _expand,
    "Flatten": _flatten,
    "Gather": _gather,
    "Identity": _same_elements,
    "NonZero": _non_zero,
    "Range": _range,
    "Reshape": _reshape,
    "Shape": _shape,
    "Size": _size,
    "Slice": _slice,
    "Split": _split,
    "Squeeze": _squeeze,
    "Tile": _tile,
    "Transpose": _transpose,
    "Unsqueeze": _unsqueeze,
    "Where": _where,
}
