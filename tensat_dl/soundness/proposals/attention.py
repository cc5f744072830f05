"""Inputs of attention and rotary embedding."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.soundness.proposals.application import Application, Misfit, Proposal
from tensat_dl.vocabulary.dtypes import DType


@dataclass(frozen=True)
class _Heads:
    """Of the queries, and of keys and values; the elements of one of these, and their number."""

    queries: int
    keys: int
    size: int
    places: int


def _attention(a: Application) -> None:
    ranks = {len(sizes) for index in range(3) if (sizes := a.sizes(index)) is not None}
    rank = ranks.pop() if ranks else a.pick("rank", (4, 4, 3))
    if ranks or rank not in (3, 4):
        raise Misfit
    heads = _settle_images(a) if rank == 4 else _settle_rows(a)
    batch, value = a.dim(0, 0), a.dim(2, -1) // (1 if rank == 4 else heads.keys)
    a.choose("is_causal", 0, 0, 1)
    a.choose("scale", 0.5, 0.25)
    a.choose("softcap", 0.0, 0.5)
    a.choose("qk_matmul_output_mode", 0, 1, 2, 3)
    past = a.draw.size() if a.has(4) else 0
    scores = (batch, heads.queries, a.dim(0, 2 if rank == 4 else 1), heads.places + past)
    _settle_mask(a, scores)
    a.settle(4, [batch, heads.keys, past, heads.size])
    a.settle(5, [batch, heads.keys, past, value])


def _settle_images(a: Application) -> _Heads:
    """`[batch, heads, places, size]`."""
    batch = _known(a, (0, 1, 2), 0)
    keys = _known(a, (1, 2, 0), 1)
    size, places = _known(a, (0, 1), 3), _known(a, (1, 2), 2)
    a.settle(0, [batch, keys * a.pick("groups", (1, 1, 2)), None, size])
    a.settle(1, [batch, keys, places, size])
    a.settle(2, [batch, keys, places, None])
    return _Heads(a.dim(0, 1), keys, size, places)


def _settle_rows(a: Application) -> _Heads:
    """`[batch, places, heads * size]`."""
    queries = a.integer("q_num_heads", 1, 2, 4)
    keys = a.integer("kv_num_heads", *{1, queries})
    if queries < 1 or keys < 1:
        raise Misfit
    batch, places = _known(a, (0, 1, 2), 0), _known(a, (1, 2), 1)
    a.settle(0, [batch, None, queries * _some(a)])
    size = a.dim(0, 2) // queries
    a.settle(1, [batch, places, size * keys])
    a.settle(2, [batch, places, keys * _some(a)])
    return _Heads(queries, keys, size, places)


def _known(a: Application, where: Sequence[int], axis: int) -> int:
    """What the first of some inputs has there for certain, else a size."""
    found = (sizes[axis] for index in where if (sizes := a.sizes(index)) is not None)
    return next((size for size in found if size is not None), _some(a))


def _some(a: Application) -> int:
    return max(a.draw.size(), 1)


def _settle_mask(a: Application, scores: tuple[int, int, int, int]) -> None:
    """As large as the scores, or the same for all heads."""
    rank = a.rank(3)
    if rank is None:
        rank = a.pick("rank", (2, 3, 4), 3)
    if not 1 <= rank <= 4:
        raise Misfit
    whole = scores[4 - rank :]
    shared = (*[1] * (rank - 2), *whole[-2:])
    queries = a.inputs[0]
    own = None if queries is None else queries.dtype
    dtype = a.pick("mask type", (DType.BOOL, own), 3)
    a.settle(3, a.pick("mask", (whole, shared), 3), dtype=dtype)


def _rotary_embedding(a: Application) -> None:
    x = a.sizes(0) or [None] * a.pick("rank", (4, 4, 3))
    if len(x) not in (3, 4):
        raise Misfit
    heads = max(a.integer("num_heads", 1, 2), 1) if len(x) == 3 else 1
    a.settle(0, [*x[:-1], x[-1] or 2 * _some(a) * heads])
    a.choose("interleaved", 0, 1)
    turned = a.integer("rotary_embedding_dim", 0, 2) or a.dim(0, -1) // heads
    batch, places = a.dim(0, 0), a.dim(0, 1 if len(x) == 3 else 2)
    front = [_some(a)] if a.has(3) else [batch, places]
    a.settle(1, [*front, turned // 2])
    a.settle(2, a.dims(1))
    a.settle(3, [batch, places], dtype=DType.I64, span=(0, a.dim(1, 0)))


PROPOSALS: Mapping[str, Proposal] = {
    "Attention": _attention,
    "RotaryEmbedding": _rotary_embedding,
}
