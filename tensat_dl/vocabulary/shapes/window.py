"""Convolutions and pools: channels, groups, biases, and symbolic spatial dims."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.question import KnownShape, Question, Refusal, Shape, require_equal, show


@dataclass(frozen=True)
class _Window:
    """Attributes of a sliding window, one entry a spatial dim; `pads` None under SAME."""

    kernel: Sequence[Dim]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...] | None
    round_up: bool = False

    def reach(self, axis: int) -> Dim:
        """Elements between the first and the last that the window covers, both included."""
        return (self.kernel[axis] - 1) * self.dilations[axis] + 1


def _window(question: Question, rank: int, kernel: Sequence[Dim]) -> _Window:
    same = question.text("auto_pad", "NOTSET").startswith("SAME")
    pads = None if same else question.ints("pads") or (0,) * (2 * rank)
    window = _Window(
        kernel,
        question.ints("strides") or (1,) * rank,
        question.ints("dilations") or (1,) * rank,
        pads,
        bool(question.integer("ceil_mode")),
    )
    lengths = {"kernel_shape": kernel, "strides": window.strides, "dilations": window.dilations}
    for name, values in lengths.items():
        if len(values) != rank:
            raise Refusal(f"`{name}` {show(values)} must have {rank} entries")
        if any(isinstance(value, int) and value < 1 for value in values):
            raise Refusal(f"`{name}` {show(values)} must be positive")
    if pads is not None and len(pads) != 2 * rank:
        raise Refusal(f"`pads` {show(pads)} must have {2 * rank} entries")
    return window


def _slide(window: _Window, sizes: Sequence[Dim]) -> list[Dim]:
    """Number of positions along each spatial dim."""
    return [_positions(window, axis, size) for axis, size in enumerate(sizes)]


def _positions(window: _Window, axis: int, size: Dim) -> Dim:
    stride = window.strides[axis]
    if window.pads is None:
        return (size + stride - 1) // stride
    rank = len(window.strides)
    begin, end = window.pads[axis], window.pads[axis + rank]
    room = size + begin + end - window.reach(axis)
    if dims.is_positive(-room):
        raise Refusal(f"the kernel is larger than the padded input: {size} + {begin} + {end}")
    if not window.round_up:
        return room // stride + 1
    positions = (room + stride - 1) // stride + 1
    # A window must begin within the input or the padding before it.
    if isinstance(positions, int) and isinstance(size, int):
        return positions - ((positions - 1) * stride >= size + begin)
    return positions if stride == 1 else dims.minimum(positions, (size + begin - 1) // stride + 1)


def _spatial(question: Question) -> KnownShape | None:
    data = question.dims(0)
    if data is not None and len(data) < 3:
        raise Refusal(
            f"`{question.name(0)}` needs batch, channels and spatial dims, not {show(data)}"
        )
    return data


def _convolution(weight: int, bias: int | None) -> Callable[[Question], list[Shape]]:
    def infer(question: Question) -> list[Shape]:
        data, kernel = _spatial(question), question.dims(weight)
        if kernel is None:
            return []
        if data is not None:
            _require_channels(question, data, kernel)
        _require_bias(question, bias, kernel[0])
        if data is None:
            return []
        window = _window(question, len(data) - 2, question.ints("kernel_shape") or kernel[2:])
        return [[data[0], kernel[0], *_slide(window, data[2:])]]

    return infer


def _require_channels(question: Question, data: KnownShape, kernel: KnownShape) -> None:
    groups = _groups(question)
    if len(kernel) != len(data):
        raise Refusal(f"the weight {show(kernel)} must have {len(data)} dims")
    require_equal(
        data[1], kernel[1] * groups, f"channels of the input, and {groups} groups of the weight's"
    )
    if isinstance(kernel[0], int) and kernel[0] % groups:
        raise Refusal(f"{kernel[0]} output channels do not divide into {groups} groups")
    _require_kernel(question, kernel)


def _require_kernel(question: Question, kernel: KnownShape) -> None:
    given = question.ints("kernel_shape")
    for left, right in zip(given or (), kernel[2:], strict=False):
        require_equal(left, right, "`kernel_shape` and the weight")


def _groups(question: Question) -> int:
    groups = question.integer("group", 1)
    if groups < 1:
        raise Refusal(f"`group` is {groups}")
    return groups


def _require_bias(question: Question, index: int | None, channels: Dim) -> None:
    shape = None if index is None else question.dims(index)
    if shape is None:
        return
    if len(shape) != 1:
        raise Refusal(f"the bias must have 1 dim, not {show(shape)}")
    require_equal(shape[0], channels, "the bias and the output channels")


def _transposed(question: Question) -> list[Shape]:
    data, kernel = _spatial(question), question.dims(1)
    if data is None or kernel is None:
        return []
    if len(kernel) != len(data):
        raise Refusal(f"the weight {show(kernel)} must have {len(data)} dims")
    require_equal(data[1], kernel[0], "channels of the input and of the weight")
    groups = _groups(question)
    if isinstance(kernel[0], int) and kernel[0] % groups:
        raise Refusal(f"{kernel[0]} channels do not divide into {groups} groups")
    channels = kernel[1] * groups
    _require_bias(question, 2, channels)
    _require_kernel(question, kernel)
    window = _window(question, len(data) - 2, question.ints("kernel_shape") or kernel[2:])
    return [[data[0], channels, *_spread(question, window, data[2:])]]


def _spread(question: Question, window: _Window, sizes: Sequence[Dim]) -> Sequence[Dim]:
    rank = len(sizes)
    output_shape = question.ints("output_shape")
    if output_shape is not None:
        return output_shape[-rank:]
    if window.pads is None:
        return [size * stride for size, stride in zip(sizes, window.strides, strict=True)]
    extra = question.ints("output_padding") or (0,) * rank
    if len(extra) != rank:
        raise Refusal(f"`output_padding` {show(extra)} must have {rank} entries")
    pads = window.pads
    spread = [
        (size - 1) * window.strides[axis]
        + extra[axis]
        + window.reach(axis)
        - pads[axis]
        - pads[axis + rank]
        for axis, size in enumerate(sizes)
    ]
    if any(isinstance(dim, int) and dim < 0 for dim in spread):
        raise Refusal(f"the pads crop more than there is: {show(spread)}")
    return spread


def _pool(question: Question) -> list[Shape]:
    data, kernel = _spatial(question), question.ints("kernel_shape")
    if data is None or kernel is None:
        return []
    shape = [*data[:2], *_slide(_window(question, len(data) - 2, kernel), data[2:])]
    return [shape, shape]


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    "AveragePool": _pool,
    "Conv": _convolution(1, 2),
    "ConvInteger": _convolution(1, None),
    "ConvTranspose": _transposed,
    "DeformConv": _convolution(1, 3),
    "LpPool": _pool,
    "MaxPool": _pool,
    "QLinearConv": _convolution(3, 8),
}
