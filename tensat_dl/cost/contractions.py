"""FLOPs of products: matrix products, convolutions, einsum, attention.

A multiplication and an addition are two operations.  A convolution's formula follows from its
definition: each output element is a dot product over (input channels / groups) * kernel, which
is the weight's size over its number of output channels, whatever the groups, strides, dilations
and pads.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

from tensat_dl.cost.shapes import Shapes, Tensor
from tensat_dl.vocabulary.equations import read_equation


def matmul(shapes: Shapes) -> float:
    """`2 K` for each element of the (broadcast) product, K being the last dim of the left."""
    return 2 * shapes.output(0).numel * _last(shapes.input(0))


def gemm(shapes: Shapes) -> float:
    """`alpha A B + beta C`: the product, scaling where a factor is not 1, adding C."""
    a, c, y = shapes.input(0), shapes.input(2), shapes.output(0)
    depth = a.dims[0 if shapes.number("transA", 0) else 1]
    scale_product = y.numel if shapes.number("alpha", 1.0) != 1.0 else 0
    scale_c = c.numel if shapes.number("beta", 1.0) != 1.0 else 0
    add = y.numel if c.numel else 0
    return 2 * y.numel * depth + scale_product + scale_c + add


def conv(weight: int, bias: int) -> Callable[[Shapes], float]:
    """Convolution whose weight `[M, C / group, *kernel]` and bias are at those inputs."""

    def formula(shapes: Shapes) -> float:
        kernel, y = shapes.input(weight), shapes.output(0)
        per_element = kernel.numel // max(1, kernel.dims[0])
        return 2 * y.numel * per_element + _bias(shapes.input(bias), y)

    return formula


def conv_transpose(shapes: Shapes) -> float:
    """Each *input* element is spread over (M / group) * kernel outputs; weight `[C, M/g, *k]`."""
    x, kernel, y = shapes.input(0), shapes.input(1), shapes.output(0)
    per_element = kernel.numel // max(1, kernel.dims[0])
    return 2 * x.numel * per_element + _bias(shapes.input(2), y)


def einsum(shapes: Shapes) -> float:
    """One product over the whole index space: n operands cost n operations at each point
    (n - 1 multiplications, one addition where an index is summed)."""
    equation = read_equation(shapes.text("equation", ""))
    extents = _extents(equation.terms, shapes.inputs)
    summed = not set(extents) <= set(_indices(equation.result, len(shapes.output(0).dims)))
    operations = len(shapes.inputs) - 1 + summed
    return operations * math.prod(extents.values())


def attention(shapes: Shapes) -> float:
    """`softmax(Q K' * scale + mask) V` (ai.onnx 23), operands `[B, H, S, D]` or `[B, S, H * D]`.

    Both products touch every pair of positions: 2 D each, in all heads.  The scores take one
    operation for the scale, three for a cap, one for a mask, five for the softmax.
    """
    q, k, mask, past = shapes.input(0), shapes.input(1), shapes.input(3), shapes.input(4)
    y = shapes.output(0)
    if len(q.dims) not in (3, 4) or len(k.dims) != len(q.dims):
        return y.numel
    keys = k.dims[-2] + (past.dims[-2] if past.numel else 0)
    heads = q.dims[1] if len(q.dims) == 4 else int(shapes.number("q_num_heads", 1))
    scores = q.dims[0] * heads * q.dims[-2] * keys
    each = 6 + bool(mask.numel) + 3 * bool(shapes.number("softcap", 0.0))
    return 2 * (q.numel + y.numel) * keys + each * scores


def determinant(shapes: Shapes) -> float:
    """LU decomposition: `2/3 n^3` for each matrix."""
    size = _last(shapes.input(0))
    return shapes.output(0).numel * 2 * size**3 / 3


def dft(shapes: Shapes) -> float:
    """Cooley and Tukey's `5 N log2 N` for each transform of N points (the usual FFT count).

    The axis is an input, so N is taken to be the longest dim between batch and complex part.
    """
    points = shapes.output(0).numel // 2
    return 5 * points * math.log2(max(2, *shapes.output(0).dims[1:-1]))


def stft(shapes: Shapes) -> float:
    """One FFT of the window's length for each frame; y is `[batch, frames, bins, 2]`."""
    batch, frames, bins, _ = shapes.output(0).dims
    length = shapes.input(2).numel or 2 * (bins - 1)
    return 5 * batch * frames * length * math.log2(max(2, length))


def _bias(bias: Tensor, y: Tensor) -> int:
    return y.numel if bias.numel else 0


def _last(tensor: Tensor) -> int:
    return tensor.dims[-1] if tensor.dims else 1


def _extents(terms: Sequence[str], operands: tuple[Tensor, ...]) -> dict[str, int]:
    """Index -> size; the dims under an ellipsis are numbered from the right."""
    extents: dict[str, int] = {}
    for term, operand in zip(terms, operands, strict=False):
        for index, size in zip(_indices(term, len(operand.dims)), operand.dims, strict=False):
            extents[index] = max(extents.get(index, 1), size)
    return extents


def _indices(term: str, rank: int) -> list[str]:
    before, ellipsis, after = term.partition("...")
    hidden = max(0, rank - len(before) - len(after)) if ellipsis else 0
    return [*before, *(f"...{hidden - place}" for place in range(hidden)), *after]


FORMULAS: Mapping[str, Callable[[Shapes], float]] = {
    "MatMul": matmul,
    "MatMulInteger": matmul,
    "QLinearMatMul": matmul,
    "Gemm": gemm,
    "Conv": conv(weight=1, bias=2),
    "ConvInteger": conv(weight=1, bias=9),
    "QLinearConv": conv(weight=3, bias=8),
    "DeformConv": conv(weight=1, bias=3),
    "ConvTranspose": conv_transpose,
    "Einsum": einsum,
    "Attention": attention,
    "Det": determinant,
    "DFT": dft,
    "STFT": stft,
}
