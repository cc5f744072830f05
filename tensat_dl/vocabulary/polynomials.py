"""Polynomials with integer coefficients over named symbols: the arithmetic of dims.

What is not a polynomial (an inexact division, `min`, `max`, a broadcast of two symbols) becomes
an *atom* named by its expression, so that equal questions have equal dims.  Decisions:

* every symbol stands for an integer >= 0, and a divisor is never 0;
* division by a number is normalised: `(N - 1)//2 + 1` and `(N + 1)//2` are one dim, and so are
  `(N//2)//2` and `N//4`;
* `a % b` is `a - b*(a//b)`, so that quotient and remainder always add up;
* dims have no `<`: whether one is smaller may be unknown, see `dims.lower_bound`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from math import gcd


@dataclass(frozen=True)
class Symbol:
    """A named dim."""

    name: str

    def __str__(self) -> str:
        plain = self.name.removeprefix("?").replace(".", "_").isidentifier()
        return self.name if plain or self.name.startswith("?") else f"`{self.name}`"


@dataclass(frozen=True)
class Call:
    """An atom that is not a symbol: `function` is one of `//`, `min`, `max`, `broadcast`."""

    function: str
    args: tuple[Dim, ...]

    def __str__(self) -> str:
        if self.function == "//":
            return "//".join(_operand(arg) for arg in self.args)
        return f"{self.function}({', '.join(map(str, self.args))})"


Atom = Symbol | Call

#: Atoms with their powers, sorted by text; the constant term has the empty monomial.
Monomial = tuple[tuple[Atom, int], ...]


class SymbolicDim:
    """A polynomial that is not a constant; immutable, hashable, pickles.

    Arithmetic gives an `int` where the result is constant.
    """

    __slots__ = ("_hash", "_text", "terms")

    terms: tuple[tuple[Monomial, int], ...]

    def __init__(self, terms: tuple[tuple[Monomial, int], ...]) -> None:
        """`terms` must be normalised; make dims with :func:`symbol` and arithmetic."""
        self.terms = terms
        self._hash = hash(terms)
        self._text = ""

    def __reduce__(self) -> tuple[type[SymbolicDim], tuple[tuple[tuple[Monomial, int], ...]]]:
        return SymbolicDim, (self.terms,)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SymbolicDim):
            return False
        return self is other or (self._hash == other._hash and self.terms == other.terms)

    def __hash__(self) -> int:
        return self._hash

    def __str__(self) -> str:
        if not self._text:
            self._text = _text_of(self.terms)
        return self._text

    def __repr__(self) -> str:
        return f"SymbolicDim({self})"

    def __add__(self, other: Dim) -> Dim:
        total = dict(self.terms)
        for monomial, factor in _terms(other):
            total[monomial] = total.get(monomial, 0) + factor
        return _normal(total)

    def __mul__(self, other: Dim) -> Dim:
        total: dict[Monomial, int] = {}
        for left, left_factor in self.terms:
            for right, right_factor in _terms(other):
                monomial = _product(left, right)
                total[monomial] = total.get(monomial, 0) + left_factor * right_factor
        return _normal(total)

    def __neg__(self) -> Dim:
        return self * -1

    def __sub__(self, other: Dim) -> Dim:
        return self + other * -1

    def __rsub__(self, other: int) -> Dim:
        return self * -1 + other

    def __floordiv__(self, other: Dim) -> Dim:
        return _quotient(self, other)

    def __rfloordiv__(self, other: int) -> Dim:
        return _quotient(other, self)

    def __mod__(self, other: Dim) -> Dim:
        return self - _quotient(self, other) * other

    def __rmod__(self, other: int) -> Dim:
        return other - _quotient(other, self) * self

    __radd__ = __add__
    __rmul__ = __mul__

    def symbols(self) -> frozenset[str]:
        """Names of all symbols in it, those inside atoms included."""
        found: set[str] = set()
        for monomial, _ in self.terms:
            for atom, _ in monomial:
                found |= _atom_symbols(atom)
        return frozenset(found)

    @property
    def is_unknown(self) -> bool:
        """It depends on a symbol that stands for an unknown dim."""
        return any(name.startswith("?") for name in self.symbols())


Dim = int | SymbolicDim


def atom_dim(atom: Atom) -> SymbolicDim:
    """The dim that is one atom."""
    return SymbolicDim(((((atom, 1),), 1),))


def only_atom(dim: Dim) -> Atom | None:
    """The atom that `dim` is, where it is nothing else."""
    if isinstance(dim, int) or len(dim.terms) != 1:
        return None
    monomial, factor = dim.terms[0]
    return monomial[0][0] if factor == 1 and len(monomial) == 1 and monomial[0][1] == 1 else None


def _atom_symbols(atom: Atom) -> frozenset[str]:
    if isinstance(atom, Symbol):
        return frozenset((atom.name,))
    parts = (arg.symbols() for arg in atom.args if isinstance(arg, SymbolicDim))
    return frozenset().union(*parts)


# --- normal form ----------------------------------------------------------------------------


def _terms(dim: Dim) -> tuple[tuple[Monomial, int], ...]:
    return dim.terms if isinstance(dim, SymbolicDim) else ((((), dim),) if dim else ())


def _normal(total: Mapping[Monomial, int]) -> Dim:
    terms = [(monomial, factor) for monomial, factor in total.items() if factor]
    if not terms:
        return 0
    if len(terms) == 1 and not terms[0][0]:
        return terms[0][1]
    terms.sort(key=lambda term: _monomial_key(term[0]))
    return SymbolicDim(tuple(terms))


@lru_cache(maxsize=16384)
def _monomial_key(monomial: Monomial) -> tuple[int, str]:
    return -sum(power for _, power in monomial), _monomial_text(monomial)


def _product(left: Monomial, right: Monomial) -> Monomial:
    if not left or not right:
        return left or right
    powers = dict(left)
    for atom, power in right:
        powers[atom] = powers.get(atom, 0) + power
    return tuple(sorted(powers.items(), key=lambda item: str(item[0])))


def _monomial_text(monomial: Monomial) -> str:
    return "*".join(_factor_text(atom, power) for atom, power in monomial)


def _factor_text(atom: Atom, power: int) -> str:
    text = f"({atom})" if isinstance(atom, Call) and atom.function == "//" else str(atom)
    return text if power == 1 else f"{text}**{power}"


def _text_of(terms: tuple[tuple[Monomial, int], ...]) -> str:
    if len(terms) == 1 and terms[0][1] == 1 and len(terms[0][0]) == 1 and terms[0][0][0][1] == 1:
        return str(terms[0][0][0][0])
    text = ""
    for monomial, factor in terms:
        size = str(abs(factor)) if abs(factor) != 1 or not monomial else ""
        body = "*".join(part for part in (size, _monomial_text(monomial)) if part)
        sign = ("-" if factor < 0 else "") if not text else (" - " if factor < 0 else " + ")
        text += sign + body
    return text


def _operand(dim: Dim) -> str:
    text = str(dim)
    return text if text.isidentifier() or text.isdigit() else f"({text})"


# --- division -------------------------------------------------------------------------------


def _quotient(left: Dim, right: Dim) -> Dim:
    if isinstance(right, int):
        return _quotient_by_number(left, right)
    exact, rest = _divide_terms(left, right)
    return exact if rest == 0 else exact + atom_dim(Call("//", (rest, right)))


def _quotient_by_number(left: Dim, divisor: int) -> Dim:
    if isinstance(left, int):
        return left // divisor
    if divisor < 0:
        return _quotient_by_number(-left, -divisor)
    if divisor == 1:
        return left
    whole = _normal({monomial: factor // divisor for monomial, factor in left.terms})
    rest = left - whole * divisor
    return whole + (rest // divisor if isinstance(rest, int) else _proper_quotient(rest, divisor))


def _proper_quotient(rest: SymbolicDim, divisor: int) -> Dim:
    """`rest//divisor`, all coefficients of `rest` being within 0 and `divisor`."""
    common = gcd(divisor, *(factor for monomial, factor in rest.terms if monomial))
    if common > 1:
        parts = {monomial: factor // common for monomial, factor in rest.terms}
        return _quotient_by_number(_normal(parts), divisor // common)
    constant = dict(rest.terms).get((), 0)
    inner = only_atom(rest - constant)
    if isinstance(inner, Call) and inner.function == "//" and isinstance(inner.args[1], int):
        numerator, inner_divisor = inner.args[0], inner.args[1]
        return _quotient_by_number(numerator + constant * inner_divisor, divisor * inner_divisor)
    return atom_dim(Call("//", (rest, divisor)))


def _divide_terms(left: Dim, right: SymbolicDim) -> tuple[Dim, Dim]:
    """(q, r) with left = q*right + r; r is 0 or has no term that right's first term divides."""
    quotient: Dim = 0
    rest = left
    remainder: Dim = 0
    (lead, lead_factor) = right.terms[0]
    while isinstance(rest, SymbolicDim):
        monomial, factor = rest.terms[0]
        reduced = _divide_monomial(monomial, lead)
        term = _normal({monomial: factor})
        if reduced is None or factor % lead_factor:
            remainder, rest = remainder + term, rest - term
            continue
        step = _normal({reduced: factor // lead_factor})
        quotient, rest = quotient + step, rest - step * right
    remainder = remainder + rest
    single = len(right.terms) == 1
    return (quotient, remainder) if single or remainder == 0 else (0, left)


def _divide_monomial(monomial: Monomial, divisor: Monomial) -> Monomial | None:
    powers = dict(monomial)
    for atom, power in divisor:
        powers[atom] = powers.get(atom, 0) - power
        if powers[atom] < 0:
            return None
    return tuple((atom, power) for atom, power in powers.items() if power)
