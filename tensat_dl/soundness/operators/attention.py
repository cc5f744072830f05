"""Attention: softmax of scaled products of queries and keys, with which values are weighed."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from tensat_dl.soundness.arithmetic import Arithmetic, Array, Residues, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator


def _attention(call: Call) -> list[Array]:
    """Y, and keys and values with those that were there before."""
    if len(call.results) > 3 or call.attribute("softmax_precision") is not None:
        raise Unsupported("scores, or a precision of their own")
    flat = call.input(0).ndim == 3
    names = ("q_num_heads", "kv_num_heads", "kv_num_heads")
    q, k, v = (
        _split(call.input(index), call.integer(name)) if flat else call.input(index)
        for index, name in enumerate(names)
    )
    if call.has(4) and call.has(5):
        k, v = (np.concatenate(pair, axis=2) for pair in ((call.input(4), k), (call.input(5), v)))
    if 0 in (*q.shape, *k.shape, *v.shape):
        raise Unsupported("an average of nothing")
    wide = (np.repeat(each, q.shape[1] // k.shape[1], axis=1) for each in (k, v))
    y = _weighed(call, q, *wide)
    y = y.swapaxes(1, 2).reshape(call.result_dims()) if flat else y
    return [y, k, v][: len(call.results)]


def _weighed(call: Call, q: Array, k: Array, v: Array) -> Array:
    arithmetic = call.arithmetic
    scale = call.number("scale", 1 / math.sqrt(q.shape[3]))
    scores = arithmetic.matmul(q, k.swapaxes(2, 3))
    scores = arithmetic.mul(scores, arithmetic.constant(scale))
    if cap := call.number("softcap", 0.0):
        bent = arithmetic.div(scores, arithmetic.constant(cap))
        bent = arithmetic.function("Tanh", np.tanh, bent)
        scores = arithmetic.mul(bent, arithmetic.constant(cap))
    return arithmetic.matmul(_shares(arithmetic, *_masked(call, scores)), v)


def _split(x: Array, heads: int) -> Array:
    """`[batch, places, heads * size]` as `[batch, heads, places, size]`."""
    return x.reshape(*x.shape[:2], heads, -1).swapaxes(1, 2)


def _masked(call: Call, scores: Array) -> tuple[Array, Array]:
    """The scores with what is added to them, and which of them count."""
    seen = np.ones(scores.shape[-2:], dtype=bool)
    if call.integer("is_causal"):
        seen = np.tril(seen, call.input(4).shape[2] if call.has(4) else 0)
    if call.has(3):
        mask = call.input(3)
        if mask.shape[-1] != scores.shape[-1]:
            raise Unsupported("a mask of fewer keys")
        if mask.dtype == np.bool_:
            seen = seen & mask
        elif call.dtype(3) is call.dtype(0):
            scores = call.arithmetic.add(scores, mask)
        else:
            raise Unsupported("a mask of another type")
    return scores, seen


def _shares(arithmetic: Arithmetic, scores: Array, seen: Array) -> Array:
    """The softmax of the scores that count; all 0 where none does."""
    if isinstance(arithmetic, Residues):
        if not seen.all():
            raise Unsupported("infinity is no residue")
        powers = arithmetic.function("Exp", np.exp, scores)
        return arithmetic.div(powers, arithmetic.sum(powers, (3,)))
    scores = np.where(seen, scores, -np.inf)
    highest = np.max(scores, axis=3, keepdims=True)
    blind = np.isneginf(highest)
    shifted = arithmetic.sub(scores, np.where(blind, 0, highest).astype(scores.dtype))
    powers = arithmetic.function("Exp", np.exp, shifted)
    total = arithmetic.sum(powers, (3,))
    return arithmetic.div(powers, np.where(blind, 1, total).astype(scores.dtype))


EVALUATORS: Mapping[str, Evaluator] = {"Attention": _attention}
