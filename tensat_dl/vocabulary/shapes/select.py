"""Operators whose dims come from values: slices, pads, gathers, ranges, resizes."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.question import (
    KnownShape,
    Question,
    Refusal,
    Shape,
    axes_in,
    axis_in,
    show,
)

#: From here on, an end or start of a slice means "as far as there is".
FAR = (1 << 31) - 1

#: Scales with a larger one are left to ONNX, which rounds as runtimes do.
MAX_SCALE_DENOMINATOR = 64


def _slice(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return []
    columns = slice_columns(question, len(data))
    if columns is None:
        return [[None] * len(data)]
    shape: list[Dim | None] = list(data)
    for axis, start, end, step in columns:
        shape[axis] = sliced(data[axis], start, end, step)
    return [shape]


def slice_columns(
    question: Question, rank: int
) -> list[tuple[int, Dim | None, Dim | None, int | None]] | None:
    """(axis, start, end, step) of a Slice; None where the axes are not known."""
    axes = question.int_values(3)
    starts, ends, steps = (question.dim_values(index) for index in (1, 2, 4))
    if question.has(3) and axes is None:
        return None
    count = next((len(c) for c in (axes, starts, ends) if c is not None), None)
    if count is None:
        return None
    if axes is None:
        axes = tuple(range(count))
    if steps is None and not question.has(4):
        steps = (1,) * count
    columns = [_column(column, count) for column in (starts, ends, steps)]
    if any(step == 0 for step in columns[2]):
        raise Refusal("a step is 0")
    whole_steps = [step if isinstance(step, int) else None for step in columns[2]]
    return list(zip(axes_in(axes, rank), columns[0], columns[1], whole_steps, strict=True))


def _column(values: Sequence[Dim] | None, count: int) -> Sequence[Dim | None]:
    if values is None:
        return [None] * count
    if len(values) != count:
        raise Refusal(f"`starts`, `ends`, `axes` and `steps` differ in length: {show(values)}")
    return values


def sliced(size: Dim, start: Dim | None, end: Dim | None, step: int | None) -> Dim | None:
    """Number of elements from `start` to `end` by `step` along a dim of `size`."""
    if start is None or end is None or step is None:
        return None
    if isinstance(size, int) and isinstance(start, int) and isinstance(end, int):
        return len(places(start, end, step, size))
    if step < 0:
        first, last = _backward_bound(start, size), _backward_bound(end, size)
        if first is None or last is None:
            return None
        return (dims.maximum(first - last, 0) - step - 1) // -step
    first, last = _bound(start, size), _bound(end, size)
    if first is None or last is None:
        return None
    span = _to_the_end(start, size) if last == size else dims.maximum(last - first, 0)
    return (span + step - 1) // step


def _to_the_end(start: Dim, size: Dim) -> Dim:
    """`size` less the bound of `start`, without nesting one in the other."""
    if dims.is_nonnegative(start):
        return dims.maximum(size - start, 0)
    return dims.minimum(-start, size)


def places(start: int, end: int, step: int, size: int) -> range:
    """What a slice takes along an axis of `size`.

    Both ends are counted from the end where negative, then clamped; a start below the first
    element is that element, also backwards, which Python has otherwise.
    """
    first = start + size if start < 0 else start
    last = end + size if end < 0 else end
    if step > 0:
        return range(min(max(first, 0), size), min(max(last, 0), size), step)
    return range(min(max(first, 0), size - 1), min(max(last, -1), size - 1), step)


def _bound(position: Dim, size: Dim) -> Dim | None:
    """A start or end between 0 and `size`, for a positive step."""
    if isinstance(position, int) and position >= FAR:
        return size
    if dims.is_nonnegative(position):
        return dims.minimum(position, size)
    if dims.is_positive(-position):
        return dims.maximum(size + position, 0)
    return None


def _backward_bound(position: Dim, size: Dim) -> Dim | None:
    """A start or end between -1 and `size` - 1, for a negative step."""
    if isinstance(position, int) and position <= -FAR:
        return -1
    if isinstance(position, int) and position >= FAR:
        return size - 1
    if dims.is_nonnegative(position):
        return dims.minimum(position, size - 1)
    if dims.is_positive(-position):
        return dims.maximum(size + position, -1)
    return None


def _pad(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return []
    pads, axes = question.dim_values(1), question.int_values(3)
    if pads is None or (question.has(3) and axes is None):
        return [[None] * len(data)]
    padded = list(range(len(data))) if axes is None else axes_in(axes, len(data))
    if len(pads) != 2 * len(padded):
        raise Refusal(f"`pads` {show(pads)} must have {2 * len(padded)} entries")
    shape: list[Dim | None] = list(data)
    for place, axis in enumerate(padded):
        size = data[axis] + pads[place] + pads[place + len(padded)]
        if dims.is_positive(-size):
            raise Refusal(f"dim {axis} of {show(data)} becomes {size}")
        shape[axis] = size
    return [shape]


def _center_crop_pad(question: Question) -> list[Shape]:
    data, target = question.dims(0), question.dim_values(1)
    if data is None:
        return []
    axes = axes_in(question.ints("axes") or range(len(data)), len(data))
    if target is None or len(target) != len(axes):
        return [[None if axis in axes else size for axis, size in enumerate(data)]]
    sizes = dict(zip(axes, target, strict=True))
    return [[sizes.get(axis, size) for axis, size in enumerate(data)]]


def _gather(question: Question) -> list[Shape]:
    data, places = question.dims(0), question.dims(1)
    if data is None:
        return [None]
    axis = axis_in(question.integer("axis"), len(data))
    size, indices = data[axis], question.int_values(1)
    if isinstance(size, int) and any(not -size <= index < size for index in indices or ()):
        raise Refusal(
            f"an index of {list(indices or ())} lies outside of dim {axis} of {show(data)}"
        )
    return [None if places is None else (*data[:axis], *places, *data[axis + 1 :])]


def _gather_nd(question: Question) -> list[Shape]:
    """ONNX's own inference crashes on a wrong `batch_dims`."""
    data, places, batch = question.dims(0), question.dims(1), question.integer("batch_dims")
    ranks = [len(shape) for shape in (data, places) if shape is not None]
    if batch < 0 or any(batch >= rank for rank in ranks):
        raise Refusal(f"`batch_dims` is {batch}, and there are {ranks} dims")
    if data is None or places is None:
        return [None]
    length = places[-1]
    if not isinstance(length, int):
        return [None]
    if not 1 <= length <= len(data) - batch:
        raise Refusal(f"the indices {show(places)} do not point into {show(data)}")
    return [(*places[:-1], *data[batch + length :])]


