"""Residues against Python's whole numbers; quotients of integers; what counts as exact."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

from tensat_dl.soundness.arithmetic import PRIME, Native, Reals, Residues, Unsupported

LARGE = np.array([[PRIME - 1, PRIME - 2, PRIME - 3], [PRIME - 4, 2**30 + 7, PRIME - 6]])


def test_the_prime_is_one_and_above_two_to_the_thirty() -> None:
    assert PRIME > 2**30
    assert all(pow(base, PRIME - 1, PRIME) == 1 for base in (2, 3, 5, 7, 11, 13))  # Fermat


def test_products_of_matrices_do_not_overflow() -> None:
    """Three products of nearly 2**62 each would not fit 64 bits."""
    left, right = LARGE, LARGE.T
    expected = [
        [sum(int(a) * int(b) for a, b in zip(row, column, strict=True)) % PRIME for column in left]
        for row in left
    ]
    assert Residues(0).matmul(left, right).tolist() == expected


def test_sums_along_axes() -> None:
    expected = [[sum(map(int, row)) % PRIME] for row in LARGE]
    assert Residues(0).sum(LARGE, (1,)).tolist() == expected


@pytest.mark.parametrize("number", [0.375, -2.5, 1e-5, 3, -7, 0])
def test_a_number_is_a_fraction(number: float) -> None:
    fraction = Fraction(number)
    found = int(Residues(0).constant(number))
    assert found * fraction.denominator % PRIME == fraction.numerator % PRIME


def test_a_quotient_times_the_divisor() -> None:
    field = Residues(0)
    divided = field.div(LARGE, LARGE[::-1])
    assert np.array_equal(field.mul(divided, LARGE[::-1]), LARGE)


def test_infinity_is_no_residue() -> None:
    with pytest.raises(Unsupported):
        Residues(0).constant(float("inf"))


def test_a_random_function_is_one_function() -> None:
    field = Residues(0)
    once = field.function("Relu", np.abs, LARGE)
    assert np.array_equal(once[:, ::-1], field.function("Relu", np.abs, LARGE[:, ::-1]))
    assert not np.any(once == field.function("Exp", np.abs, LARGE))
    assert not np.any(once == Residues(1).function("Relu", np.abs, LARGE))
    assert len(set(once.reshape(-1).tolist())) == LARGE.size


def test_quotients_of_integers_are_cut_towards_zero() -> None:
    integers = Native(np.dtype(np.int32))
    left = np.array([7, -7, 7, -7, 6, 5], dtype=np.int32)
    right = np.array([2, 2, -2, -2, -3, 0], dtype=np.int32)
    assert integers.div(left, right).tolist() == [3, -3, -3, 3, -2, 0]


def test_integers_wrap() -> None:
    small = Native(np.dtype(np.int8))
    x = np.array([127], dtype=np.int8)
    assert small.add(x, x).tolist() == [-2]
    assert small.mul(x, x).tolist() == [1]  # 16129 = 63 * 256 + 1


def test_sums_of_floats_keep_the_order_of_the_terms() -> None:
    """1 is lost beside 1e8 in float32, unless both large terms meet before it."""
    singles = Native(np.dtype(np.float32))
    row = np.array([[1e8, 1.0, -1e8]], dtype=np.float32)
    ones = np.ones((3, 1), dtype=np.float32)
    assert singles.matmul(row, ones).item() == 0
    assert singles.matmul(row[:, [0, 2, 1]], ones).item() == 1


def test_what_is_computed_without_rounding() -> None:
    x = np.array([0.25, -1.5])
    reals = Reals()
    reals.function("Relu", np.abs, reals.mul(x, reals.add(x, x)))
    assert reals.exact
    reals.function("Exp", np.exp, x)
    assert not reals.exact
    quotients = Reals()
    quotients.div(x, x)
    assert not quotients.exact
