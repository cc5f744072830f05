"""Stable keys: a hash of how a tensor was first made.

Keys order operands and outputs where an order must be chosen, and let Python name rows.  They are
computed by the engine itself, in the actions of rules, with 64-bit integer arithmetic that cannot
overflow (the engine drops a match whose arithmetic overflows).  Values of the original graph have
their position as key; every other key has bit 61 set.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensat_dl.egraph.interning import content_hash

_LOW = (1 << 31) - 1
_MULTIPLIER = 1812433253
_FOLD = 29
_TOP = 1 << 61


def operator_seed(name: str) -> int:
    """The start of the keys of an operator's e-nodes."""
    return content_hash(name, 31)


def mix_lets(target: str, seed: int, parts: Sequence[str]) -> list[str]:
    """Actions that bind `target` to the key made of `seed` and the variables `parts`.

    One round a part: xor it in, multiply the low 31 bits by an odd constant below 2**31, and xor
    the high bits, folded down, onto the product: all stays below 2**62.  Not linear, so that
    reordered terms differ.  The rounds are short because rules spend much of their time here.
    """
    lines: list[str] = []
    state = str(seed)
    for place, part in enumerate(parts):
        mixed = f"{target}_x{place}"
        lines.append(f"(let {mixed} (^ {state} {part}))")
        state = f"(^ (* (& {mixed} {_LOW}) {_MULTIPLIER}) (>> {mixed} {_FOLD}))"
    lines.append(f"(let {target} (| {_TOP} {state}))")
    return lines


def output_key(bundle: str, place: str) -> str:
    """The key of a bundle's output: that of the bundle with its place xored in."""
    return f"(^ {bundle} (* (+ {place} 1) {_MULTIPLIER}))"


def mix(seed: int, parts: Sequence[int]) -> int:
    """The same key computed in Python."""
    state = seed
    for part in parts:
        mixed = state ^ part
        state = ((mixed & _LOW) * _MULTIPLIER) ^ (mixed >> _FOLD)
    return _TOP | state