def _one_hot(question: Question) -> list[Shape]:
    indices, depth = question.dims(0), question.dim_values(1)
    if indices is None:
        return []
    axis = axis_in(question.integer("axis", -1), len(indices) + 1)
    return [(*indices[:axis], depth[0] if depth else None, *indices[axis:])]


def _top_k(question: Question) -> list[Shape]:
    data, count = question.dims(0), question.dim_values(1)
    if data is None:
        return []
    axis = axis_in(question.integer("axis", -1), len(data))
    taken = count[0] if count else None
    if taken is not None and dims.is_positive(taken - data[axis]):
        raise Refusal(f"`K` is {taken}, more than dim {axis} of {show(data)}")
    shape = (*data[:axis], taken, *data[axis + 1 :])
    return [shape, shape]


def _constant_of_shape(question: Question) -> list[Shape]:
    target, length = question.dim_values(0), question.dims(0)
    if target is not None:
        if any(isinstance(size, int) and size < 0 for size in target):
            raise Refusal(f"the shape {show(target)} has a negative dim")
        return [target]
    return [[None] * length[0] if length and isinstance(length[0], int) else None]


def _range(question: Question) -> list[Shape]:
    start, limit, delta = (_scalar(question, index) for index in range(3))
    if delta == 0:
        raise Refusal("`delta` is 0")
    if start is None or limit is None or not isinstance(delta, int):
        return [[None]]
    span = (limit - start) if delta > 0 else (start - limit)
    step = abs(delta)
    return [[dims.maximum((span + step - 1) // step, 0)]]


def _scalar(question: Question, index: int) -> Dim | None:
    value = question.dim_values(index)
    return value[0] if value else None


def _resize(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return []
    axes = axes_in(question.ints("axes") or range(len(data)), len(data))
    if question.text("coordinate_transformation_mode") == "tf_crop_and_resize":
        return [[None] * len(data)]
    sizes, scales = question.dim_values(3), question.value(2)
    shape: list[Dim | None] = list(data)
    if question.has(3) and question.text("keep_aspect_ratio_policy", "stretch") != "stretch":
        return [[None] * len(data)]
    given = sizes if question.has(3) else scales
    if given is None or len(given) != len(axes):
        return [[None] * len(data)]
    for place, axis in enumerate(axes):
        shape[axis] = sizes[place] if sizes is not None else _scaled(data[axis], given[place])
    return [shape]


def _scaled(size: Dim, scale: object) -> Dim | None:
    """floor(size * scale), `scale` being the exact value of a float."""
    if not isinstance(scale, float) or not 0 < scale < float("inf"):
        return None
    exact = Fraction(scale)
    if exact.denominator > MAX_SCALE_DENOMINATOR:
        return None
    return size * exact.numerator // exact.denominator


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    "CenterCropPad": _center_crop_pad,
    "ConstantOfShape": _constant_of_shape,
    "Gather": _gather,
    "GatherND": _gather_nd,
    "OneHot": _one_hot,
    "Pad": _pad,
    "Range": _range,
    "Resize": _resize,
    "Slice": _slice,
    "TopK": _top_k,
}

__all__ = ["SHAPES", "KnownShape", "slice_columns", "sliced"]
