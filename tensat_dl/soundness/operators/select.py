"""Operators that pick elements or tell of shapes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Undefined, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator
from tensat_dl.vocabulary.shapes.select import places


def _slice(call: Call) -> list[Array]:
    x = call.input(0)
    starts, ends = (call.input(i).reshape(-1) for i in (1, 2))
    axes = call.input(3).reshape(-1) if call.has(3) else np.arange(len(starts))
    steps = call.input(4).reshape(-1) if call.has(4) else np.ones(len(starts), dtype=np.int64)
    for start, end, axis, step in zip(starts, ends, axes, steps, strict=True):
        place = int(axis) % max(x.ndim, 1)
        taken = places(int(start), int(end), int(step), x.shape[place])
        x = x.take(np.array(taken, dtype=np.int64), axis=place)
    return [x]


def _split(call: Call) -> list[Array]:
    x = call.input(0)
    axis = call.integer("axis") % x.ndim
    sizes = [call.result_dims(i)[axis] for i in range(len(call.results))]
    cuts = np.cumsum([0, *sizes])
    return [x.take(range(a, b), axis=axis) for a, b in pairwise(cuts)]


def _gather(call: Call) -> list[Array]:
    x = call.input(0)
    axis = call.integer("axis") % x.ndim
    return [np.take(x, _wrapped(call.input(1), x.shape[axis]), axis=axis)]


def _wrapped(indices: Array, size: int) -> Array:
    """Negative indices counted from the end; raises IndexError where one is out of range."""
    if np.any((indices < -size) | (indices >= size)):
        raise IndexError(f"an index is out of range for {size} elements")
    return np.where(indices < 0, indices + size, indices)


def _gather_elements(call: Call) -> list[Array]:
    x = call.input(0)
    axis = call.integer("axis") % x.ndim
    return [np.take_along_axis(x, _wrapped(call.input(1), x.shape[axis]), axis=axis)]


def _shape(call: Call) -> list[Array]:
    return [_known(call)]


def _known(call: Call) -> Array:
    """What the type of the result says."""
    found = call.result()
    if found.value is None:
        raise Unsupported("a shape that is not known")
    dtype = call.scheme.storage(found.dtype)
    return np.array(found.value, dtype=dtype).reshape(call.result_dims())


def _eye_like(call: Call) -> list[Array]:
    rows, columns = call.result_dims()
    target = call.result().dtype
    eye = np.eye(rows, columns, call.integer("k"))
    return [eye.astype(call.scheme.storage(target))]


def _range(call: Call) -> list[Array]:
    if call.dtype(0).is_float:
        raise Unsupported("a range of reals")
    start, limit, step = (int(call.input(i).reshape(())) for i in range(3))
    return [np.arange(start, limit, step).astype(call.input(0).dtype)]


def _arg_extreme(find: Callable[..., Array]) -> Evaluator:
    def evaluate(call: Call) -> list[Array]:
        x = call.input(0)
        if (call.scheme.is_symbolic and call.dtype(0).is_float) or call.integer(
            "select_last_index"
        ):
            raise Unsupported("residues are not compared")
        if x.size == 0:
            raise Undefined("a place in nothing")
        axis = call.integer("axis") % x.ndim
        best = find(x, axis=axis)
        best = best if not call.integer("keepdims", 1) else np.expand_dims(best, axis)
        return [best.astype(np.int64)]

    return evaluate


EVALUATORS: Mapping[str, Evaluator] = {
    "Slice": _slice,
    "Split": _split,
    "Gather": _gather,
    "GatherElements": _gather_elements,
    "Shape": _shape,
    "Size": _shape,
    "EyeLike": _eye_like,
    "Range": _range,
    "ArgMax": _arg_extreme(np.argmax),
    "ArgMin": _arg_extreme(np.argmin),
}
