"""Arithmetics in which both sides of a rule are evaluated.

Enters: element types.  Leaves: a :class:`Scheme`, that is an :class:`Arithmetic` for each.

* :class:`Residues`: integers modulo a prime stand for reals.  Sums, products and quotients are
  exact; every other function of an element is one random function, the same wherever it stands.
  Two polynomials of degree d that differ agree at a random place with probability d / PRIME at
  most (Schwartz and Zippel); so agreement proves, while disagreement shows nothing of `Relu`.
* :class:`Reals`: float64.  On small multiples of 1/4 it is exact for all but division and
  transcendental functions; `exact` says whether that held.
* :class:`Native`: the element type itself, NaN and rounding included, sums in the order of the
  terms.  Integers are evaluated so in every scheme.
"""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensat_dl.graph.stored import numpy_type
from tensat_dl.vocabulary.dtypes import DType

Array = NDArray[Any]

#: The largest prime below 2**31: a product of two residues fits 64 bits.
PRIME = 2**31 - 1


class Unsupported(Exception):
    """The arithmetic does not say what an operator gives."""


class Undefined(Unsupported):
    """ONNX does not say what an operator gives."""


class Arithmetic(ABC):
    """Elementwise operations broadcast as numpy does."""

    @abstractmethod
    def constant(self, value: float | int) -> Array:
        """A number as an element."""

    @abstractmethod
    def from_integers(self, array: Array) -> Array:
        """Integers, or truth values, as elements."""

    @abstractmethod
    def add(self, left: Array, right: Array) -> Array:
        """Sums."""

    @abstractmethod
    def mul(self, left: Array, right: Array) -> Array:
        """Products."""

    @abstractmethod
    def neg(self, array: Array) -> Array:
        """Negatives."""

    @abstractmethod
    def div(self, left: Array, right: Array) -> Array:
        """Quotients."""

    @abstractmethod
    def function(self, name: str, apply: Callable[..., Array], *arrays: Array) -> Array:
        """An elementwise function: `name` says which, `apply` computes it on numbers."""

    def sub(self, left: Array, right: Array) -> Array:
        """Differences."""
        return self.add(left, self.neg(right))

    def sum(self, array: Array, axes: tuple[int, ...]) -> Array:
        """Sums along axes, which are kept."""
        return np.asarray(np.sum(array, axis=axes, keepdims=True))

    def matmul(self, left: Array, right: Array) -> Array:
        """Products of matrices of at least two axes each."""
        return np.asarray(np.matmul(left, right))

    @property
    def ordered(self) -> bool:
        """Elements can be compared."""
        return True


