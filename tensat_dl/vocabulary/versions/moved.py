"""Attributes that became inputs: axes, pads, bounds, counts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.versions.form import Array, Form, Row

_LOWEST = float(np.finfo(np.float32).min)
_HIGHEST = float(np.finfo(np.float32).max)


# --- a list of integers that becomes input 1 ----------------------------------------------


def _list_up(attribute: str) -> Callable[[Form], Form | None]:
    def up(form: Form) -> Form | None:
        values = form.attributes.get(attribute)
        plain = form.without(attribute)
        return plain.plus_ints(1, values) if values else plain

    return up


def _list_down(attribute: str) -> Callable[[Form], Form | None]:
    def down(form: Form) -> Form | None:
        if not form.has(1):
            return form.cut(1)
        values = form.integers(1)
        if form.name == "Squeeze" and values == ():
            return None  # an empty attribute is none, and says "all axes of size 1"
        if attribute == "axes" and values is not None:
            extra = len(values) if form.name == "Unsqueeze" else 0
            values = from_front(values, form.rank(), extra)
        return None if values is None else form.cut(1).having(**{attribute: values})

    return down


def from_front(axes: tuple[int, ...], rank: int | None, extra: int = 0) -> tuple[int, ...] | None:
    """Axes without negative ones; None where that needs a rank that is not known."""
    if all(axis >= 0 for axis in axes):
        return axes
    return None if rank is None else tuple(axis % (rank + extra) for axis in axes)


def _reduction_down(form: Form) -> Form | None:
    """Without axes everything is reduced, unless told not to."""
    empty = not form.has(1) or form.integers(1) == ()
    if empty and form.integer("noop_with_empty_axes", 0):
        return None
    plain = form.without("noop_with_empty_axes")
    return plain.cut(1) if empty else _list_down("axes")(plain)


def _split_up(form: Form) -> Form | None:
    return _list_up("split")(form)


def _equal_parts_up(form: Form) -> Form | None:
    """Without sizes the dim divides evenly, and then the last part is no smaller."""
    return form if form.has(1) else form.having(num_outputs=form.outputs)


def _equal_parts_down(form: Form) -> Form | None:
    if form.has(1):
        return form.without("num_outputs")
    shape = form.dims(0)
    axis, count = form.integer("axis", 0), form.outputs
    if shape is None or not -len(shape) <= axis < len(shape):
        return None
    divides = shape[axis] // count * count == shape[axis]
    return form.without("num_outputs") if divides else None


# --- Slice, Pad, Clip, TopK, Dropout, DFT -------------------------------------------------


def _slice_up(form: Form) -> Form | None:
    bounded = form.plus_ints(1, form.attributes.get("starts"))
    bounded = bounded and bounded.plus_ints(2, form.attributes.get("ends"))
    axes = form.attributes.get("axes")
    if bounded is not None and axes:
        bounded = bounded.plus_ints(3, axes)
    return bounded and bounded.without("starts", "ends", "axes")


def _slice_down(form: Form) -> Form | None:
    starts, ends = form.integers(1), form.integers(2)
    if starts is None or ends is None:
        return None
    if form.has(4) and set(form.integers(4) or (0,)) != {1}:
        return None
    lowered = form.cut(1).having(starts=starts, ends=ends)
    if not form.has(3):
        return lowered
    axes = form.integers(3)
    plain = None if axes is None else from_front(axes, form.rank())
    return None if plain is None else lowered.having(axes=plain)


def _pad_up(form: Form) -> Form | None:
    padded = form.plus_ints(1, form.attributes.get("pads"))
    value = form.attributes.get("value", 0.0)
    if padded is not None and value and form.text("mode", "constant") == "constant":
        scalar = _scalar_like(form, value)
        padded = None if scalar is None else padded.plus_constant(2, scalar)
    return padded and padded.without("pads", "value")


def _pad_down(form: Form) -> Form | None:
    pads = form.integers(1)
    if pads is None:
        return None
    lowered = form.cut(1).having(pads=pads)
    if not form.has(2) or form.text("mode", "constant") != "constant":
        return lowered
    value = _float32(form.content(2))
    return None if value is None else lowered.having(value=value)


def _pad_axes_down(form: Form) -> Form | None:
    """Pads of some axes: fine before 18 only where they are all of them, in order."""
    if not form.has(3):
        return form.cut(3)
    rank, axes = form.rank(), form.integers(3)
    if rank is None or axes is None:
        return None
    in_order = [axis % max(rank, 1) for axis in axes] == list(range(rank))
    return form.cut(3) if in_order else None


def _no_wrap(form: Form) -> Form | None:
    return None if form.text("mode", "constant") == "wrap" else form


def _scalar_like(form: Form, value: AttributeValue) -> Array | None:
    """A scalar of the element type of input 0."""
    from onnx.helper import tensor_dtype_to_np_dtype

    tensor = form.tensor(0)
    if tensor is None or not isinstance(value, int | float):
        return None
    with np.errstate(over="ignore"):
        return np.array(value, dtype=tensor_dtype_to_np_dtype(tensor.dtype.onnx_code))


def _clip_up(form: Form) -> Form | None:
    clipped: Form | None = form.without("min", "max")
    for index, name, unbounded in ((1, "min", _LOWEST), (2, "max", _HIGHEST)):
        scalar = _scalar_like(form, form.attributes.get(name, unbounded))
        if scalar is None:
            return None
        # The end of float32 clips infinities, so it is a bound, unless it rounds to one.
        if np.isfinite(scalar):
            clipped = clipped and clipped.plus_constant(index, scalar)
    return clipped


def _clip_down(form: Form) -> Form | None:
    bounds: dict[str, AttributeValue] = {}
    for index, name in ((1, "min"), (2, "max")):
        if not form.has(index) and _is_half(form):
            continue
        bound = _float32(form.content(index))
        if bound is None:
            return None
        bounds[name] = bound
    return form.cut(1).having(**bounds)


def _is_half(form: Form) -> bool:
    """Attributes at the ends of float32 are infinite in this type: they clip nothing."""
    tensor = form.tensor(0)
    return tensor is not None and tensor.dtype is DType.F16


def _float32(content: tuple[Any, ...] | None) -> float | None:
    """The one float in `content`, where a float attribute can hold it."""
    if content is None or len(content) != 1 or not isinstance(content[0], float):
        return None
    return content[0] if float(np.float32(content[0])) == content[0] else None


def _top_k_up(form: Form) -> Form | None:
    count = form.attributes.get("k")
    return form.without("k").plus_ints(1, (count,)) if isinstance(count, int) else None


def _top_k_down(form: Form) -> Form | None:
    count = form.integers(1)
    return form.cut(1).having(k=count[0]) if count else None


def _largest_sorted(form: Form) -> Form | None:
    if not form.integer("largest", 1) or not form.integer("sorted", 1):
        return None
    return form.without("largest", "sorted")


def _dropout_up(form: Form) -> Form | None:
    """Before 12 the operator is for inference: the ratio has no effect.  What its mask then
    holds was left open."""
    return form.without("ratio") if form.outputs == 1 else None


def _dropout_down(form: Form) -> Form | None:
    training = (0,) if not form.has(2) else form.content(2)
    if training is None or any(training) or form.outputs > 1:
        return None
    return form.cut(1).without("seed")


def _one_output(form: Form) -> Form | None:
    return form if form.outputs == 1 else None


def _dft_up(form: Form) -> Form | None:
    axis = np.array(form.integer("axis", 1), dtype=np.int64)
    return form.without("axis").plus_constant(2, axis)


def _dft_down(form: Form) -> Form | None:
    axis = form.integers(2) if form.has(2) else (-2,)
    rank = form.rank()
    if axis is None or rank is None:
        return None
    return form.cut(2).having(axis=axis[0] % max(rank, 1))


# --- Upsample -------------------------------------------------------------------------------


def _scales_up(form: Form) -> Form | None:
    scales = form.attributes.get("scales")
    if not isinstance(scales, tuple):
        return None
    return form.without("scales").plus_constant(1, np.array(scales, dtype=np.float32))


def _scales_down(form: Form) -> Form | None:
    scales = form.content(1)
    return None if scales is None else form.cut(1).having(scales=tuple(map(float, scales)))


def _axes_row(operator: str, since: int) -> Row:
    return Row(operator, since, "axes becomes an input", _list_up("axes"), _list_down("axes"))


def _reduction_row(operator: str, since: int) -> Row:
    return Row(operator, since, "axes becomes an input", _list_up("axes"), _reduction_down)


_REDUCTIONS_AT_18 = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSumSquare",
)  # fmt: skip


def _same(form: Form) -> Form | None:
    return form


ROWS: tuple[Row, ...] = (
    Row("Clip", 11, "min and max become inputs", _clip_up, _clip_down),
    Row("DFT", 20, "axis becomes an input", _dft_up, _dft_down),
    Row("Dropout", 10, "the mask is boolean", _one_output, _one_output),
    Row("Dropout", 12, "ratio becomes an input; a training mode", _dropout_up, _dropout_down),
    Row("Pad", 11, "pads and value become inputs", _pad_up, _pad_down),
    Row("Pad", 18, "axes", _same, _pad_axes_down),
    Row("Pad", 19, "mode wrap", _same, _no_wrap),
    _reduction_row("ReduceSum", 13),
    *(_reduction_row(name, 18) for name in _REDUCTIONS_AT_18),
    Row("Slice", 10, "starts, ends and axes become inputs; steps", _slice_up, _slice_down),
    Row("Split", 13, "split becomes an input", _split_up, _list_down("split")),
    Row("Split", 18, "num_outputs, uneven parts", _equal_parts_up, _equal_parts_down),
    _axes_row("Squeeze", 13),
    Row("TopK", 10, "k becomes an input", _top_k_up, _top_k_down),
    Row("TopK", 11, "largest and sorted", _same, _largest_sorted),
    _axes_row("Unsqueeze", 13),
    Row("Upsample", 9, "scales becomes an input", _scales_up, _scales_down),
)
