"""Drawing random inputs by a plan.

Enters: the inputs to feed, a plan of their sizes, ranges and kinds, a source of chance.  Leaves: a
value for each input.  Whether the model accepts them is not asked here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

import numpy as np
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from tensat_dl.graph.running.plain import plain_code
from tensat_dl.graph.verifying.slots import InputSlot

_WORDS = ("", "a", "cat", "Zebra", "0", "ß")

#: Tensors in a sequence that is an input.
_SEQUENCE_LENGTH = 3
#: Entries of a map that is an input.
_MAP_LENGTH = 3


class Floats(Enum):
    """How floats are drawn: from the normal distribution, between 0 and 1, or all 1."""

    NORMAL = "normal"
    UNIT = "unit"
    ONES = "ones"


@dataclass(frozen=True)
class Plan:
    """Size of every symbol; by input, the range of integers (low inclusive, high exclusive) and
    the way of drawing floats; by input, the list of integers that it is."""

    sizes: Mapping[str, int]
    ranges: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    floats: Mapping[str, Floats] = field(default_factory=dict)
    lists: Mapping[str, tuple[int, ...]] = field(default_factory=dict)


def draw(slots: Sequence[InputSlot], plan: Plan, rng: np.random.Generator) -> dict[str, Any]:
    """One random value for every slot."""
    return {slot.name: _draw_slot(slot, plan, rng) for slot in slots}


def _draw_slot(slot: InputSlot, plan: Plan, rng: np.random.Generator) -> Any:
    if slot.form == "sequence":
        return [_draw_tensor(slot, plan, rng) for _ in range(_SEQUENCE_LENGTH)]
    if slot.form == "map":
        keys = _WORDS if slot.keys == TensorProto.STRING else range(_MAP_LENGTH)
        values = _draw_tensor(replace(slot, dims=(len(keys),)), plan, rng)
        return dict(zip(keys, values.tolist(), strict=True))
    return _draw_tensor(slot, plan, rng)


def _draw_tensor(slot: InputSlot, plan: Plan, rng: np.random.Generator) -> Any:
    dims = slot.shape(plan.sizes)
    code = plain_code(slot.elements)
    if code == TensorProto.STRING:
        return rng.choice(np.array(_WORDS, dtype=object), size=dims)
    if code == TensorProto.BOOL:
        return rng.integers(0, 2, size=dims).astype(np.bool_)
    numpy_type = tensor_dtype_to_np_dtype(code)
    if slot.is_float:
        return np.asarray(_draw_floats(plan.floats.get(slot.name), dims, rng)).astype(numpy_type)
    if slot.name in plan.lists:
        return np.array(plan.lists[slot.name]).astype(numpy_type)
    low, high = plan.ranges[slot.name]
    low = max(low, 0) if numpy_type.kind == "u" else low
    return rng.integers(low, max(high, low + 1), size=dims).astype(numpy_type)


def _draw_floats(kind: Floats | None, dims: tuple[int, ...], rng: np.random.Generator) -> Any:
    match kind:
        case Floats.UNIT:
            return 0.01 + 0.98 * rng.random(dims)
        case Floats.ONES:
            return np.ones(dims)
        case _:
            return rng.standard_normal(dims)
