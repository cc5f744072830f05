"""Lists of integers that a model might want: shapes, sizes of the parts of a split, windows.

Enters: an input that is a list of integers, all inputs, the sizes of symbolic dims.  Leaves: the
lists of its length that are worth trying, the most likely first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice, product

from tensat_dl.graph.verifying.slots import Inputs, InputSlot

#: So many combinations of lists are tried.
_COMBINATIONS = 300


def combinations(inputs: Inputs, sizes: Mapping[str, int]) -> Iterator[dict[str, tuple[int, ...]]]:
    """Input -> list, for all inputs that are lists of integers."""
    lists = filter(_is_list, inputs.slots)
    found = {slot.name: _candidates(slot, inputs, sizes) for slot in lists}
    if not found:
        return
    for chosen in islice(product(*found.values()), _COMBINATIONS):
        yield dict(zip(found, chosen, strict=True))


def _candidates(slot: InputSlot, inputs: Inputs, sizes: Mapping[str, int]) -> list[tuple[int, ...]]:
    (length,) = slot.shape(sizes)
    shapes = [other.shape(sizes) for other in inputs.slots]
    ends = [shape[-length:] for shape in (*inputs.shapes, *shapes) if 0 < length <= len(shape)]
    numbers = list(dict.fromkeys(n for shape in (*shapes, *inputs.shapes) for n in shape))
    parts = [_parts(number, length) for number in numbers if 0 < length <= number]
    windows = [(1,) * (length - 1) + (number,) for number in numbers if length]
    return list(dict.fromkeys([*ends, *parts, *windows]))


def _parts(number: int, length: int) -> tuple[int, ...]:
    """`number` as a sum of `length` numbers: ones, and the rest at the end."""
    return (*[1] * (length - 1), number - length + 1)


def _is_list(slot: InputSlot) -> bool:
    return slot.is_integer and slot.form == "tensor" and len(slot.dims) == 1
