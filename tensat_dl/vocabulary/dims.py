"""Dims of tensors: integers or polynomials, what they are named by, and what is certain of them.

Every symbol stands for an integer >= 0.  Symbols whose name begins with "?" stand for unknown
dims, named by the question that would have to be answered (:func:`unknown`).  Where the question
does not settle the answer (how many elements of *some* f32[4] are not 0) the name begins with
"??": such a dim is *ambiguous*, and two occurrences of one name need not be equal.
The arithmetic itself stands in `polynomials`.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import lru_cache

from tensat_dl.vocabulary.polynomials import (
    Atom,
    Call,
    Dim,
    Symbol,
    SymbolicDim,
    atom_dim,
    only_atom,
)

__all__ = ["Dim", "SymbolicDim"]


@lru_cache(maxsize=4096)
def symbol(name: str) -> SymbolicDim:
    """The dim named `name`."""
    return SymbolicDim(((((Symbol(name), 1),), 1),))


def unknown(question: str, *, ambiguous: bool = False) -> SymbolicDim:
    """The symbol of an unknown dim: equal for equal questions."""
    mark = "??" if ambiguous else "?"
    return symbol(mark + hashlib.blake2s(question.encode(), digest_size=6).hexdigest())


def is_ambiguous(dim: Dim) -> bool:
    """It depends on a symbol whose occurrences need not be equal."""
    if isinstance(dim, int):
        return False
    return any(name.startswith("??") for name in dim.symbols())


def substitute(dim: Dim, values: Mapping[str, Dim]) -> Dim:
    """`dim` with symbols replaced by dims, also inside atoms; numbers stay.

    Raises ZeroDivisionError where a divisor becomes 0.
    """
    if isinstance(dim, int):
        return dim
    total: Dim = 0
    for monomial, factor in dim.terms:
        product: Dim = factor
        for atom, power in monomial:
            value = _atom_value(atom, values)
            for _ in range(power):
                product = product * value
        total = total + product
    return total


def is_unknown(dim: Dim) -> bool:
    """It is not a number and depends on an unknown symbol."""
    return isinstance(dim, SymbolicDim) and dim.is_unknown


def minimum(left: Dim, right: Dim) -> Dim:
    """The smaller one; an atom where that is not decided."""
    if is_nonnegative(right - left):
        return left
    return right if is_nonnegative(left - right) else _call("min", left, right)


def maximum(left: Dim, right: Dim) -> Dim:
    """The larger one; an atom where that is not decided."""
    if is_nonnegative(left - right):
        return left
    return right if is_nonnegative(right - left) else _call("max", left, right)


def broadcast(left: Dim, right: Dim) -> Dim | None:
    """The dim that two dims broadcast to, or None where they cannot.

    A number other than 1 wins over a symbol: the symbol is then 1 or that number.  And a dim wins
    over what is left of it behind a cut, as of positions for a text: the cut then took nothing.
    """
    if right == 1 or definitely_equal(left, right) or _is_cut(right, left):
        return left
    if left == 1 or _is_cut(left, right):
        return right
    if isinstance(left, int):
        return (
            None if definitely_different(right, 1) and definitely_different(left, right) else left
        )
    if isinstance(right, int):
        return (
            None if definitely_different(left, 1) and definitely_different(left, right) else right
        )
    return _call("broadcast", left, right)


def _is_cut(part: Dim, whole: Dim) -> bool:
    """`part` is the smaller of `whole` and numbers above 1: they broadcast where it is `whole`,
    and nowhere else.  (Where `whole` is 1, or `part`, so is the other one.)"""
    atom = only_atom(part)
    if not isinstance(atom, Call) or atom.function != "min" or is_ambiguous(whole):
        return False
    others = [arg for arg in atom.args if arg != whole]
    return len(others) < len(atom.args) and all(isinstance(o, int) and o > 1 for o in others)


def lower_bound(dim: Dim) -> int | None:
    """A number that `dim` is never below, or None where none is seen."""
    if isinstance(dim, int):
        return dim
    bound = 0
    for monomial, factor in dim.terms:
        if not monomial:
            bound += factor
            continue
        if factor < 0 or any((_atom_bound(atom) or 0) < 0 for atom, _ in monomial):
            return None
        least = 1
        for atom, power in monomial:
            atom_bound = _atom_bound(atom)
            if atom_bound is None:
                return None
            least *= atom_bound**power
        bound += factor * least
    return bound


def is_nonnegative(dim: Dim) -> bool:
    """Certainly >= 0."""
    bound = lower_bound(dim)
    return bound is not None and bound >= 0


def is_positive(dim: Dim) -> bool:
    """Certainly > 0."""
    bound = lower_bound(dim)
    return bound is not None and bound > 0


def definitely_equal(left: Dim, right: Dim) -> bool:
    """Equal whatever the symbols stand for."""
    return left == right and not is_ambiguous(left)


def definitely_different(left: Dim, right: Dim) -> bool:
    """Different whatever numbers >= 0 the symbols stand for."""
    if is_ambiguous(left) and is_ambiguous(right):
        return False
    difference = left - right
    return is_positive(difference) or is_positive(-difference)


# --- atoms ----------------------------------------------------------------------------------


def _call(function: str, *args: Dim) -> SymbolicDim:
    """A symmetric, associative, idempotent atom: nested ones are flattened, operands sorted."""
    flat: list[Dim] = []
    for arg in args:
        only = only_atom(arg)
        nested = isinstance(only, Call) and only.function == function
        for part in only.args if isinstance(only, Call) and nested else (arg,):
            if part not in flat or is_ambiguous(part):
                flat.append(part)
    numbers = [arg for arg in flat if isinstance(arg, int)]
    if numbers:
        best = min(numbers) if function == "min" else max(numbers)
        flat = [best, *(arg for arg in flat if isinstance(arg, SymbolicDim))]
    return atom_dim(Call(function, tuple(sorted(flat, key=str))))


def _atom_bound(atom: Atom) -> int | None:
    if isinstance(atom, Symbol):
        return 0
    bounds = [lower_bound(arg) for arg in atom.args]
    if atom.function == "//":
        return 0 if is_nonnegative(atom.args[0]) and is_positive_divisor(atom.args[1]) else None
    known = [bound for bound in bounds if bound is not None]
    if atom.function == "max":
        return max(known, default=None)
    if len(known) < len(bounds):
        return None
    return min(known)


def is_positive_divisor(dim: Dim) -> bool:
    """Certainly > 0, given that a divisor is never 0."""
    return is_nonnegative(dim)


def _atom_value(atom: Atom, values: Mapping[str, Dim]) -> Dim:
    if isinstance(atom, Symbol):
        return values[atom.name] if atom.name in values else atom_dim(atom)
    result, *others = (substitute(arg, values) for arg in atom.args)
    for other in others:
        result = _CALLS[atom.function](result, other)
    return result


def _broadcast_value(left: Dim, right: Dim) -> Dim:
    joined = broadcast(left, right)
    return maximum(left, right) if joined is None else joined


_CALLS: Mapping[str, Callable[[Dim, Dim], Dim]] = {
    "//": lambda left, right: left // right,
    "min": minimum,
    "max": maximum,
    "broadcast": _broadcast_value,
}
