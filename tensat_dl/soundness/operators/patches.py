"""Windows that slide over the spatial axes of a tensor, as convolutions and poolings see them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Undefined
from tensat_dl.soundness.operators.call import Call


@dataclass(frozen=True)
class Window:
    """Per spatial axis: size, step, spacing; `pads` are all begins, then all ends."""

    kernel: tuple[int, ...]
    strides: tuple[int, ...]
    dilations: tuple[int, ...]
    pads: tuple[int, ...]

    @staticmethod
    def of(call: Call, kernel: tuple[int, ...]) -> Window:
        """The window of an application whose pads are known.  Raises Undefined for others: with a
        count that is rounded up, evaluators do not agree on them."""
        if call.text("auto_pad", "NOTSET").startswith("SAME"):
            raise Undefined("pads that follow from the size of the output")
        count = len(kernel)
        return Window(
            tuple(kernel),
            call.ints("strides", (1,) * count),
            call.ints("dilations", (1,) * count),
            call.ints("pads", (0,) * (2 * count)),
        )

    def index(self, outputs: tuple[int, ...]) -> list[Array]:
        """For each spatial axis, kernel place by output place, the place in the input; negative
        or too large where it is padding."""
        return [
            np.arange(k)[:, None] * d + np.arange(o)[None, :] * s - begin
            for k, d, s, o, begin in zip(
                self.kernel, self.dilations, self.strides, outputs, self.pads, strict=False
            )
        ]


def patches(x: Array, window: Window, outputs: tuple[int, ...], fill: object) -> Array:
    """N, C, *kernel, *outputs: what each output place sees, `fill` where that is padding."""
    spatial = len(window.kernel)
    found = x
    for axis, places in enumerate(window.index(outputs)):
        size = x.shape[2 + axis]
        inside = (places >= 0) & (places < size)
        position = 2 + 2 * axis
        if size == 0:
            shape = (*found.shape[:position], *places.shape, *found.shape[position + 1 :])
            found = np.full(shape, fill, dtype=x.dtype)
            continue
        found = np.take(found, np.where(inside, places, 0), axis=position)
        mask = inside.reshape(inside.shape + (1,) * (found.ndim - position - 2))
        found = np.where(mask, found, np.asarray(fill, dtype=x.dtype))
    kernel_axes = [2 + 2 * i for i in range(spatial)]
    output_axes = [3 + 2 * i for i in range(spatial)]
    return found.transpose(0, 1, *kernel_axes, *output_axes)


def coverage(
    window: Window, sizes: tuple[int, ...], outputs: tuple[int, ...], padding: bool
) -> Array:
    """How many places each output averages: those of the input, with `padding` also padded ones;
    never those past the padding, which a window reaches when its count is rounded up."""
    counts: Array = np.ones((), dtype=np.int64)
    halves = len(window.kernel)
    for axis, places in enumerate(window.index(outputs)):
        low = -window.pads[axis] if padding else 0
        high = sizes[axis] + (window.pads[halves + axis] if padding else 0)
        along = ((places >= low) & (places < high)).sum(axis=0)
        counts = counts[..., None] * along
    return counts
