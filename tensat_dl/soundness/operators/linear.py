"""Products of matrices, convolutions and reductions: sums of products of elements."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from tensat_dl.soundness.arithmetic import Arithmetic, Array, Native, Undefined, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator
from tensat_dl.soundness.operators.patches import Window, patches


def _matmul(call: Call) -> list[Array]:
    left, right = call.input(0), call.input(1)
    first = left[None, :] if left.ndim == 1 else left
    second = right[:, None] if right.ndim == 1 else right
    product = call.arithmetic.matmul(first, second)
    product = product[..., 0] if right.ndim == 1 else product
    if left.ndim == 1:
        product = product[..., 0] if right.ndim == 1 else product[..., 0, :]
    return [product]


def _gemm(call: Call) -> list[Array]:
    arithmetic = call.arithmetic
    left = call.input(0).T if call.integer("transA") else call.input(0)
    right = call.input(1).T if call.integer("transB") else call.input(1)
    total = _scaled(arithmetic, arithmetic.matmul(left, right), call.number("alpha", 1.0))
    if call.has(2):
        summand = _scaled(arithmetic, call.input(2), call.number("beta", 1.0))
        total = arithmetic.add(total, summand)
    return [total]


def _scaled(arithmetic: Arithmetic, array: Array, factor: float) -> Array:
    if isinstance(arithmetic, Native) and not (arithmetic.is_float or factor.is_integer()):
        raise Undefined("a fraction of an integer")
    return array if factor == 1.0 else arithmetic.mul(array, arithmetic.constant(factor))


def _conv(call: Call) -> list[Array]:
    x, w = call.input(0), call.input(1)
    window = Window.of(call, w.shape[2:])
    places = patches(x, window, call.result_dims()[2:], 0)
    group = call.integer("group", 1)
    arithmetic = call.arithmetic
    outputs = []
    for index in range(group):
        inputs = _part(places, group, index, 1)
        weights = _part(w, group, index, 0)
        outputs.append(_convolved(arithmetic, inputs, weights))
    y = np.concatenate(outputs, axis=1)
    if call.has(2):
        y = arithmetic.add(y, call.input(2).reshape(-1, *[1] * (x.ndim - 2)))
    return [y]


def _part(array: Array, parts: int, index: int, axis: int) -> Array:
    size = array.shape[axis] // parts
    return array.take(range(index * size, (index + 1) * size), axis=axis)


def _convolved(arithmetic: Arithmetic, places: Array, weights: Array) -> Array:
    """`places`: N, C, *K, *O; `weights`: M, C, *K; the answer is N, M, *O."""
    spatial = weights.ndim - 2
    kernel = weights.shape[1:]
    outputs = places.shape[2 + spatial :]
    length = int(np.prod(kernel))
    rows = places.reshape(places.shape[0], length, int(np.prod(outputs)))
    flat = weights.reshape(weights.shape[0], length)
    product = arithmetic.matmul(flat[None], rows)
    return product.reshape(places.shape[0], weights.shape[0], *outputs)


def _conv_transpose(call: Call) -> list[Array]:
    """Every element of the input adds its multiple of the weights to the output."""
    x, w, arithmetic = call.input(0), call.input(1), call.arithmetic
    dims = call.result_dims()
    window = _transposed_window(call, w.shape[2:], x.shape[2:], dims[2:])
    group = call.integer("group", 1)
    halves = len(window.kernel)
    padded = [
        size + window.pads[i] + max(window.pads[halves + i], 0) for i, size in enumerate(dims[2:])
    ]
    reach = [
        (n - 1) * s + (k - 1) * d + 1
        for n, s, k, d in zip(
            x.shape[2:], window.strides, window.kernel, window.dilations, strict=True
        )
    ]
    full = [max(a, b) for a, b in zip(padded, reach, strict=True)]
    total = np.zeros((dims[0], dims[1], *full), dtype=x.dtype)
    channels = w.shape[1]
    for index in range(group):
        part = total[:, index * channels : (index + 1) * channels]
        _spread(arithmetic, _part(x, group, index, 1), _part(w, group, index, 0), window, part)
    start = window.pads[:halves]
    crop = tuple(slice(a, a + size) for a, size in zip(start, dims[2:], strict=True))
    y = total[(slice(None), slice(None), *crop)]
    if call.has(2):
        y = arithmetic.add(y, call.input(2).reshape(-1, *[1] * halves))
    return [y]


def _spread(
    arithmetic: Arithmetic, inputs: Array, weights: Array, window: Window, total: Array
) -> None:
    """Add to `total` what each input element makes of the weights, where they reach."""
    sizes = inputs.shape[2:]
    rows = inputs.reshape(*inputs.shape[:2], int(np.prod(sizes)))
    for offset in np.ndindex(*window.kernel):
        factor = weights[(slice(None), slice(None), *offset)].T
        term = arithmetic.matmul(factor[None], rows)
        where = tuple(
            slice(o * d, o * d + (n - 1) * s + 1 if n else o * d, s)
            for o, d, n, s in zip(offset, window.dilations, sizes, window.strides, strict=True)
        )
        region = (slice(None), slice(None), *where)
        spread = term.reshape(inputs.shape[0], weights.shape[1], *sizes)
        total[region] = arithmetic.add(total[region], spread)


def _transposed_window(
    call: Call, kernel: tuple[int, ...], sizes: tuple[int, ...], outputs: tuple[int, ...]
) -> Window:
    """Where the size of the output is given, or follows from the strides alone, what is cropped
    follows from it, as ONNX says: half at either end, the odd one where `auto_pad` says."""
    mode = call.text("auto_pad", "NOTSET")
    if mode in ("NOTSET", "VALID") and call.attribute("output_shape") is None:
        return Window.of(call, kernel)
    count = len(kernel)
    strides, dilations = call.ints("strides", (1,) * count), call.ints("dilations", (1,) * count)
    extra = call.ints("output_padding", (0,) * count)
    totals = [
        s * (n - 1) + e + (k - 1) * d + 1 - o
        for s, n, e, k, d, o in zip(strides, sizes, extra, kernel, dilations, outputs, strict=True)
    ]
    if min(totals, default=0) < 0:
        raise Undefined("an output larger than the input reaches")
    halves = [total // 2 for total in totals]
    others = [total - half for total, half in zip(totals, halves, strict=True)]
    begins, ends = (halves, others) if mode == "SAME_UPPER" else (others, halves)
    return Window(kernel, strides, dilations, (*begins, *ends))


# --- reductions -----------------------------------------------------------------------------


def reduced_axes(call: Call) -> tuple[int, ...]:
    """The axes that a reduction takes, counted from the front."""
    rank = call.input(0).ndim
    axes = [int(axis) % max(rank, 1) for axis in call.input(1).reshape(-1)] if call.has(1) else []
    if axes or not rank:
        return tuple(axes)
    return () if call.integer("noop_with_empty_axes") else tuple(range(rank))


def _keeps(call: Call, array: Array, axes: tuple[int, ...]) -> Array:
    return array if call.integer("keepdims", 1) else array.squeeze(axis=axes)


def _reduce_sum(call: Call) -> list[Array]:
    axes = reduced_axes(call)
    return [_keeps(call, call.arithmetic.sum(call.input(0), axes), axes)]


def _reduce_mean(call: Call) -> list[Array]:
    axes = reduced_axes(call)
    return [_keeps(call, mean(call.arithmetic, call.input(0), axes), axes)]


def mean(arithmetic: Arithmetic, array: Array, axes: tuple[int, ...]) -> Array:
    """Averages along axes, which are kept."""
    count = int(np.prod([array.shape[axis] for axis in axes], dtype=np.int64))
    if count == 0:
        raise Undefined("an average of nothing")
    total = arithmetic.sum(array, axes)
    return total if count == 1 else arithmetic.div(total, arithmetic.constant(float(count)))


def _reduce_sum_square(call: Call) -> list[Array]:
    axes, x = reduced_axes(call), call.input(0)
    return [_keeps(call, call.arithmetic.sum(call.arithmetic.mul(x, x), axes), axes)]


def _reduce_l2(call: Call) -> list[Array]:
    [total] = _reduce_sum_square(call)
    return [call.arithmetic.function("Sqrt", np.sqrt, total)]


def _reduce_prod(call: Call) -> list[Array]:
    axes, x = reduced_axes(call), call.input(0)
    for axis in axes:
        parts = [x.take([i], axis=axis) for i in range(x.shape[axis])]
        if not parts:
            raise Unsupported("a product of nothing")
        x = reduce(call.arithmetic.mul, parts)
    return [_keeps(call, x, axes)]


def _extreme(apply: np.ufunc) -> Evaluator:
    def evaluate(call: Call) -> list[Array]:
        axes, x = reduced_axes(call), call.input(0)
        if call.scheme.is_symbolic and call.dtype(0).is_float:
            raise Unsupported("residues are not compared")
        if x.size == 0:
            raise Undefined("an extreme of nothing")
        return [_keeps(call, np.asarray(apply.reduce(x, axis=axes, keepdims=True)), axes)]

    return evaluate


EVALUATORS: Mapping[str, Evaluator] = {
    "MatMul": _matmul,
    "Gemm": _gemm,
    "Conv": _conv,
    "ConvTranspose": _conv_transpose,
    "ReduceSum": _reduce_sum,
    "ReduceMean": _reduce_mean,
    "ReduceSumSquare": _reduce_sum_square,
    "ReduceL2": _reduce_l2,
    "ReduceProd": _reduce_prod,
    "ReduceMax": _extreme(np.maximum),
    "ReduceMin": _extreme(np.minimum),
}
