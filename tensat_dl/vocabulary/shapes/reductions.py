"""Reductions: which dims go, which become 1."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary.question import Question, Shape, axes_in, axis_in

_REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip


def _reduction(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return []
    kept = bool(question.integer("keepdims", 1))
    axes = question.int_values(1)
    if question.has(1) and axes is None:
        return [[None] * len(data) if kept else None]
    if not axes and question.integer("noop_with_empty_axes"):
        return [data]
    reduced = set(axes_in(axes, len(data)) if axes else range(len(data)))
    if kept:
        return [[1 if axis in reduced else size for axis, size in enumerate(data)]]
    return [[size for axis, size in enumerate(data) if axis not in reduced]]


def _arg(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return []
    axis = axis_in(question.integer("axis"), len(data))
    kept = (1,) if question.integer("keepdims", 1) else ()
    return [(*data[:axis], *kept, *data[axis + 1 :])]


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    **dict.fromkeys(_REDUCTIONS, _reduction),
    "ArgMax": _arg,
    "ArgMin": _arg,
}
