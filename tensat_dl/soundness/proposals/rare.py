"""Inputs of operators that few rules mention, and that take only what fits exactly.

Enters: an application.  Leaves: the same, its blanks and free attributes chosen to fit each other.
What a rule has settled before is not looked at: typing may refuse the whole, and it is drawn again.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

from tensat_dl.soundness.proposals.application import Application, Proposal
from tensat_dl.soundness.proposals.layout import known_list


def _affine_grid(a: Application) -> None:
    """One matrix for each image, and the sizes of the grid."""
    spatial = a.draw.random.choice((2, 3))
    batch = a.draw.random.choice((1, 2))
    a.settle(0, [batch, spatial, spatial + 1])
    count, axes = a.dim(0, 0), a.dim(0, 1)
    known_list(a, 1, [count, 1, *(a.draw.extent() for _ in range(axes))])
    a.choose("align_corners", 0, 1)


def _columns_to_image(a: Application) -> None:
    """As many columns as there are places for the block."""
    image = [a.draw.random.randint(2, 4) for _ in range(2)]
    block = [a.draw.random.randint(1, 2) for _ in range(2)]
    places = math.prod(size - width + 1 for size, width in zip(image, block, strict=True))
    a.settle(0, [None, math.prod(block) * max(a.draw.size(), 1), places])
    known_list(a, 1, image)
    known_list(a, 2, block)
    for name in ("strides", "dilations", "pads"):
        a.choose(name, (0,) * 4 if name == "pads" else (1, 1))


def _deformed(a: Application) -> None:
    """A convolution with an offset, and a factor, for each place of the kernel and the output."""
    batch, channels, filters = a.draw.random.choices((1, 2), k=3)
    kernel = [a.draw.random.randint(1, 2) for _ in range(2)]
    extents = [width + a.draw.random.randint(0, 1) for width in kernel]
    outputs = [size - width + 1 for size, width in zip(extents, kernel, strict=True)]
    places = math.prod(kernel)
    a.settle(0, [batch, channels, *extents])
    a.settle(1, [filters, channels, *kernel])
    a.settle(2, [batch, 2 * places, *outputs])
    a.settle(3, [filters])
    a.settle(4, [batch, places, *outputs])
    for name in ("strides", "dilations", "pads"):
        a.choose(name, (0,) * 4 if name == "pads" else (1, 1))
    for name in ("group", "offset_group"):
        a.choose(name, 1)


def _bit_shift(a: Application) -> None:
    a.settle(0)
    a.settle(1, a.dims(0), span=(0, 8))
    a.choose("direction", "LEFT", "RIGHT")


def _regex(a: Application) -> None:
    a.settle(0)
    a.choose("pattern", "[0-3]", "[0-9]+")


PROPOSALS: Mapping[str, Proposal] = {
    "AffineGrid": _affine_grid,
    "BitShift": _bit_shift,
    "Col2Im": _columns_to_image,
    "DeformConv": _deformed,
    "RegexFullMatch": _regex,
}
