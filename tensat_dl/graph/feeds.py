"""Random inputs that a model accepts, found by trying.

Enters: the graph inputs (with overridable initializers) and a runner of the original model.
Leaves: a :class:`Feed` with the outputs it gives.  A model may demand more of its inputs than
their types say: an index below the size of a table, a size that some stride divides, a shape
that fits.  So sizes and integer ranges are tried from the most telling to the most modest, and
what one sample found is where the next one starts.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from tensat_dl.graph.interface import named_dims, tensor_dims
from tensat_dl.graph.run import CannotRun, Runner, input_values, plain_code

#: Ranges of integers, low inclusive, high exclusive: first the ones that test most.
RANGES = ((-9, 10), (0, 10), (-2, 2), (0, 2), (1, 2), (0, 1))

#: Sizes of symbolic dims to fall back on, in this order.
LADDER = (4, 8, 16, 32, 64, 128, 224, 256, 320, 512)

_WORDS = ("", "a", "cat", "Zebra", "0", "ß")


@dataclass(frozen=True)
class InputSlot:
    """One graph input: `dims` are numbers or names; `elements` is the element type code;
    `form` is "tensor" or "sequence" (of tensors)."""

    name: str
    elements: int
    dims: tuple[int | str, ...]
    form: str = "tensor"


@dataclass(frozen=True)
class Plan:
    """How to draw: size of every symbol, integer range of every input, and whether floats are
    all positive."""

    sizes: Mapping[str, int]
    ranges: Mapping[str, tuple[int, int]]
    positive: bool = False


@dataclass(frozen=True)
class Feed:
    """Inputs by name, what the original model made of them, and the plan behind them."""

    values: Mapping[str, Any]
    outputs: Sequence[Any]
    plan: Plan


@dataclass
class FeedSearch:
    """Finds feeds for one model, one after another.  `seconds` bounds each search."""

    slots: tuple[InputSlot, ...]
    runner: Runner
    dims: Mapping[str, int] = field(default_factory=dict)
    seconds: float = 20.0
    _last: Plan | None = None

    def find(self, sample: int, seed: int) -> Feed:
        """The feed of sample number `sample`.  Raises CannotRun with the last refusal."""
        deadline = time.monotonic() + self.seconds
        refusal = CannotRun("no input was tried")
        for plan in self._plans(sample):
            try:
                feed = self._try(plan, seed)
            except CannotRun as error:
                refusal = error
            else:
                self._last = self._widened(feed, seed, deadline) if self._last is None else plan
                return feed if self._last is plan else self._try(self._last, seed)
            if time.monotonic() > deadline:
                break
        raise refusal

    def _try(self, plan: Plan, seed: int) -> Feed:
        values = draw(self.slots, plan, np.random.default_rng(seed))
        return Feed(values, self.runner.run(values), plan)

    def _plans(self, sample: int) -> Iterator[Plan]:
        """First with the ranges that were found before, then with all of them."""
        positive = sample % 2 == 1
        uniform = [dict.fromkeys((slot.name for slot in self.slots), span) for span in RANGES]
        uniform = uniform if self._has_integers() else uniform[:1]
        for sizes in self._size_choices(sample):
            for ranges in uniform if self._last is None else (self._last.ranges,):
                yield Plan(sizes, ranges, positive)
        if self._last is not None:
            for ranges in (self._last.ranges, *uniform):
                yield Plan(self._last.sizes, ranges, positive)

    def _size_choices(self, sample: int) -> Iterator[dict[str, int]]:
        symbols = self._free_symbols()
        if not symbols:
            yield dict(self.dims)
            return
        yield self._with_fixed(_preferred_sizes(symbols, sample))
        batch = {symbol for symbol in symbols if self._is_leading(symbol)}
        for size in LADDER:
            lead = _LEADS[sample % len(_LEADS)]
            yield self._with_fixed({s: lead if s in batch else size for s in symbols})
            yield self._with_fixed(dict.fromkeys(symbols, size))
        yield self._with_fixed(dict.fromkeys(symbols, 1))

    def _with_fixed(self, sizes: Mapping[str, int]) -> dict[str, int]:
        known = {**sizes, **self.dims}
        return {**{slot: _evaluate(slot, known) for slot in self._expressions()}, **known}

    def _free_symbols(self) -> list[str]:
        names = {d: None for slot in self.slots for d in slot.dims if isinstance(d, str)}
        derived = set(self._expressions())
        return [name for name in names if name not in self.dims and name not in derived]

    def _expressions(self) -> list[str]:
        """Dim names such as `past + 1` whose parts are dims of their own."""
        names = {d for slot in self.slots for d in slot.dims if isinstance(d, str)}
        return sorted(name for name in names if _parts(name) and _parts(name) <= names)

    def _is_leading(self, symbol: str) -> bool:
        return any(slot.dims[:1] == (symbol,) for slot in self.slots)

    def _has_integers(self) -> bool:
        return any(_is_integer(slot.elements) for slot in self.slots)

    def _widened(self, feed: Feed, seed: int, deadline: float) -> Plan:
        """Give each integer input, one at a time, the widest range the model still accepts."""
        plan = feed.plan
        whole = [slot for slot in self.slots if _is_integer(slot.elements)]
        for slot in whole if len(whole) > 1 else ():
            for span in RANGES[: RANGES.index(plan.ranges[slot.name])]:
                wider = replace(plan, ranges={**plan.ranges, slot.name: span})
                if time.monotonic() < deadline and self._accepts(wider, seed):
                    plan = wider
                    break
        return plan

    def _accepts(self, plan: Plan, seed: int) -> bool:
        try:
            self._try(plan, seed)
        except CannotRun:
            return False
        return True


#: Size of leading (batch) dims in the fallbacks, by sample.
_LEADS = (2, 1, 3)


def input_slots(proto: onnx.ModelProto) -> tuple[InputSlot, ...]:
    """The inputs that must be fed; dims without a name get `INPUT.AXIS` as theirs."""
    return tuple(_slot(value) for value in input_values(proto))


def override_slots(proto: onnx.ModelProto) -> tuple[InputSlot, ...]:
    """Overridable initializers (IR version 4 and later) of floating-point type."""
    if proto.ir_version < 4:
        return ()
    given = {tensor.name: tensor for tensor in proto.graph.initializer}
    values = (value for value in proto.graph.input if value.name in given)
    slots = (replace(_slot(v), dims=tuple(given[v.name].dims)) for v in values)
    return tuple(slot for slot in slots if not _is_integer(slot.elements))


def draw(slots: Sequence[InputSlot], plan: Plan, rng: np.random.Generator) -> dict[str, Any]:
    """One random value for every slot."""
    return {slot.name: _draw_slot(slot, plan, rng) for slot in slots}


def _draw_slot(slot: InputSlot, plan: Plan, rng: np.random.Generator) -> Any:
    if slot.form == "sequence":
        return [_draw_tensor(slot, plan, rng) for _ in range(3)]
    return _draw_tensor(slot, plan, rng)


def _draw_tensor(slot: InputSlot, plan: Plan, rng: np.random.Generator) -> Any:
    dims = tuple(plan.sizes.get(d, 2) if isinstance(d, str) else d for d in slot.dims)
    code = plain_code(slot.elements)
    if code == TensorProto.STRING:
        return rng.choice(np.array(_WORDS, dtype=object), size=dims)
    if code == TensorProto.BOOL:
        return rng.integers(0, 2, size=dims).astype(np.bool_)
    if _is_integer(slot.elements):
        low, high = plan.ranges[slot.name]
        low = 0 if tensor_dtype_to_np_dtype(code).kind == "u" else low
        return rng.integers(low, max(high, low + 1), size=dims).astype(
            tensor_dtype_to_np_dtype(code)
        )
    values = rng.random(dims) + 0.01 if plan.positive else rng.standard_normal(dims)
    return np.asarray(values).astype(tensor_dtype_to_np_dtype(code))


def _slot(value: onnx.ValueInfoProto) -> InputSlot:
    kind, form = named_dims(value), "tensor"
    while not kind.HasField("tensor_type"):
        if kind.HasField("sequence_type"):
            kind, form = kind.sequence_type.elem_type, "sequence"
        elif kind.HasField("optional_type"):
            kind = kind.optional_type.elem_type
        else:
            raise CannotRun(f"input '{value.name}' is neither a tensor nor a sequence of tensors")
    dims = tuple(
        int(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or f"{value.name}.{axis}"
        for axis, dim in enumerate(tensor_dims(kind))
    )
    return InputSlot(value.name, kind.tensor_type.elem_type, dims, form)


def _is_integer(code: int) -> bool:
    if code in (TensorProto.STRING, TensorProto.BOOL, TensorProto.UNDEFINED):
        return False
    return tensor_dtype_to_np_dtype(plain_code(code)).kind in "iu"


def _preferred_sizes(symbols: Sequence[str], sample: int) -> dict[str, int]:
    """Sample 0: all different; 1: all 1; later ones: others again."""
    if sample == 1:
        return dict.fromkeys(symbols, 1)
    primes = (2, 3, 5, 7, 11) if sample == 0 else (3, 7, 4, 6, 2)
    return {symbol: primes[index % len(primes)] for index, symbol in enumerate(symbols)}


def _parts(name: str) -> set[str]:
    """Names in an arithmetic expression; empty where it is not one of several names."""
    if name.isidentifier() or not any(mark in name for mark in "+-*/"):
        return set()
    text = name
    for mark in "+-*/() ":
        text = text.replace(mark, "\n")
    return {part for part in text.split("\n") if part and not part.isdigit()}


def _evaluate(expression: str, sizes: Mapping[str, int]) -> int:
    import onnx_ir

    value = onnx_ir.SymbolicDim(expression).evaluate(dict(sizes))
    return value if isinstance(value, int) else 2
