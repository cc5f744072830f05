"""Types of tensors: element type, dims, and the value where it is small.

A dim is a non-negative int or a :class:`~tensat_dl.vocabulary.dims.SymbolicDim` (a polynomial in
named symbols).  A value is flat, row-major; its elements are numbers, booleans or symbolic dims.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

from tensat_dl.vocabulary.dims import Dim, SymbolicDim
from tensat_dl.vocabulary.dtypes import DType

Number = int | float | bool
Scalar = Number | SymbolicDim

#: A value is kept for integer and boolean tensors of at most this many elements ...
MAX_VALUE_ELEMENTS = 64
#: ... and for floating-point tensors of at most this many (the scales of a Resize fit).
MAX_FLOAT_VALUE_ELEMENTS = 8
#: Constants of at most this many are looked through for one number that fills them: a mask of
#: 1,024 places has so many, and reading more takes time.
MAX_FILL_ELEMENTS = 1 << 20


@dataclass(frozen=True)
class TensorType:
    """`dims` is None when even the rank is unknown; `value` is None when it is not known, and
    `fill` is the number that every element is, where that is all that is known of the value."""

    dtype: DType
    dims: tuple[Dim, ...] | None
    value: tuple[Scalar, ...] | None = None
    fill: Number | None = None

    @property
    def rank(self) -> int | None:
        """Number of dims, or None."""
        return None if self.dims is None else len(self.dims)

    @property
    def nbytes(self) -> int | None:
        """Size in bytes, packed where elements are smaller; None where a dim is no number."""
        numbers = [dim for dim in self.dims or () if isinstance(dim, int)]
        if self.dims is None or len(numbers) < len(self.dims):
            return None
        return (math.prod(numbers) * self.dtype.bits + 7) // 8


@dataclass(frozen=True)
class OtherType:
    """A sequence, optional, map, or anything whose type is only carried along.

    `text` is `seq(f32[2, N])`, `optional(..)`, `map(i64, ..)`, `sparse(..)`; see `protos`.
    """

    text: str


#: The type of an output that nothing is known about: not even what kind of value it is.
UNDECLARED = OtherType("?")


@dataclass(frozen=True)
class AbsentType:
    """The type of a missing optional input."""


ABSENT = AbsentType()

Type = TensorType | OtherType | AbsentType


@lru_cache(maxsize=1 << 14)
def type_text(type_: Type) -> str:
    """A type for messages, without its value: `f32[2, N]`."""
    match type_:
        case AbsentType():
            return "an absent input"
        case OtherType(text):
            return text
        case TensorType(dtype, None):
            return f"{dtype} of unknown rank"
        case TensorType(dtype, dims):
            return f"{dtype}[{', '.join(map(str, dims or ()))}]"


@dataclass(frozen=True)
class TypeFault:
    """Why an application has no type, in words a rule author understands."""

    reason: str
