"""Contents of the tensors that a left side leaves open.

Enters: an instance, a style, a random generator.  Leaves: arrays as the scheme stores them.  A
tensor whose type says its value has that value; indices stay in range; members of a group share
what is in the key.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from tensat_dl.soundness.arithmetic import PRIME, Array, Scheme
from tensat_dl.soundness.evaluator import Contents, encoded
from tensat_dl.soundness.instances import Instance
from tensat_dl.soundness.rows import Row, open_names
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import AbsentType, TensorType, Type


class Style(Enum):
    """How elements are drawn: residues, multiples of 1/4 (also positive ones only), from the
    normal distribution, NaN and infinities among others, whole numbers of few digits.  Integers are
    of one digit, but for `SPECIAL` and `EXTREME`: any, and often one at an end of their range."""

    RESIDUES = "residues"
    QUARTERS = "multiples of 1/4"
    POSITIVE = "positive multiples of 1/4"
    NORMAL = "normal"
    SPECIAL = "NaN, infinities, zeros of both signs"
    SMALL = "small whole numbers"
    EXTREME = "the least and the largest integers"


_SPECIAL = np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.5, 3.0, 1e-30, -7.0, 0.1])


def draw_contents(
    instance: Instance, style: Style, scheme: Scheme, rng: np.random.Generator
) -> tuple[Contents, ...]:
    """One mapping for each row."""
    each = instance.plan.rule.each
    shared = frozenset(each.key) if each is not None else frozenset()
    found: list[Contents] = []
    for row in instance.rows:
        known = {name: found[0][name] for name in shared if found and name in found[0]}
        found.append(_draw_row(instance, row, known, style, scheme, rng))
    return tuple(found)


def _draw_row(
    instance: Instance,
    row: Row,
    known: Mapping[str, object],
    style: Style,
    scheme: Scheme,
    rng: np.random.Generator,
) -> Contents:
    tensors, lists = open_names(instance.plan)
    contents: dict[str, Array | tuple[Array, ...] | None] = {}
    for name in tensors:
        type_ = row.scope.tensors[name].type
        contents[name] = draw_tensor(type_, row.spans.get(name), style, scheme, rng)
    for name in lists:
        types: Sequence[Type] = [a.type for a in row.scope.lists[name]]
        drawn = [draw_tensor(t, row.spans.get(name), style, scheme, rng) for t in types]
        contents[name] = tuple(array for array in drawn if array is not None)
    return {**contents, **known}  # type: ignore[dict-item]


def draw_tensor(
    type_: Type,
    span: tuple[int, int] | None,
    style: Style,
    scheme: Scheme,
    rng: np.random.Generator,
) -> Array | None:
    """The contents of one tensor; None for an absent one."""
    if isinstance(type_, AbsentType):
        return None
    assert isinstance(type_, TensorType)
    dims = tuple(dim for dim in type_.dims or () if isinstance(dim, int))
    if type_.value is not None:
        return encoded(np.array(type_.value).reshape(dims), type_, scheme)
    if type_.dtype.is_float:
        return np.asarray(_floats(dims, style, rng)).astype(scheme.storage(type_.dtype))
    return _whole(type_.dtype, dims, span, style, scheme, rng)


def _floats(dims: tuple[int, ...], style: Style, rng: np.random.Generator) -> Array:
    match style:
        case Style.RESIDUES:
            return rng.integers(0, PRIME, dims)
        case Style.QUARTERS | Style.EXTREME:
            return rng.integers(-8, 9, dims) / 4
        case Style.POSITIVE:
            return rng.integers(1, 9, dims) / 4
        case Style.SPECIAL:
            special = rng.choice(_SPECIAL, dims)
            return np.where(rng.random(dims) < 0.4, special, rng.standard_normal(dims))
        case Style.SMALL:
            return rng.integers(-2, 3, dims).astype(np.float64)
    return rng.standard_normal(dims)


def _whole(
    dtype: DType,
    dims: tuple[int, ...],
    span: tuple[int, int] | None,
    style: Style,
    scheme: Scheme,
    rng: np.random.Generator,
) -> Array:
    storage = scheme.storage(dtype)
    if dtype is DType.STRING:  # numerals, so that a Cast reads them
        return rng.integers(0, 7, dims).astype(str).astype(storage)
    if dtype is DType.BOOL:
        return rng.integers(0, 2, dims).astype(np.bool_)
    if span is not None:
        low, high = span
        return rng.integers(low, max(high, low + 1), dims).astype(storage)
    if style in (Style.SPECIAL, Style.EXTREME) and dtype.bits >= 8:
        return _any_integers(storage, dims, rng)
    low = 0 if not dtype.is_signed else -5
    return rng.integers(low, 7, dims).astype(storage)


def _any_integers(storage: np.dtype[Any], dims: tuple[int, ...], rng: np.random.Generator) -> Array:
    """Of the whole range, most of them at an end of it, the lower one foremost, or beside 0."""
    low, high = np.iinfo(storage).min, np.iinfo(storage).max
    marked = np.array([*[low] * 4, low + 1, high - 1, high, 0, 1, max(low, -1)], dtype=storage)
    drawn = rng.integers(low, high, dims, dtype=storage, endpoint=True)
    return np.where(rng.random(dims) < 0.6, rng.choice(marked, dims), drawn)
