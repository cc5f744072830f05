"""Einsum: products of elements whose letters agree, added over the letters that are left out."""

from __future__ import annotations

from collections.abc import Mapping
from functools import reduce

import numpy as np

from tensat_dl.soundness.arithmetic import Array, Unsupported
from tensat_dl.soundness.operators.call import Call, Evaluator
from tensat_dl.vocabulary.equations import read_equation


def _einsum(call: Call) -> list[Array]:
    equation = read_equation(call.text("equation"))
    terms, result = equation.terms, equation.result
    if equation.has_ellipsis or any(len(set(term)) < len(term) for term in terms):
        raise Unsupported("an ellipsis or a diagonal")
    letters = result + "".join(sorted(set("".join(terms)) - set(result)))
    arithmetic = call.arithmetic
    spread = [_spread(array, term, letters) for array, term in zip(call.given, terms, strict=True)]
    product = reduce(arithmetic.mul, np.broadcast_arrays(*spread))
    summed = tuple(range(len(result), len(letters)))
    return [arithmetic.sum(product, summed).reshape(call.result_dims())]


def _spread(array: Array, term: str, letters: str) -> Array:
    """An axis for each letter, of size 1 where the term lacks it."""
    order = [term.index(letter) for letter in letters if letter in term]
    sizes = iter([array.shape[axis] for axis in order])
    dims = [next(sizes) if letter in term else 1 for letter in letters]
    return array.transpose(order).reshape(dims)


EVALUATORS: Mapping[str, Evaluator] = {"Einsum": _einsum}
