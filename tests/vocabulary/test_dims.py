"""The algebra of dims against numbers: substitute, compute, compare."""

from __future__ import annotations

import pickle
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from tensat_dl.vocabulary import dims
from tensat_dl.vocabulary.dims import Dim, symbol

NAMES = ("K", "M", "N")
N, K, M = symbol("N"), symbol("K"), symbol("M")
NUMBERS = st.fixed_dictionaries({name: st.integers(0, 40) for name in NAMES})

# An expression tree is evaluated twice: on dims, and on Python ints.
LEAVES = st.one_of(st.integers(-7, 9), st.sampled_from(NAMES))
TREES = st.recursive(
    LEAVES,
    lambda inner: st.tuples(
        st.sampled_from(["+", "-", "*", "//", "%", "min", "max"]), inner, inner
    ),
    max_leaves=7,
)
FUNCTIONS: dict[str, tuple[Callable[..., Dim], Callable[..., int]]] = {
    "+": (lambda a, b: a + b, lambda a, b: a + b),
    "-": (lambda a, b: a - b, lambda a, b: a - b),
    "*": (lambda a, b: a * b, lambda a, b: a * b),
    "//": (lambda a, b: a // b, lambda a, b: a // b),
    "%": (lambda a, b: a % b, lambda a, b: a % b),
    "min": (dims.minimum, min),
    "max": (dims.maximum, max),
}


def on_dims(tree: object) -> Dim:
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return symbol(tree)
    name, left, right = tree
    return FUNCTIONS[name][0](on_dims(left), on_dims(right))


def on_numbers(tree: object, values: dict[str, int]) -> int:
    if isinstance(tree, int):
        return tree
    if isinstance(tree, str):
        return values[tree]
    name, left, right = tree
    return FUNCTIONS[name][1](on_numbers(left, values), on_numbers(right, values))


@given(TREES, NUMBERS)
def test_arithmetic_is_that_of_numbers(tree: object, values: dict[str, int]) -> None:
    try:
        expected = on_numbers(tree, values)
        dim = on_dims(tree)
    except ZeroDivisionError:
        return
    assert dims.substitute(dim, values) == expected


@given(TREES, NUMBERS)
def test_bounds_hold(tree: object, values: dict[str, int]) -> None:
    try:
        actual = on_numbers(tree, values)
        dim = on_dims(tree)
    except ZeroDivisionError:
        return
    bound = dims.lower_bound(dim)
    # A bound may rely on no divisor being negative, as dims never are.
    negative_divisor = "//" in str(dim) and any(d < 0 for d in divisors(tree, values))
    assert bound is None or bound <= actual or negative_divisor


def divisors(tree: object, values: dict[str, int]) -> list[int]:
    if not isinstance(tree, tuple):
        return []
    here = [on_numbers(tree[2], values)] if tree[0] in ("//", "%") else []
    return here + divisors(tree[1], values) + divisors(tree[2], values)


@given(TREES, TREES, NUMBERS)
def test_decisions_hold(left: object, right: object, values: dict[str, int]) -> None:
    try:
        numbers = on_numbers(left, values), on_numbers(right, values)
        pair = on_dims(left), on_dims(right)
    except ZeroDivisionError:
        return
    if any(d < 0 for d in divisors(left, values) + divisors(right, values)):
        return
    assert not dims.definitely_equal(*pair) or numbers[0] == numbers[1]
    assert not dims.definitely_different(*pair) or numbers[0] != numbers[1]


@given(TREES)
def test_pickle_and_hash(tree: object) -> None:
    try:
        dim = on_dims(tree)
    except ZeroDivisionError:
        return
    copy = pickle.loads(pickle.dumps(dim))
    assert copy == dim
    assert hash(copy) == hash(dim)
    assert str(copy) == str(dim)


@pytest.mark.parametrize(
    ("dim", "text"),
    [
        (N + 0, "N"),
        (2 * N // 2, "N"),
        ((N * K + K) // K, "N + 1"),
        ((N + 1) // 2, "(N + 1)//2"),
        ((N - 1) // 2 + 1, "(N + 1)//2"),
        ((N // 2) // 2, "N//4"),
        ((N * N - K * K) // (N + K), "-K + N"),
        (N - N, "0"),
        (3 * N * N - 2 * M + 1, "3*N**2 - 2*M + 1"),
        (dims.minimum(dims.minimum(N, 5), 3), "min(3, N)"),
        (dims.minimum(N, N + 2), "N"),
        (dims.broadcast(dims.broadcast(N, M), N), "broadcast(M, N)"),
        (symbol("2*s0"), "`2*s0`"),
    ],
)
def test_text(dim: Dim, text: str) -> None:
    assert str(dim) == text


@pytest.mark.parametrize(
    ("left", "right", "joined"),
    [
        (1, 5, 5),
        (5, 5, 5),
        (3, 5, None),
        (0, 1, 0),
        (0, 5, None),
        (N, 1, N),
        (N, 5, 5),
        (N + 2, 1, N + 2),
        # positions are cut to the length of a text: what is longer than all positions fails
        (dims.minimum(N, 512), N, N),
        (dims.minimum(dims.minimum(N, 512), 8), N, N),
        # nothing of one is broadcast to one
        (dims.minimum(N, 0), 1, 0),
    ],
)
def test_broadcast(left: Dim, right: Dim, joined: Dim | None) -> None:
    assert dims.broadcast(left, right) == joined
    assert dims.broadcast(right, left) == joined


def test_broadcast_of_a_dim_that_is_too_large() -> None:
    assert dims.broadcast(N + 6, 5) is None


@pytest.mark.parametrize("cut", [dims.minimum(N, 1), dims.minimum(N, M), dims.minimum(M, 512)])
def test_a_cut_that_may_take_something_is_broadcast(cut: Dim) -> None:
    """Of N = 5 the first leaves 1; so does the second at M = 1; the third is of another dim."""
    assert dims.broadcast(cut, N) != N


def test_substitution_reaches_atoms() -> None:
    assert dims.substitute((N + 1) // 2 * K, {"N": 7, "K": M}) == 4 * M


def test_unknown_is_named_by_its_question() -> None:
    assert dims.unknown("NonZero(x)[1]") == dims.unknown("NonZero(x)[1]")
    assert dims.unknown("NonZero(x)[1]") != dims.unknown("NonZero(y)[1]")
    assert dims.is_unknown(dims.unknown("q") * 2 + N)
    assert not dims.is_unknown(N)


def test_ambiguous_dims_are_never_taken_for_equal() -> None:
    some = dims.unknown("NonZero(f32[4])[1]", ambiguous=True)
    assert dims.is_ambiguous(some + 1)
    assert dims.is_unknown(some)
    assert not dims.definitely_equal(some, some)
    assert not dims.definitely_different(some, some + 1)
    assert dims.broadcast(some, some) != some
    assert dims.broadcast(some, 1) == some
