"""Attribute values in canonical form: hashable, comparable, independent of protobuf.

ONNX value -> here: INT int, FLOAT float (the float32 value), STRING str (bytes that are not
UTF-8 stay bytes), INTS/FLOATS/STRINGS tuples, TENSOR/GRAPH/TYPE_PROTO/SPARSE :class:`Blob`.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Blob:
    """An attribute kept as it is: equal when `digest` is; `payload` is the ONNX object.

    `captured` names the outer values a subgraph reads, in the order in which they were appended
    to the node's inputs.
    """

    kind: str
    digest: str
    payload: Any = field(compare=False, repr=False)
    captured: tuple[str, ...] = ()

    @staticmethod
    def of(kind: str, content: bytes, payload: Any, captured: tuple[str, ...] = ()) -> Blob:
        """Make one from its serialised `content`."""
        return Blob(kind, hashlib.sha256(content).hexdigest(), payload, captured)


AttributeValue = (
    int | float | str | bytes | tuple[int, ...] | tuple[float, ...] | tuple[str, ...] | Blob
)


@dataclass(frozen=True)
class Attributes:
    """An immutable, hashable mapping of attribute name to value, sorted by name.

    Absent attributes have no entry.  `key` is what is compared: -0.0 equals 0.0, but a reciprocal
    tells them apart; NaN does not equal itself, but as an attribute it is the same everywhere.
    """

    items: tuple[tuple[str, AttributeValue], ...] = field(default=(), compare=False)
    key: tuple[object, ...] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        key: tuple[object, ...] = self.items
        if any(_is_odd(value) for _, value in self.items):
            key = tuple((name, _comparable(value)) for name, value in self.items)
        object.__setattr__(self, "key", key)

    @staticmethod
    def of(values: Mapping[str, AttributeValue]) -> Attributes:
        """Build from a mapping."""
        return Attributes(tuple(sorted(values.items())))

    def get(self, name: str) -> AttributeValue | None:
        """The value, or None when absent."""
        return self.as_dict().get(name)

    def as_dict(self) -> dict[str, AttributeValue]:
        """A fresh dict."""
        return dict(self.items)


def is_negative_zero(value: object) -> bool:
    """It is the float -0.0."""
    return isinstance(value, float) and value == 0.0 and math.copysign(1.0, value) < 0.0


def _is_odd(value: object) -> bool:
    """It is, or holds, a float that `==` says too little of."""
    if isinstance(value, tuple):
        return any(map(_is_odd, value))
    return isinstance(value, float) and (value != value or is_negative_zero(value))


def _comparable(value: object) -> object:
    if isinstance(value, tuple):
        return tuple(map(_comparable, value))
    return (float, repr(value)) if _is_odd(value) else value
