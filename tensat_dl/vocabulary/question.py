"""One question of type inference: an operator, its attributes, the types of its inputs.

What checks, shape functions and value functions read.  They raise :class:`Refusal` where the
application has no type; only `infer` catches it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.dims import Dim, SymbolicDim
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import ABSENT, Scalar, TensorType, Type

#: Dims of an output as far as a shape function knows them; None: not even the rank.
Shape = Sequence[Dim | None] | None
KnownShape = tuple[Dim, ...]


class Refusal(Exception):
    """The application has no type; the text says why, to a rule author."""


@dataclass(frozen=True)
class Question:
    """`outputs` is how many outputs the application has."""

    op: Operator
    attributes: Attributes
    inputs: tuple[Type, ...]
    outputs: int

    @cached_property
    def attribute_values(self) -> dict[str, AttributeValue]:
        """Attributes by name."""
        return self.attributes.as_dict()

    def has(self, index: int) -> bool:
        """The input is given."""
        return index < len(self.inputs) and self.inputs[index] != ABSENT

    def tensor(self, index: int) -> TensorType | None:
        """The input's type, where it is a tensor."""
        given = self.inputs[index] if index < len(self.inputs) else ABSENT
        return given if isinstance(given, TensorType) else None

    def dims(self, index: int) -> KnownShape | None:
        """The input's dims, where its rank is known."""
        tensor = self.tensor(index)
        return None if tensor is None else tensor.dims

    def value(self, index: int) -> tuple[Scalar, ...] | None:
        """The input's value, where it is known."""
        tensor = self.tensor(index)
        return None if tensor is None else tensor.value

    def dim_values(self, index: int) -> tuple[Dim, ...] | None:
        """The input's value, where it is known and holds integers or dims."""
        value = self.value(index)
        if value is None or any(isinstance(item, float) for item in value):
            return None
        return tuple(item for item in value if isinstance(item, int | SymbolicDim))

    def int_values(self, index: int) -> tuple[int, ...] | None:
        """The input's value, where it is known and holds numbers only."""
        value = self.dim_values(index)
        numbers = tuple(item for item in value or () if isinstance(item, int))
        return None if value is None or len(numbers) < len(value) else numbers

    def name(self, index: int) -> str:
        """The ONNX name of an input."""
        formals = self.op.inputs
        return formals[min(index, len(formals) - 1)].name if formals else f"input {index}"

    def integer(self, name: str, default: int = 0) -> int:
        """An integer attribute."""
        value = self.attribute_values.get(name, default)
        return value if isinstance(value, int) else default

    def number(self, name: str, default: float) -> float:
        """A float attribute."""
        value = self.attribute_values.get(name, default)
        return value if isinstance(value, int | float) else default

    def text(self, name: str, default: str = "") -> str:
        """A string attribute."""
        value = self.attribute_values.get(name, default)
        return value if isinstance(value, str) else default

    def ints(self, name: str) -> tuple[int, ...] | None:
        """A list-of-integers attribute, None where absent."""
        value = self.attribute_values.get(name)
        if not isinstance(value, tuple):
            return None
        return tuple(item for item in value if isinstance(item, int))


def axis_in(axis: int, rank: int, name: str = "axis") -> int:
    """`axis` counted from the front; raises Refusal where it is out of range."""
    if not -rank <= axis < rank:
        raise Refusal(f"`{name}` is {axis}, but there are {rank} dims")
    return axis + rank if axis < 0 else axis


def axes_in(axes: Sequence[int], rank: int) -> list[int]:
    """`axes` counted from the front; raises Refusal on a repeated or wrong one."""
    found = [axis_in(axis, rank, "axes") for axis in axes]
    if len(set(found)) < len(found):
        raise Refusal(f"`axes` {list(axes)} names a dim twice")
    return found


def require_equal(left: Dim, right: Dim, what: str) -> None:
    """Raise Refusal where two dims certainly differ."""
    if dims.definitely_different(left, right):
        raise Refusal(f"{what}: {left} is not {right}")


def agree(left: Dim, right: Dim, what: str) -> Dim:
    """The better known of two dims that must be equal."""
    require_equal(left, right, what)
    if isinstance(left, int) or isinstance(right, int):
        return left if isinstance(left, int) else right
    return right if dims.is_unknown(left) and not dims.is_unknown(right) else left


def product(sizes: Sequence[Dim]) -> Dim:
    """Number of elements."""
    return math.prod(sizes, start=1) if all(isinstance(s, int) for s in sizes) else _product(sizes)


def _product(sizes: Sequence[Dim]) -> Dim:
    total: Dim = 1
    for size in sizes:
        total = total * size
    return total


def show(shape: Sequence[Dim | None]) -> str:
    """`[2, N]`."""
    return "[" + ", ".join("?" if dim is None else str(dim) for dim in shape) + "]"


def broadcast_shapes(shapes: Sequence[KnownShape]) -> KnownShape:
    """Dims that all shapes broadcast to; raises Refusal where they cannot."""
    rank = max((len(shape) for shape in shapes), default=0)
    result: list[Dim] = [1] * rank
    for shape in shapes:
        for offset, size in enumerate(reversed(shape), start=1):
            joined = dims.broadcast(result[-offset], size)
            if joined is None:
                given = " and ".join(show(other) for other in shapes)
                raise Refusal(f"{given} do not broadcast: {result[-offset]} meets {size}")
            result[-offset] = joined
    return tuple(result)


def require_broadcasts_to(shape: KnownShape, target: KnownShape, what: str) -> None:
    """Raise Refusal unless `shape` may broadcast to `target` without changing it."""
    if len(shape) > len(target):
        raise Refusal(f"{what} {show(shape)} has more dims than {show(target)}")
    for size, goal in zip(reversed(shape), reversed(target), strict=False):
        if (
            size != 1
            and dims.definitely_different(size, goal)
            and dims.definitely_different(size, 1)
        ):
            raise Refusal(f"{what} {show(shape)} does not broadcast to {show(target)}")
