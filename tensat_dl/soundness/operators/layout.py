"""Operators that move elements without looking at them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator


def _transpose(call: Call) -> list[Array]:
    rank = call.input(0).ndim
    return [call.input(0).transpose(call.ints("perm", tuple(reversed(range(rank)))))]


def _to_result_dims(call: Call) -> list[Array]:
    """The elements in their order, in the dims that the type of the result says."""
    return [call.input(0).reshape(call.result_dims())]


def _expand(call: Call) -> list[Array]:
    return [np.broadcast_to(call.input(0), call.result_dims())]


def _tile(call: Call) -> list[Array]:
    return [np.tile(call.input(0), tuple(int(n) for n in call.input(1)))]


def _concat(call: Call) -> list[Array]:
    return [np.concatenate(call.given, axis=call.integer("axis"))]


def _pad(call: Call) -> list[Array]:
    x = call.input(0)
    rank = x.ndim
    if rank == 0:
        return [x]
    axes = [int(a) % rank for a in call.input(3)] if call.has(3) else list(range(rank))
    given = [int(n) for n in call.input(1)]
    before, after = [0] * rank, [0] * rank
    for place, axis in enumerate(axes):
        before[axis], after[axis] = given[place], given[place + len(axes)]
    mode = call.text("mode", "constant")
    if mode == "constant" or x.size == 0:
        fill = call.input(2).reshape(()) if call.has(2) else np.zeros((), dtype=x.dtype)
        return [_padded(x, before, after, fill, call.result_dims())]
    inner = _cropped(x, before, after)
    if inner.size == 0:
        raise Unsupported("a pad of that mode around what is cropped to nothing")
    pairs = [(max(low, 0), max(high, 0)) for low, high in zip(before, after, strict=True)]
    return [np.pad(inner, pairs, mode=mode)]  # type: ignore[call-overload]


def _cropped(x: Array, before: list[int], after: list[int]) -> Array:
    """What negative pads leave."""
    cuts = zip(before, after, x.shape, strict=True)
    return x[tuple(slice(max(-low, 0), size - max(-high, 0)) for low, high, size in cuts)]


def _padded(
    x: Array, before: list[int], after: list[int], fill: Array, dims: tuple[int, ...]
) -> Array:
    result = np.full(dims, fill, dtype=x.dtype)
    inner = _cropped(x, before, after)
    where = tuple(
        slice(max(low, 0), max(low, 0) + size)
        for low, size in zip(before, inner.shape, strict=True)
    )
    result[where] = inner
    return result


def _depth_to_space(call: Call) -> list[Array]:
    x, block = call.input(0), call.integer("blocksize", 1)
    n, c, h, w = x.shape
    if call.text("mode", "DCR") == "DCR":
        parts = x.reshape(n, block, block, c // block**2, h, w).transpose(0, 3, 4, 1, 5, 2)
    else:
        parts = x.reshape(n, c // block**2, block, block, h, w).transpose(0, 1, 4, 2, 5, 3)
    return [parts.reshape(n, c // block**2, h * block, w * block)]


def _space_to_depth(call: Call) -> list[Array]:
    x, block = call.input(0), call.integer("blocksize", 1)
    n, c, h, w = x.shape
    parts = x.reshape(n, c, h // block, block, w // block, block).transpose(0, 3, 5, 1, 2, 4)
    return [parts.reshape(n, c * block**2, h // block, w // block)]


def _trilu(call: Call) -> list[Array]:
    offset = int(call.input(1).reshape(())) if call.has(1) else 0
    keep = np.triu if call.integer("upper", 1) else np.tril
    mask = keep(np.ones(call.input(0).shape[-2:], dtype=bool), offset)
    return [np.where(mask, call.input(0), np.zeros((), dtype=call.input(0).dtype))]


EVALUATORS: Mapping[str, Evaluator] = {
    "Transpose": _transpose,
    "Reshape": _to_result_dims,
    "Flatten": _to_result_dims,
    "Squeeze": _to_result_dims,
    "Unsqueeze": _to_result_dims,
    "Expand": _expand,
    "Tile": _tile,
    "Concat": _concat,
    "Pad": _pad,
    "DepthToSpace": _depth_to_space,
    "SpaceToDepth": _space_to_depth,
    "Trilu": _trilu,
}
