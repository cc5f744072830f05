"""Sets of small numbers as Python integers, and matrices of them as bytes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.problem import FloatArray

Bytes = npt.NDArray[np.uint8]


def set_bits(bits: int) -> Iterator[int]:
    """Positions of the set bits, ascending."""
    while bits:
        low = bits & -bits
        yield low.bit_length() - 1
        bits ^= low


def packed(sets: Sequence[int], count: int) -> Bytes:
    """Bitsets of `count` bits as rows of bytes, low bits first."""
    width = (count + 7) // 8
    joined = b"".join(bits.to_bytes(width, "little") for bits in sets)
    return np.frombuffer(joined, dtype=np.uint8).reshape(len(sets), width)


def weigh(sets: Sequence[int], weights: FloatArray, deadline: Deadline) -> FloatArray:
    """The sum of `weights[i]` over the bits i of each set, by a table for each byte."""
    columns = np.ascontiguousarray(packed(sets, len(weights)).T)
    padded = np.zeros(len(columns) * 8)
    padded[: len(weights)] = weights
    bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
    total = np.zeros(len(sets))
    for column in deadline.watch(np.flatnonzero(columns.any(axis=1)).tolist()):
        total += (bits @ padded[8 * column : 8 * column + 8])[columns[column]]
    return total
