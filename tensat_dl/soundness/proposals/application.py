"""An operator application in the making: some inputs are there, others are to be drawn.

What proposals read and write.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import TypeAlias, TypeVar

import numpy as np

from tensat_dl.soundness.draws import Dims, Draw
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.adapters import formal_types
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.catalog import version_of
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import AttributeKind, FormalAttribute, Operator
from tensat_dl.vocabulary.types import (
    ABSENT,
    MAX_FLOAT_VALUE_ELEMENTS,
    MAX_VALUE_ELEMENTS,
    TensorType,
    Type,
)

_T = TypeVar("_T", bound=Hashable)


class Misfit(Exception):
    """What is fixed already leaves no choice that fits."""


@dataclass
class Blank:
    """An input to be drawn.  `dims`: what is certain of them, None where not even the rank is;
    `fill`: the number that every element equals; `value`: its elements; `known`: a rule asks for
    its value, beside `numbers`."""

    dtype: DType | None = None
    dims: tuple[int | None, ...] | None = None
    fill: int | float | bool | None = None
    value: tuple[int | float | bool, ...] | None = None
    known: bool = False
    numbers: tuple[int | float, ...] = ()


Input: TypeAlias = "TensorType | Blank | None"


@dataclass(frozen=True)
class Site:
    """Where in a rule an application stands; `result`: what is certain of the dims of its first
    output."""

    name: str = ""
    result: tuple[int | None, ...] | None = None


@dataclass
class Application:
    """`attributes` are fixed or chosen ones, `free` those that may be chosen; `outputs` how many
    outputs are wanted; `spans` the range of the contents of integer inputs, by place."""

    operator: Operator
    draw: Draw
    inputs: list[Input]
    attributes: dict[str, AttributeValue]
    free: frozenset[str]
    outputs: int
    spans: dict[int, tuple[int, int]] = field(default_factory=dict)
    site: Site = Site()

    # --- what is there ------------------------------------------------------------------------

    def has(self, index: int) -> bool:
        """The input is or will be given."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def is_open(self, index: int) -> bool:
        """The input is to be drawn."""
        return index < len(self.inputs) and isinstance(self.inputs[index], Blank)

    def sizes(self, index: int) -> list[int | None] | None:
        """The dims of an input as far as they are certain."""
        found = self.inputs[index] if index < len(self.inputs) else None
        if found is None or found.dims is None:
            return None
        return [dim if isinstance(dim, int) else None for dim in found.dims]

    def rank(self, index: int) -> int | None:
        """Its rank, where that is certain."""
        sizes = self.sizes(index)
        return None if sizes is None else len(sizes)

    def dims(self, index: int) -> Dims:
        """The dims of an input that is settled."""
        found = self.inputs[index]
        assert isinstance(found, TensorType), f"input {index} is not settled"
        return tuple(dim for dim in found.dims or () if isinstance(dim, int))

    def dim(self, index: int, axis: int) -> int:
        """The size of one axis of an input that is settled.  Raises Misfit where it has none."""
        dims = self.dims(index)
        if not -len(dims) <= axis < len(dims):
            raise Misfit
        return dims[axis]

    def value(self, index: int) -> tuple[int | float | bool, ...] | None:
        """The value of a settled input, where it is known."""
        found = self.inputs[index] if index < len(self.inputs) else None
        if not isinstance(found, TensorType) or found.value is None:
            return None
        return tuple(item for item in found.value if isinstance(item, int | float))

    def types(self) -> tuple[Type, ...]:
        """The types of the inputs when all are settled."""
        return tuple(_settled(given) for given in self.inputs)

    def default(self, name: str) -> AttributeValue | None:
        """The default of an attribute, as the schema has it."""
        formal = self.operator.attribute(name)
        return None if formal is None else formal.default

    # --- choosing -----------------------------------------------------------------------------

    def settle(
        self,
        index: int,
        dims: Sequence[int | None] | None = None,
        *,
        dtype: DType | None = None,
        value: Sequence[int | float | bool] | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        """Fill a blank; what it fixes goes before what is wanted.  Does nothing for the rest."""
        blank = self.inputs[index] if index < len(self.inputs) else None
        if not isinstance(blank, Blank):
            return
        wanted = list(self.draw.dims()) if dims is None and blank.dims is None else dims
        fixed = self._joined(blank.dims, wanted)
        element = blank.dtype or dtype or self._shared_dtype(index) or self._usual(index)
        given = self._value(blank, element, fixed, value)
        free = blank.value is None and blank.fill is None
        if free and span is not None and not _within(given, span):
            given = None
        self.inputs[index] = TensorType(element, fixed, given)
        self.draw.remember(fixed)
        if span is not None:
            self.spans[index] = span

    def choose(self, name: str, *options: AttributeValue) -> AttributeValue | None:
        """An attribute's value: the fixed one, one of the options where it is free, else the
        default."""
        if name in self.attributes:
            return self.attributes[name]
        if name in self.free and options:
            kinds = len(set(options)) > 1 and not any(isinstance(o, tuple) for o in options)
            chosen = self.pick(name, options) if kinds else self.draw.random.choice(options)
            self.attributes[name] = chosen
            return chosen
        return self.default(name)

    def pick(self, kind: str, options: Sequence[_T], place: int | str = "") -> _T:
        """One of some options for this application, or for its input `place`."""
        return self.draw.pick((f"{self.site.name} {place}", kind), options)

    def choose_kind(
        self, name: str, kinds: Mapping[str, AttributeValue], usual: str = ""
    ) -> AttributeValue | None:
        """An attribute's value, of one of some kinds where it is free."""
        if name in self.free and name not in self.attributes:
            options = (*kinds, *([usual] if usual else []))
            self.attributes[name] = kinds[self.pick(name, options)]
        return self.choose(name)

    def integer(self, name: str, *options: int) -> int:
        """An integer attribute, chosen."""
        value = self.choose(name, *options)
        return value if isinstance(value, int) else 0

    def choose_axis(self, rank: int) -> int:
        """The attribute `axis`, chosen, now and then counted from the end."""
        if rank == 0 or "axis" in self.attributes:
            return self.integer("axis", 0)
        place = self.pick("axis", range(rank))
        return self.integer("axis", place - rank if self.draw.chance(0.3) else place)

    def ints(self, name: str) -> Dims | None:
        """A list attribute that is fixed already."""
        value = self.attributes.get(name)
        return tuple(v for v in value if isinstance(v, int)) if isinstance(value, tuple) else None

    def finish(self) -> None:
        """Settle what a proposal left open, and required attributes."""
        for index in range(len(self.inputs)):
            self.settle(index)
        for formal in self.operator.attributes:
            if formal.name in self.free and formal.name not in self.attributes:
                self._choose_any(formal)

    # --- parts --------------------------------------------------------------------------------

    def _joined(
        self, fixed: tuple[int | None, ...] | None, wanted: Sequence[int | None] | None
    ) -> Dims:
        if fixed is None:
            known: Sequence[int | None] = wanted or ()
        elif wanted is None:
            known = fixed
        elif len(fixed) != len(wanted):
            raise Misfit
        else:
            known = [b if a is None else a for a, b in zip(fixed, wanted, strict=True)]
        return tuple(self.draw.size() if dim is None else dim for dim in known)

    def _value(
        self,
        blank: Blank,
        dtype: DType,
        dims: Dims,
        proposed: Sequence[int | float | bool] | None,
    ) -> tuple[int | float | bool, ...] | None:
        count = math.prod(dims)
        most = MAX_FLOAT_VALUE_ELEMENTS if dtype.is_float else MAX_VALUE_ELEMENTS
        if blank.value is not None:
            return blank.value
        if blank.fill is not None:
            if not 0 < count <= most:
                raise Misfit
            return (_of(dtype, blank.fill),) * count
        if proposed is not None:
            return tuple(proposed)
        plain = dtype.is_float or dtype.is_integer or dtype is DType.BOOL
        if not plain or count > most or dtype.bits < 8:
            return None
        if blank.known and blank.numbers and self.draw.chance(0.5):
            return self._filled(dtype, self.draw.random.choice(blank.numbers), count)
        likely = 0.9 if blank.known else 0.12
        return self.draw.fills(dtype, dims) if self.draw.chance(likely) else None

    @staticmethod
    def _filled(
        dtype: DType, number: int | float, count: int
    ) -> tuple[int | float | bool, ...] | None:
        """A tensor of one number, where the element type has it: infinity beyond the largest."""
        if dtype.is_float:
            with np.errstate(over="ignore"):
                return (float(np.float32(number)),) * count
        if not float(number).is_integer() or (number < 0 and not dtype.is_signed):
            raise Misfit
        return (_of(dtype, int(number)),) * count

    def _shared_dtype(self, index: int) -> DType | None:
        """The element type that the schema gives, or that another input of its kind has."""
        name = self._type_name(index)
        concrete = dtypes.from_name(_short(name))
        if concrete is not None:
            return concrete
        for other, found in enumerate(self.inputs):
            if found is not None and found.dtype is not None and self._type_name(other) == name:
                return found.dtype
        return DType.BOOL if name == "B" and self.operator.name == "Where" else None

    def _usual(self, index: int) -> DType:
        """The element type of the attempt, or another where the schema has no such input."""
        allowed = _element_types(self.operator.domain, self.operator.name)
        taken = allowed[min(index, len(allowed) - 1)] if allowed else ()
        if not taken or self.draw.element in taken:
            return self.draw.element
        return self.draw.random.choice(taken)

    def _type_name(self, index: int) -> str:
        formals = self.operator.inputs
        return formals[min(index, len(formals) - 1)].type_name if formals else ""

    def _choose_any(self, formal: FormalAttribute) -> None:
        """A value for an attribute that no proposal knows: its default, or a small number."""
        draw = self.draw
        if formal.rank_dependent or formal.implied or draw.chance(0.4):
            return
        rank = len(self.dims(0)) if self.has(0) and isinstance(self.inputs[0], TensorType) else 0
        if formal.kind is AttributeKind.INT:
            if formal.name == "axis":
                self.attributes[formal.name] = draw.axis(rank)
            elif formal.name == "to":
                choices = (DType.F32, DType.F64, DType.F16, DType.I64, DType.I32, DType.BOOL)
                self.attributes[formal.name] = draw.random.choice(choices).onnx_code
        elif formal.kind is AttributeKind.FLOAT and (formal.required or formal.default is not None):
            self.attributes[formal.name] = draw.random.choice((0.5, 1.0, 2.0, 0.25))


def _settled(given: Input) -> Type:
    assert not isinstance(given, Blank), "an input is not settled"
    return ABSENT if given is None else given


def _of(dtype: DType, value: int | float | bool) -> int | float | bool:
    if dtype.is_float:
        return float(value)
    return bool(value) if dtype is DType.BOOL else value


def _within(value: Sequence[int | float | bool] | None, span: tuple[int, int]) -> bool:
    return value is None or all(span[0] <= item < span[1] for item in value)


def _short(type_name: str) -> str:
    inner = type_name.removeprefix("tensor(").removesuffix(")")
    return {"int64": "i64", "bool": "bool", "float": "f32", "int32": "i32"}.get(inner, "")


@cache
def _element_types(domain: str, name: str) -> list[tuple[DType, ...]]:
    """What each formal input may be."""
    version = version_of(name, domain)
    found = [map(dtypes.from_onnx, codes) for codes in formal_types(domain, name, version)]
    known = [{dtype for dtype in each if dtype is not None} for each in found]
    return [tuple(dtype for dtype in DType if dtype in each) for each in known]


Proposal: TypeAlias = Callable[[Application], None]
