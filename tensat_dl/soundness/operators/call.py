"""One application of an operator with the contents of its inputs.

What evaluators read.  Knows no particular operator.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from tensat_dl.soundness.arithmetic import Arithmetic, Array, Scheme, Unsupported
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import TensorType, Type

__all__ = ["Call", "Evaluator", "Unsupported"]


@dataclass(frozen=True)
class Call:
    """`arrays` has None for an absent input; `types` and `results` have full dims."""

    operator: Operator
    attributes: Attributes
    arrays: tuple[Array | None, ...]
    types: tuple[Type, ...]
    results: tuple[Type, ...]
    scheme: Scheme

    def has(self, index: int) -> bool:
        """The input is given."""
        return index < len(self.arrays) and self.arrays[index] is not None

    def input(self, index: int) -> Array:
        """The contents of a given input."""
        found = self.arrays[index]
        assert found is not None, f"{self.operator.name} lacks input {index}"
        return found

    @property
    def given(self) -> tuple[Array, ...]:
        """The contents of all given inputs."""
        return tuple(array for array in self.arrays if array is not None)

    def dtype(self, index: int) -> DType:
        """The element type of an input."""
        found = self.types[index]
        assert isinstance(found, TensorType)
        return found.dtype

    def result(self, index: int = 0) -> TensorType:
        """The type of an output."""
        found = self.results[index]
        if not isinstance(found, TensorType):
            raise Unsupported(f"an output of {self.operator.name} is no tensor")
        return found

    def result_dims(self, index: int = 0) -> tuple[int, ...]:
        """The dims of an output."""
        return tuple(dim for dim in self.result(index).dims or () if isinstance(dim, int))

    @property
    def arithmetic(self) -> Arithmetic:
        """How elements of input 0 are added and multiplied."""
        return self.scheme.of(self.dtype(0))

    def value(self, index: int) -> tuple[int | float | bool, ...] | None:
        """The value of an input, where its type says it."""
        found = self.types[index] if index < len(self.types) else None
        if not isinstance(found, TensorType) or found.value is None:
            return None
        return tuple(item for item in found.value if isinstance(item, int | float))

    def attribute(self, name: str) -> AttributeValue | None:
        """The attribute, None where it is absent."""
        return self.attributes.get(name)

    def integer(self, name: str, default: int = 0) -> int:
        """An integer attribute."""
        value = self.attribute(name)
        return value if isinstance(value, int) else default

    def number(self, name: str, default: float) -> float:
        """A float attribute."""
        value = self.attribute(name)
        return float(value) if isinstance(value, int | float) else default

    def text(self, name: str, default: str = "") -> str:
        """A string attribute."""
        value = self.attribute(name)
        return value if isinstance(value, str) else default

    def ints(self, name: str, default: tuple[int, ...] = ()) -> tuple[int, ...]:
        """A list of integers."""
        value = self.attribute(name)
        if not isinstance(value, tuple):
            return default
        return tuple(item for item in value if isinstance(item, int))


Evaluator: TypeAlias = Callable[[Call], list[Array]]
