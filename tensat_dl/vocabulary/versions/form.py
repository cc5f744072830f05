"""One application as it stands at some version of its operator, on its way up or down."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.dims import Dim, SymbolicDim
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type

Array = NDArray[Any]


@dataclass(frozen=True)
class Form:
    """`inputs` and `types` have the same length; `load` gives the content of a constant by name, or
    None; `make_constant` adds a constant and names it, None on the way down, where none may be."""

    name: str
    attributes: Mapping[str, AttributeValue]
    inputs: tuple[str | None, ...]
    types: tuple[Type, ...]
    outputs: int
    load: Callable[[str], Array | None] = field(default=lambda name: None, repr=False)
    make_constant: Callable[[Array], str] | None = field(default=None, repr=False)

    def has(self, index: int) -> bool:
        """The input is given."""
        return index < len(self.inputs) and self.inputs[index] is not None

    def tensor(self, index: int) -> TensorType | None:
        """The type of an input, where it is a tensor."""
        given = self.types[index] if index < len(self.types) else ABSENT
        return given if isinstance(given, TensorType) else None

    def dims(self, index: int) -> tuple[Dim, ...] | None:
        """The dims of an input, where its rank is known."""
        tensor = self.tensor(index)
        return None if tensor is None else tensor.dims

    def rank(self, index: int = 0) -> int | None:
        """The rank of an input, where it is known."""
        shape = self.dims(index)
        return None if shape is None else len(shape)

    def content(self, index: int) -> tuple[Any, ...] | None:
        """The numbers that an input holds, flat, where they are all known."""
        tensor = self.tensor(index)
        if tensor is not None and tensor.value is not None:
            symbolic = any(isinstance(item, SymbolicDim) for item in tensor.value)
            return None if symbolic else tensor.value
        name = self.inputs[index] if index < len(self.inputs) else None
        array = None if name is None else self.load(name)
        return None if array is None else tuple(array.reshape(-1).tolist())

    def integers(self, index: int) -> tuple[int, ...] | None:
        """The integers that an input holds, where they are all known."""
        content = self.content(index)
        if content is None or not all(isinstance(item, int) for item in content):
            return None
        return tuple(map(int, content))

    def integer(self, name: str, default: int) -> int:
        """An integer attribute."""
        value = self.attributes.get(name, default)
        return value if isinstance(value, int) else default

    def text(self, name: str, default: str) -> str:
        """A string attribute."""
        value = self.attributes.get(name, default)
        return value if isinstance(value, str) else default

    def renamed(self, name: str) -> Form:
        """The same under another operator's name."""
        return replace(self, name=name)

    def without(self, *names: str) -> Form:
        """Without these attributes."""
        kept = {name: value for name, value in self.attributes.items() if name not in names}
        return replace(self, attributes=kept)

    def having(self, **values: AttributeValue) -> Form:
        """With these attributes."""
        return replace(self, attributes={**self.attributes, **values})

    def cut(self, count: int) -> Form:
        """With the first `count` inputs only."""
        return replace(self, inputs=self.inputs[:count], types=self.types[:count])

    def skipping(self, index: int) -> Form:
        """With an absent input inserted at `index`."""
        inputs = (*self.inputs[:index], None, *self.inputs[index:])
        types = (*self.types[:index], ABSENT, *self.types[index:])
        return replace(self, inputs=inputs, types=types)

    def dropping(self, index: int) -> Form:
        """With the input at `index` taken out of the list."""
        inputs = (*self.inputs[:index], *self.inputs[index + 1 :])
        types = (*self.types[:index], *self.types[index + 1 :])
        return replace(self, inputs=inputs, types=types)

    def plus_constant(self, index: int, array: Array) -> Form | None:
        """With a new constant as input `index`; None on the way down."""
        if self.make_constant is None:
            return None
        pad = index - len(self.inputs)
        inputs = (*self.inputs[:index], *[None] * pad, self.make_constant(array))
        types = (*self.types[:index], *[ABSENT] * pad, _type_of(array))
        return replace(self, inputs=inputs, types=types)

    def plus_ints(self, index: int, values: object) -> Form | None:
        """With a new list of i64 as input `index`; None where `values` is no list."""
        if not isinstance(values, tuple | list):
            return None
        return self.plus_constant(index, np.array(values, dtype=np.int64))


def _type_of(array: Array) -> Type:
    from onnx.helper import np_dtype_to_tensor_dtype

    dtype = dtypes.from_onnx(np_dtype_to_tensor_dtype(array.dtype))
    if dtype is None:
        return ABSENT
    return TensorType(dtype, array.shape, tuple(array.reshape(-1).tolist()))


@dataclass(frozen=True)
class Row:
    """What changed in one operator at version `since`: how the form before reads after, and back.

    `up` and `down` give None where there is no exact equal on the other side.
    """

    operator: str
    since: int
    change: str
    up: Callable[[Form], Form | None]
    down: Callable[[Form], Form | None]
    new_name: str = ""

    @property
    def name_after(self) -> str:
        """The operator's name from `since` on."""
        return self.new_name or self.operator


def unchanged(form: Form) -> Form | None:
    """The form is the same on both sides."""
    return form


def never(form: Form) -> Form | None:
    """There is no equal on the other side."""
    return None
