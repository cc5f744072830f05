"""Elementwise operators: broadcasting, symbols included."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.question import (
    Question,
    Refusal,
    Shape,
    broadcast_shapes,
    product,
    require_broadcasts_to,
    show,
)

_BROADCASTING = (
    "Add", "And", "BitShift", "BitwiseAnd", "BitwiseOr", "BitwiseXor", "Div", "Equal", "Greater",
    "GreaterOrEqual", "Less", "LessOrEqual", "Max", "Mean", "Min", "Mod", "Mul", "Or", "Pow",
    "Sub", "Sum", "Where", "Xor",
)  # fmt: skip


def _broadcasting(question: Question) -> list[Shape]:
    shapes = [question.dims(index) for index in range(len(question.inputs))]
    known = [shape for shape in shapes if shape is not None]
    joined = broadcast_shapes(known)
    return [joined if len(known) == len(shapes) else None]


def _expand(question: Question) -> list[Shape]:
    data, target = question.dims(0), question.dim_values(1)
    if data is None:
        return []
    if target is not None:
        return [broadcast_shapes([data, target])]
    length = question.dims(1)
    if not length or not isinstance(length[0], int):
        return []
    return [[None] * max(len(data), length[0])]


def _prelu(question: Question) -> list[Shape]:
    data, slope = question.dims(0), question.dims(1)
    if data is not None and slope is not None:
        require_broadcasts_to(slope, data, "the slope")
    return [data]


def _clip(question: Question) -> list[Shape]:
    for index in (1, 2):
        bound = question.dims(index)
        if bound is not None and dims.definitely_different(product(bound), 1):
            raise Refusal(f"`{question.name(index)}` must be a scalar, not {show(bound)}")
    return []


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    **dict.fromkeys(_BROADCASTING, _broadcasting),
    "Clip": _clip,
    "Expand": _expand,
    "PRelu": _prelu,
}