class Residues(Arithmetic):
    """Integers modulo :data:`PRIME`."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.applied = 0  # elements of random functions that were asked for

    def constant(self, value: float | int) -> Array:
        """Exact: a float is a fraction with a power of two below."""
        if isinstance(value, float) and not np.isfinite(value):
            raise Unsupported("infinity is no residue")
        above, below = float(value).as_integer_ratio() if isinstance(value, float) else (value, 1)
        return np.asarray(above * pow(below, -1, PRIME) % PRIME, dtype=np.int64)

    def from_integers(self, array: Array) -> Array:
        """Integers as residues."""
        wide = array.astype(np.uint64 if array.dtype.kind == "u" else np.int64)
        return (wide % PRIME).astype(np.int64)

    def add(self, left: Array, right: Array) -> Array:
        """Sums."""
        return np.asarray((left + right) % PRIME)

    def mul(self, left: Array, right: Array) -> Array:
        """Products, each reduced before anything is added to it."""
        return np.asarray(left * right % PRIME)

    def neg(self, array: Array) -> Array:
        """Negatives."""
        return np.asarray(-array % PRIME)

    def div(self, left: Array, right: Array) -> Array:
        """Products with the inverse; 0 has 0."""
        return self.mul(left, self._power(right, PRIME - 2))

    def sum(self, array: Array, axes: tuple[int, ...]) -> Array:
        """Sums; fewer than 2**32 terms fit 64 bits."""
        return super().sum(array, axes) % PRIME

    def matmul(self, left: Array, right: Array) -> Array:
        """The left side in parts of 16 bits, of which sums of products fit 64 bits."""
        high, low = np.matmul(left >> 16, right), np.matmul(left & 0xFFFF, right)
        return np.asarray(((high % PRIME << 16) + low) % PRIME)

    def function(self, name: str, apply: Callable[..., Array], *arrays: Array) -> Array:
        """A random function of the residues."""
        self.applied += max(array.size for array in arrays)
        digest = hashlib.blake2b(f"{self.seed} {name}".encode(), digest_size=8).digest()
        mixed = np.asarray(np.uint64(int.from_bytes(digest, "big")))
        for array in arrays:
            mixed = _scramble(mixed ^ _scramble(array.astype(np.uint64)))
        return np.asarray(mixed % np.uint64(PRIME)).astype(np.int64)

    @property
    def ordered(self) -> bool:
        """Residues have no order."""
        return False

    def _power(self, base: Array, exponent: int) -> Array:
        result = np.ones_like(base)
        while exponent:
            if exponent & 1:
                result = self.mul(result, base)
            base = self.mul(base, base)
            exponent >>= 1
        return result


def _scramble(array: Array) -> Array:
    """The finaliser of splitmix64: a permutation of 64-bit numbers that mixes well."""
    with np.errstate(over="ignore"):
        mixed = array + np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        return np.asarray(mixed ^ (mixed >> np.uint64(31)))


#: Below, products of a few integers are whole numbers of float64.
_EXACT_INTEGERS = 2**10
#: Functions that take multiples of 1/4 to multiples of 1/4.
_EXACT = frozenset(
    ("Relu", "Abs", "Sign", "Floor", "Ceil", "Round", "Max", "Min", "Clip", "Neg", "Identity")
)


class Reals(Arithmetic):
    """float64; `exact` as long as every result was; `largest`: the largest integer that became a
    real, beside which sums round."""

    def __init__(self) -> None:
        self.exact = True
        self.largest = 0.0

    def from_integers(self, array: Array) -> Array:
        """Integers as reals."""
        found = array.astype(np.float64)
        self.largest = max(self.largest, float(np.max(np.abs(found), initial=0.0)))
        self.exact &= self.largest < _EXACT_INTEGERS
        return found

    def constant(self, value: float | int) -> Array:
        """The number."""
        return np.asarray(value, dtype=np.float64)

    def add(self, left: Array, right: Array) -> Array:
        """Sums."""
        return np.asarray(left + right)

    def mul(self, left: Array, right: Array) -> Array:
        """Products."""
        return np.asarray(left * right)

    def neg(self, array: Array) -> Array:
        """Negatives."""
        return np.asarray(-array)

    def div(self, left: Array, right: Array) -> Array:
        """Quotients."""
        self.exact = False
        return np.asarray(left / right)

    def function(self, name: str, apply: Callable[..., Array], *arrays: Array) -> Array:
        """The function itself."""
        self.exact &= name.partition(" ")[0] in _EXACT
        return np.asarray(apply(*arrays))


class Native(Arithmetic):
    """An element type of numpy as it is; integers wrap."""

    def __init__(self, dtype: np.dtype[Any]) -> None:
        self.numpy = dtype
        self.is_float = dtype.kind not in "iub"

    def constant(self, value: float | int) -> Array:
        """The number, rounded."""
        return np.asarray(value).astype(self.numpy)

    def from_integers(self, array: Array) -> Array:
        """The numbers, rounded."""
        return array.astype(self.numpy)

    def add(self, left: Array, right: Array) -> Array:
        """Sums."""
        return np.asarray(left + right, dtype=self.numpy)

    def mul(self, left: Array, right: Array) -> Array:
        """Products."""
        return np.asarray(left * right, dtype=self.numpy)

    def neg(self, array: Array) -> Array:
        """Negatives."""
        return np.asarray(-array, dtype=self.numpy)

    def sum(self, array: Array, axes: tuple[int, ...]) -> Array:
        """Sums in the order of the elements, each rounded."""
        for axis in axes:
            total = np.zeros_like(array.take([], axis=axis).sum(axis=axis, keepdims=True))
            parts = [array.take([i], axis=axis) for i in range(array.shape[axis])]
            if parts:
                total = parts[0]
            for part in parts[1:]:
                total = self.add(total, part)
            array = total.astype(array.dtype, copy=False)
        return array

    def matmul(self, left: Array, right: Array) -> Array:
        """Products of matrices, added one by one."""
        size = left.shape[-1]
        batch = np.broadcast_shapes(left.shape[:-2], right.shape[:-2])
        total = np.zeros((*batch, left.shape[-2], right.shape[-1]), dtype=left.dtype)
        for index in range(size):
            term = self.mul(left[..., :, index : index + 1], right[..., index : index + 1, :])
            total = term if index == 0 else self.add(total, term)
        return total

    def div(self, left: Array, right: Array) -> Array:
        """Quotients; those of integers are rounded towards zero, and by zero they are 0."""
        if self.is_float:
            return np.asarray(left / right, dtype=self.numpy)
        safe = np.where(right == 0, 1, right)
        down = left // safe
        towards_zero = down + ((left % safe != 0) & ((left < 0) ^ (safe < 0)))
        return np.where(right == 0, 0, towards_zero).astype(self.numpy)

    def function(self, name: str, apply: Callable[..., Array], *arrays: Array) -> Array:
        """The function, computed in float64 and rounded once; integers stay integers."""
        if not self.is_float:
            return np.asarray(apply(*arrays)).astype(self.numpy)
        return np.asarray(apply(*[a.astype(np.float64) for a in arrays])).astype(self.numpy)


@dataclass
class Scheme:
    """`floats` is the arithmetic of float types, or None: then each has its own."""

    name: str
    floats: Arithmetic | None
    _natives: dict[DType, Arithmetic] = field(default_factory=dict)

    def of(self, dtype: DType) -> Arithmetic:
        """The arithmetic of an element type."""
        if self.floats is not None and dtype.is_float:
            return self.floats
        if dtype not in self._natives:
            self._natives[dtype] = Native(numpy_type(dtype))
        return self._natives[dtype]

    def storage(self, dtype: DType) -> np.dtype[Any]:
        """The numpy type that holds contents of an element type."""
        if self.floats is None or not dtype.is_float:
            return numpy_type(dtype)
        return np.dtype(np.int64 if isinstance(self.floats, Residues) else np.float64)

    @property
    def is_symbolic(self) -> bool:
        """Float elements stand for reals, and have no order."""
        return isinstance(self.floats, Residues)

    @property
    def is_exact(self) -> bool:
        """Nothing was rounded."""
        return isinstance(self.floats, Residues) or (
            isinstance(self.floats, Reals) and self.floats.exact
        )


def residues(seed: int) -> Scheme:
    """Reals stand as residues."""
    return Scheme("modular", Residues(seed))


def reals() -> Scheme:
    """Reals stand as float64."""
    return Scheme("float64", Reals())


def native() -> Scheme:
    """Every element type as it is."""
    return Scheme("native", None)
