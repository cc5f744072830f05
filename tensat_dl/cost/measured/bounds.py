"""What an application takes at least, before it is measured.

A product or convolution has its arithmetic, and every operator that is no view has its output to
write; this machine does neither faster than a few times the fastest it was seen to.  What is
measured decides: a bound that proved too high raises the speed, and so lowers every other bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from tensat_dl.cost.bytes_moved import QUESTIONS, VIEWS
from tensat_dl.cost.flops import flops
from tensat_dl.cost.shapes import Shapes, shapes_of
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Part
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import TensorType

#: Operators whose arithmetic no algorithm of a runtime saves.
_PRODUCTS = frozenset({"MatMul", "Gemm", "Conv"})
#: Bits of the element types that run at the speed of f32 times 32 / bits.
_BITS = {DType.F16: 16, DType.F32: 32, DType.F64: 32}
#: Arithmetic may be so many times as fast as the fastest seen, a large product among it ...
COMPUTE_MARGIN = 1.5
#: ... and writing as the fastest of about that size, one among them that also reads as much.
WRITE_MARGIN = 3.0


@dataclass(frozen=True)
class LeastWork:
    """What must be done whatever the algorithm: `flops` counted as those of f32, `written`
    bytes."""

    flops: float
    written: float

    def followed_by(self, last: LeastWork) -> LeastWork:
        """That of a chain: it writes its end only."""
        return LeastWork(self.flops + last.flops, last.written)


@dataclass
class Speed:
    """The fastest that measurements showed: FLOP/s, and B/s by size of what is written (by its
    magnitude, as caches come in sizes).  Empty where there was none."""

    flops: float = 0.0
    bytes: dict[int, float] = field(default_factory=dict)

    def seconds(self, work: LeastWork) -> float:
        """A lower bound; 0 where none is known."""
        computing = work.flops / (COMPUTE_MARGIN * self.flops) if self.flops else 0.0
        fastest = self._fastest(_magnitude(work.written))
        return max(computing, work.written / (WRITE_MARGIN * fastest) if fastest else 0.0)

    def learn(self, work: LeastWork, seconds: float) -> None:
        """Take a measurement into account."""
        self.flops = max(self.flops, work.flops / seconds)
        magnitude = _magnitude(work.written)
        known = self.bytes.get(magnitude, 0.0)
        self.bytes[magnitude] = max(known, work.written / seconds)

    def _fastest(self, magnitude: int) -> float:
        """Of the nearest sizes on both sides that were seen; 0 unless there are both, or it is
        larger than all."""
        above = [m for m in self.bytes if m >= magnitude]
        below = [m for m in self.bytes if m <= magnitude]
        if not below:
            return 0.0
        return max(self.bytes[m] for m in (max(below), min(above, default=max(below))))


def _magnitude(nbytes: float) -> int:
    """Powers of four."""
    return round(math.log2(nbytes) / 2) if nbytes >= 1 else 0


def least_work(part: Part, sizes: SymbolSizes) -> LeastWork:
    """See :class:`LeastWork`; nothing where types are not known."""
    shapes = shapes_of(part.application.attributes, part.inputs, part.outputs, sizes)
    if not shapes.known:
        return LeastWork(0.0, 0.0)
    return LeastWork(_arithmetic(part, shapes), _written(part, shapes))


def _written(part: Part, shapes: Shapes) -> float:
    operator = part.application.operator
    if operator.domain or operator.kind is not OperatorKind.ONNX:
        return 0.0
    if operator.name in VIEWS | QUESTIONS:
        return 0.0
    return sum(tensor.nbytes for tensor in shapes.outputs)


def _arithmetic(part: Part, shapes: Shapes) -> float:
    operator = part.application.operator
    first = part.inputs[0] if part.inputs else None
    if operator.domain or operator.name not in _PRODUCTS or not isinstance(first, TensorType):
        return 0.0
    if first.dtype not in _BITS:
        return 0.0
    needed = flops(operator, shapes) * _BITS[first.dtype] / 32
    return needed * _share_inside(shapes) if operator.name == "Conv" else needed


def _share_inside(shapes: Shapes) -> float:
    """The share of a convolution's products that do not meet padding, which may be left out."""
    x, kernel, y = shapes.input(0).dims, shapes.input(1).dims, shapes.output(0).dims
    axes = len(x) - 2
    pads, strides = shapes.integers("pads"), shapes.integers("strides")
    dilations = shapes.integers("dilations")
    if not any(pads):
        return 1.0
    if len(pads) != 2 * axes or not len(strides) == len(dilations) == axes:
        return 0.0
    shares = (
        _inside(x[2 + a], y[2 + a], kernel[2 + a], strides[a], dilations[a], pads[a])
        for a in range(axes)
    )
    return math.prod(shares)


def _inside(size: int, outputs: int, taps: int, stride: int, dilation: int, pad: int) -> float:
    starts = range(-pad, outputs * stride - pad, stride)
    places = (start + tap * dilation for start in starts for tap in range(taps))
    inside = sum(0 <= place < size for place in places)
    return inside / max(1, outputs * taps)
