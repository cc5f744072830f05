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
_MULTIPLIERS = (1812433253, 1566083941)
_TOP = 1 << 61


def operator_seed(name: str) -> int:
    """The start of the keys of an operator's e-nodes."""
    return content_hash(name, 31)


def mix_lets(target: str, seed: int, parts: Sequence[str]) -> list[str]:
    """Actions that bind `target` to the key made of `seed` and the variables `parts`.

    One round a part: xor, then multiply both halves (each below 2**31) by odd constants and xor
    the products, which stay below 2**62.  Not linear, so that reordered terms differ.
    """
    lines: list[str] = []
    state = str(seed)
    low, high = _MULTIPLIERS
    for place, part in enumerate(parts):
        mixed, state_next = f"{target}_x{place}", f"{target}_s{place}"
        lines.append(f"(let {mixed} (^ {state} {part}))")
        lines.append(
            f"(let {state_next} (^ (* (& {mixed} {_LOW}) {low}) "
            f"(* (& (>> {mixed} 31) {_LOW}) {high})))"
        )
        state = state_next
    lines.append(f"(let {target} (| {_TOP} (& {state} {_TOP - 1})))")
    return lines


def mix(seed: int, parts: Sequence[int]) -> int:
    """The same key computed in Python."""
    state = seed
    low, high = _MULTIPLIERS
    for part in parts:
        mixed = state ^ part
        state = ((mixed & _LOW) * low) ^ (((mixed >> 31) & _LOW) * high)
    return _TOP | (state & (_TOP - 1))
