"""Normalisations and quantisation: the lengths of their parameters, which ONNX does not check."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.question import (
    Question,
    Refusal,
    Shape,
    axis_in,
    require_broadcasts_to,
    require_equal,
    show,
)


def _per_channel(question: Question, indices: tuple[int, ...]) -> Dim | None:
    """Require parameters of one dim, as long as dim 1 of input 0; that dim."""
    data = question.dims(0)
    channels = data[1] if data is not None and len(data) > 1 else None
    for index in indices:
        shape = question.dims(index)
        if shape is None:
            continue
        if len(shape) != 1:
            raise Refusal(f"`{question.name(index)}` must have 1 dim, not {show(shape)}")
        if channels is not None:
            require_equal(
                shape[0], channels, f"`{question.name(index)}` and the channels of the input"
            )
    return channels


def _batch_normalization(question: Question) -> list[Shape]:
    channels = _per_channel(question, (1, 2, 3, 4))
    return [question.dims(0), [channels], [channels]]


def _instance_normalization(question: Question) -> list[Shape]:
    _per_channel(question, (1, 2))
    return [question.dims(0)]


def _group_normalization(question: Question) -> list[Shape]:
    channels = _per_channel(question, (1, 2))
    groups = question.integer("num_groups", 1)
    if groups < 1 or (isinstance(channels, int) and channels % groups):
        raise Refusal(f"{channels} channels do not divide into {groups} groups")
    return [question.dims(0)]


def _layer_normalization(question: Question) -> list[Shape]:
    data = question.dims(0)
    if data is None:
        return []
    axis = axis_in(question.integer("axis", -1), len(data))
    for index in (1, 2):
        shape = question.dims(index)
        if shape is not None:
            require_broadcasts_to(shape, data, f"`{question.name(index)}`")
    statistics = (*data[:axis], *[1] * (len(data) - axis))
    return [data, statistics, statistics]


def _rms_normalization(question: Question) -> list[Shape]:
    data, scale = question.dims(0), question.dims(1)
    if data is None:
        return []
    axis_in(question.integer("axis", -1), len(data))
    if scale is not None:
        require_broadcasts_to(scale, data, "`scale`")
    return [data]


def _quantize(question: Question) -> list[Shape]:
    data, scale = question.dims(0), question.dims(1)
    if data is None or scale is None or question.integer("block_size"):
        return []
    if len(scale) == 1 and len(data) > 0 and scale[0] != 1:
        axis = axis_in(question.integer("axis", 1), len(data))
        require_equal(scale[0], data[axis], "the scale and the quantised axis")
    return [data]


def _same(question: Question) -> list[Shape]:
    return [question.dims(0)]


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    "BatchNormalization": _batch_normalization,
    "DequantizeLinear": _quantize,
    "GroupNormalization": _group_normalization,
    "InstanceNormalization": _instance_normalization,
    "LayerNormalization": _layer_normalization,
    "MeanVarianceNormalization": _same,
    "QuantizeLinear": _quantize,
    "RMSNormalization": _rms_normalization,
}
