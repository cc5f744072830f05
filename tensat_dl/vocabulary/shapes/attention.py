"""Attention and rotary embedding: dims that must agree, which ONNX does not check."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.question import (
    KnownShape,
    Question,
    Refusal,
    Shape,
    require_broadcasts_to,
    require_equal,
    show,
)

#: Batch, heads, places, elements of one head, None where they are not known.
_Split = tuple[Dim, Dim, Dim, Dim | None]


def _attention(question: Question) -> list[Shape]:
    q, k, v = question.dims(0), question.dims(1), question.dims(2)
    if q is None or k is None or v is None:
        return []
    if {len(q), len(k), len(v)} not in ({3}, {4}):
        given = ", ".join(map(show, (q, k, v)))
        raise Refusal(f"`Q`, `K` and `V` must have 3 dims each, or 4: {given}")
    queries = _split(question, 0, "q_num_heads", q)
    keys = _split(question, 1, "kv_num_heads", k)
    values = _split(question, 2, "kv_num_heads", v)
    _check(queries, keys, values)
    _check_mask(question, queries, keys)
    batch, heads, length, _ = queries
    total, size = _total(question, keys), values[3]
    width = None if size is None else heads * size
    y = [batch, heads, length, size] if len(q) == 4 else [batch, length, width]
    cached = ([batch, keys[1], total, own] for own in (keys[3], size))
    return [y, *cached, [batch, heads, length, total]]


def _total(question: Question, keys: _Split) -> Dim | None:
    """The places of keys with those that were there before."""
    if not question.has(4):
        return keys[2]
    past = question.dims(4)
    return past[2] + keys[2] if past is not None and len(past) == 4 else None


def _split(question: Question, index: int, attribute: str, shape: KnownShape) -> _Split:
    """The heads of `[batch, heads, places, size]`, or of `[batch, places, heads * size]`."""
    if len(shape) == 4:
        return shape[0], shape[1], shape[2], shape[3]
    heads, width = question.integer(attribute, 0), shape[2]
    if heads < 1:
        raise Refusal(
            f"`{question.op.name}` needs the attribute `{attribute}` where inputs have 3 dims"
        )
    if not isinstance(width, int):
        return shape[0], heads, shape[1], None
    if width % heads:
        raise Refusal(
            f"{width} elements of `{question.name(index)}` do not divide into {heads} heads"
        )
    return shape[0], heads, shape[1], width // heads


def _check(queries: _Split, keys: _Split, values: _Split) -> None:
    for other, name in ((keys, "K"), (values, "V")):
        require_equal(queries[0], other[0], f"the batches of `Q` and `{name}`")
    require_equal(keys[2], values[2], "the places of `K` and `V`")
    pairs = (
        (keys[1], values[1], "heads of `K` and `V`"),
        (queries[3], keys[3], "heads of `Q` and `K`"),
    )
    for left, right, what in pairs:
        if left is not None and right is not None:
            require_equal(left, right, f"the {what}")
    _check_groups(queries[1], keys[1])


def _check_groups(queries: Dim, keys: Dim) -> None:
    if not isinstance(queries, int) or not isinstance(keys, int):
        return
    if keys < 1 or queries % keys:
        raise Refusal(f"{queries} heads of `Q` do not divide among {keys} of `K`")


def _check_mask(question: Question, queries: _Split, keys: _Split) -> None:
    """A mask may have fewer keys, but no more."""
    mask, total = question.dims(3), _total(question, keys)
    if question.has(4) != question.has(5):
        raise Refusal("`past_key` and `past_value` must be given together")
    if mask is None:
        return
    if not mask:
        raise Refusal("`attn_mask` must have a dim at least")
    require_broadcasts_to(mask[:-1], queries[:3], "`attn_mask`")
    if isinstance(total, int) and isinstance(mask[-1], int) and mask[-1] > total:
        raise Refusal(f"`attn_mask` has {mask[-1]} keys, but there are {total}")


def _rotary_embedding(question: Question) -> list[Shape]:
    """The caches are `[places, half]` with positions, else `[batch, places, half]`."""
    x = question.dims(0)
    rank = 2 if question.has(3) else 3
    for index in (1, 2):
        cache = question.dims(index)
        if cache is not None and len(cache) != rank:
            raise Refusal(f"`{question.name(index)}` must have {rank} dims, not {show(cache)}")
    cos, sin = question.dims(1), question.dims(2)
    if cos is not None and sin is not None:
        for left, right in zip(cos, sin, strict=True):
            require_equal(left, right, "the dims of `cos_cache` and `sin_cache`")
    turned = question.integer("rotary_embedding_dim", 0) or (x[3] if x and len(x) == 4 else None)
    if cos is not None and turned is not None:
        require_equal(2 * cos[-1], turned, "twice the last dim of `cos_cache` and what is turned")
    return [x]


SHAPES: Mapping[str, Callable[[Question], list[Shape]]] = {
    "Attention": _attention,
    "RotaryEmbedding": _rotary_embedding,
}
