"""Evaluation: values derived by hand, from Python, or from what symbols may stand for."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given, settings, strategies as st

from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.language.evaluate import UNKNOWN, Environment, Value, evaluate, holds, match_type
from tensat_dl.language.program import Function
from tensat_dl.language.values import as_attribute, as_dtype, equal
from tensat_dl.syntax import ast
from tensat_dl.syntax.parse import parse
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dims import symbol
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import AttributeKind
from tensat_dl.vocabulary.types import ABSENT, OtherType, TensorType

N, M = symbol("N"), symbol("M")
TENSORS: Mapping[str, Value] = {
    "x": TensorType(DType.F32, (2, 3, 4)),
    "s": TensorType(DType.F16, (N, 3)),
    "u": TensorType(DType.F32, None),
    "shape0": TensorType(DType.I64, (3,), (0, N, -1)),
    "zero_d": TensorType(DType.I64, (), (7,)),
    "packed": TensorType(DType.I4, (3,)),
    "absent": ABSENT,
    "other": OtherType("seq(tensor(float))"),
    "xs": (TensorType(DType.F32, (2,)), TensorType(DType.F32, (N, 1))),
    "n": N,
    "m": M,
    "p": (2, 0, 1),
    "attrs": Attributes.of({"axis": 1}),
    "third": 0.3333333432674408,
    "B": (2, N),
}


def expression(text: str) -> ast.Expr:
    diagnostics = Diagnostics()
    module = parse(SourceFile("e", f"rewrite r: Relu(x) => x where {text}"), diagnostics)
    assert module is not None, [d.message for d in diagnostics]
    (item,) = module.items
    assert isinstance(item, ast.Rewrite)
    return item.where[0]


def value(text: str, names: Mapping[str, Value] = TENSORS) -> Value:
    return evaluate(expression(text), Environment(names, FUNCTIONS))


def type_expr(text: str) -> ast.TypeExpr:
    module = parse(SourceFile("t", f"rewrite r: Relu(x: {text}) => x"), Diagnostics())
    assert module is not None
    (item,) = module.items
    assert isinstance(item, ast.Rewrite) and isinstance(item.left, ast.Call)
    (arg,) = item.left.args
    assert isinstance(arg, ast.Ascribed)
    return arg.type


FUNCTIONS = {
    "pad": Function("pad", ("k", "d"), expression("d * (k - 1) // 2")),
    "nested": Function("nested", ("k",), expression("pad(k, 2) + 1")),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # of tensors
        ("rank(x)", 3),
        ("rank(u)", UNKNOWN),
        ("rank(absent)", UNKNOWN),
        ("rank(other)", UNKNOWN),
        ("rank(xs)", (1, 2)),
        ("shape(x)", (2, 3, 4)),
        ("shape(s)", (N, 3)),
        ("dim(x, -1)", 4),
        ("dim(x, 3)", UNKNOWN),
        ("dim(s, 0)", N),
        ("dtype(x)", DType.F32),
        ("dtype(x) == f32", True),
        ("dtype(s) == f32", False),
        ("dtype(s) in [f32, f16]", True),
        ("numel(x)", 24),
        ("numel(s)", N * 3),
        ("bytes(x)", 96),
        ("bytes(packed)", 2),
        ("bytes(s)", N * 6),
        ("value(shape0)", (0, N, -1)),
        ("value(zero_d)", 7),
        ("value(x)", UNKNOWN),
        ("known(shape0)", True),
        ("known(x)", UNKNOWN),
        ("known(n)", UNKNOWN),
        ("known(3)", True),
        ("not known(x)", UNKNOWN),
        ("const(shape0)", UNKNOWN),
        ("const(zero_d)", True),
        ("scalar(zero_d)", True),
        ("scalar(x)", False),
        ("scalar(s)", UNKNOWN),  # that 3 * N is never 1 takes number theory
        ("like(x)", TensorType(DType.F32, (2, 3, 4))),
        ("like(shape0)", TensorType(DType.I64, (3,))),
        ("like(x, [n, 2])", TensorType(DType.F32, (N, 2))),
        ("like(x, [2], f16)", TensorType(DType.F16, (2,))),
        ("like(s) == like(s)", True),
        ("like(s) == like(x)", False),
        # arithmetic
        ("7 // 2", 3),
        ("-7 // 2", -4),
        ("-7 % 3", 2),
        ("1 / 4", 0.25),
        ("1 // 0", UNKNOWN),
        ("1 % 0", UNKNOWN),
        ("1 / 0", UNKNOWN),
        ("2 ** 10", 1024),
        ("2 ** -1", 0.5),
        ("0 ** -1", UNKNOWN),
        ("2 ** 100_000", UNKNOWN),
        ("1e300 * 1e300 // 1", UNKNOWN),
        ("n + n", N * 2),
        ("n - n", 0),
        ("(4 * n + 6) // 2", N * 2 + 3),
        ("n // m", UNKNOWN),  # m may be 0
        ("6 // (m + 1) == 6 // (m + 1)", True),
        ("n * 0.5", UNKNOWN),
        ("n ** 2 == n * n", True),
        ("[1] + [2, n]", (1, 2, N)),
        ('1 + "a"', UNKNOWN),
        ("-n", N * -1),
        # comparisons
        ("1 == 1.0", True),
        ("third == 0.33333334", True),
        ("third == 0.3334", False),
        ("n == n", True),
        ("n == n + 1", False),
        ("n == m", UNKNOWN),
        ("n == 3", UNKNOWN),
        ("n >= 0", True),
        ("n >= 1", UNKNOWN),
        ("n < 0", False),
        ("n + 1 > n", True),
        ("n + m + 1 > n", True),
        ("2 * n >= n", True),
        ("2 * n > n", UNKNOWN),
        ("-1 == n", False),
        ("0 <= 1 < 2 <= 2", True),
        ("0 <= 1 < 1", False),
        ("[1, n] == [1, n]", True),
        ("[1, n] == [2, n]", False),
        ("[1, n] == [1, m]", UNKNOWN),
        ("[1] == [1, n]", False),
        ('"a" == "a"', True),
        ('"a" == 1', False),
        ('"a" < 1', UNKNOWN),
        ("0 not in value(shape0)", False),
        ("5 in value(shape0)", UNKNOWN),
        ("5 in [1, 2]", False),
        ("1 in 2", UNKNOWN),
        ("attrs == attrs", True),
        # logic
        ("n == 3 or true", True),
        ("n == 3 and false", False),
        ("n == 3 and true", UNKNOWN),
        ("not n == 3", UNKNOWN),
        ("not (n >= 0)", False),
        ("1 and true", UNKNOWN),
        ("if n >= 0 then 1 else 2", 1),
        ("if n == 1 then 1 else 2", UNKNOWN),
        ("if n == 1 then 5 else 5", 5),
        # lists
        ("[*B, 7]", (2, N, 7)),
        ("[*n]", UNKNOWN),
        ("p[0]", 2),
        ("p[-1]", 1),
        ("p[3]", UNKNOWN),
        ("p[n]", UNKNOWN),
        ("p[1:]", (0, 1)),
        ("p[:-1]", (2, 0)),
        ("p[5:9]", ()),
        ("len(p)", 3),
        ("sum(p)", 3),
        ("sum([])", 0),
        ("prod(B)", N * 2),
        ("prod([])", 1),
        ("min(3, 1, 2)", 1),
        ("max(p)", 2),
        ("max(n, n + 1)", N + 1),
        ("min(n, 3)", UNKNOWN),
        ("min([])", UNKNOWN),
        ("abs(-3)", 3),
        ("abs(n)", N),
        ("abs(n - 1)", UNKNOWN),
        ("range(3)", (0, 1, 2)),
        ("range(1, 6, 2)", (1, 3, 5)),
        ("range(1, 6, 0)", UNKNOWN),
        ("range(n)", UNKNOWN),
        ("range(1_000_000)", UNKNOWN),
        ("compose([2, 0, 1], [1, 2, 0])", (0, 1, 2)),
        ("compose([1, 0], [2, 0])", UNKNOWN),
        ("inverse(p)", (1, 2, 0)),
        ("inverse([0, 0])", UNKNOWN),
        ("normal_axis(-1, 3)", 2),
        ("normal_axis(-1, x)", 2),
        ("normal_axis([0, -1], 3)", (0, 2)),
        ("normal_axis(3, 3)", UNKNOWN),
        ("normal_axis(0, u)", UNKNOWN),
        ("broadcast([2, 1], [3])", (2, 3)),
        ("broadcast(x, [1, 4])", (2, 3, 4)),
        ("broadcast([n, 1], [n, 5])", (N, 5)),
        ("broadcast([n], [5])", UNKNOWN),  # n may be 1 or 5
        ("broadcast([2], [3])", UNKNOWN),
        ("broadcast(u, x)", UNKNOWN),
        # functions
        ("pad(5, 1)", 2),
        ("nested(3)", 3),
        ("pad(5)", UNKNOWN),
        ("missing(5)", UNKNOWN),
        ("nowhere", UNKNOWN),
    ],
)
def test_value(text: str, expected: Value) -> None:
    found = value(text)
    assert found == expected
    assert type(found) is type(expected)


@pytest.mark.parametrize(("text", "truth"), [("n >= 0", True), ("n < 0", False), ("n", None)])
def test_holds(text: str, truth: bool | None) -> None:
    assert holds(expression(text), Environment(TENSORS)) is truth


# --- types ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "actual", "answer", "bound"),
    [
        ("f32[M, K]", TensorType(DType.F32, (2, 3)), True, {"M": 2, "K": 3}),
        ("f32[M, M]", TensorType(DType.F32, (2, 3)), False, None),
        ("f32[M, M]", TensorType(DType.F32, (N, N)), True, {"M": N}),
        ("f32[M, M]", TensorType(DType.F32, (N, 3)), None, None),
        ("f32[M]", TensorType(DType.F32, (2, 3)), False, None),
        ("f16[M, K]", TensorType(DType.F32, (2, 3)), False, None),
        ("T[3]", TensorType(DType.I8, (3,)), True, {"T": DType.I8}),
        ("T[3]", TensorType(DType.I8, (N,)), None, None),
        ("_[_, 4]", TensorType(DType.I8, (N, 4)), True, {}),
        ("T[*B, M, K]", TensorType(DType.F32, (5, 6, 2, 3)), True, None),
        (
            "T[*B, M, K]",
            TensorType(DType.F32, (2, 3)),
            True,
            {"T": DType.F32, "B": (), "M": 2, "K": 3},
        ),
        ("T[*B, M, K]", TensorType(DType.F32, (3,)), False, None),
        ("T[M, *_]", TensorType(DType.F32, (3, 4, 5)), True, {"T": DType.F32, "M": 3}),
        ("T[2 * M, M]", TensorType(DType.F32, (6, 3)), True, {"T": DType.F32, "M": 3}),
        ("T[2 * M, M]", TensorType(DType.F32, (6, 4)), False, None),
        ("f32[]", TensorType(DType.F32, ()), True, {}),
        ("f32", TensorType(DType.F32, None), True, {}),
        ("f32[M]", TensorType(DType.F32, None), None, None),
        ("f16[M]", TensorType(DType.F32, None), False, None),
        ("f32[M]", OtherType("seq"), False, None),
        ("f32[M]", ABSENT, True, {}),
    ],
)
def test_match_type(
    written: str, actual: TensorType, answer: bool | None, bound: dict[str, Value] | None
) -> None:
    bindings: dict[str, Value] = {}
    assert match_type(type_expr(written), actual, bindings) is answer
    assert bound is None or bindings == bound


def test_bound_names_must_be_equal() -> None:
    bindings: dict[str, Value] = {"K": 3, "B": (2, N), "T": 1}
    assert match_type(type_expr("T[*B, K]"), TensorType(DType.F32, (2, N, 3)), bindings) is True
    assert match_type(type_expr("T[*B, K]"), TensorType(DType.F32, (2, N, 4)), bindings) is False
    assert match_type(type_expr("T[*B, K]"), TensorType(DType.F16, (2, N, 3)), bindings) is False
    assert match_type(type_expr("T[*B, K]"), TensorType(DType.F32, (2, M, 3)), bindings) is None


def test_computed_dims_may_call_functions() -> None:
    actual = TensorType(DType.F32, (5, 2))
    assert match_type(type_expr("f32[M, pad(M, 1)]"), actual, {}, FUNCTIONS) is True
    assert match_type(type_expr("f32[M, pad(M, 1)]"), actual, {}) is None


# --- attributes -----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given_value", "kind", "expected"),
    [
        (3, AttributeKind.INT, 3),
        (3.0, AttributeKind.INT, 3),
        (3.5, AttributeKind.INT, None),
        (True, AttributeKind.INT, 1),
        (DType.F16, AttributeKind.INT, 10),
        (N, AttributeKind.INT, None),
        (UNKNOWN, AttributeKind.INT, None),
        (0.1, AttributeKind.FLOAT, 0.10000000149011612),
        (2, AttributeKind.FLOAT, 2.0),
        (1e300, AttributeKind.FLOAT, None),
        ("a", AttributeKind.STRING, "a"),
        ((1, 2), AttributeKind.INTS, (1, 2)),
        ((1, N), AttributeKind.INTS, None),
        (1, AttributeKind.INTS, None),
        ((), AttributeKind.FLOATS, ()),
        (("a",), AttributeKind.STRINGS, ("a",)),
    ],
)
def test_as_attribute(given_value: Value, kind: AttributeKind, expected: object) -> None:
    assert as_attribute(given_value, kind) == expected


def test_element_types_are_their_codes() -> None:
    assert equal(DType.F32, 1) is True
    assert equal(10, DType.F32) is False
    assert as_dtype(10) is DType.F16
    assert as_dtype("f16") is None


# --- properties -----------------------------------------------------------------------------

_LEAVES = st.sampled_from(
    [
        "0",
        "1",
        "-3",
        "2.5",
        "n",
        "m",
        "p",
        "x",
        "s",
        "u",
        "true",
        '"a"',
        "[]",
        "[1, n]",
        "xs",
        "f32",
    ]
)


def _grow(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    binary = st.sampled_from(["+", "-", "*", "/", "//", "%", "**", "and", "or"])
    compare = st.sampled_from(["==", "<", ">=", "in", "not in"])
    unary = st.sampled_from(["len", "sum", "prod", "abs", "rank", "shape", "value", "inverse"])
    return st.one_of(
        st.builds("({} {} {})".format, inner, binary, inner),
        st.builds("({} {} {})".format, inner, compare, inner),
        st.builds("{}({})".format, unary, inner),
        st.builds("(if {} then {} else {})".format, inner, inner, inner),
        st.builds("{}[{}]".format, inner, inner),
        st.builds("min({}, {})".format, inner, inner),
        st.builds("range({})".format, inner),
    )


@settings(deadline=None)
@given(st.recursive(_LEAVES, _grow, max_leaves=12))
def test_total(text: str) -> None:
    """Whatever is asked has an answer, if only that it is unknown, and one that can be a key."""
    hash(value(text))
    assert holds(expression(text), Environment(TENSORS, FUNCTIONS)) in (True, False, None)


@given(st.recursive(_LEAVES, _grow, max_leaves=8), st.integers(0, 5), st.integers(0, 5))
def test_decided_answers_hold_for_every_number(text: str, n: int, m: int) -> None:
    """What is true (or false) of symbols is true (or false) of the numbers they stand for."""
    before = holds(expression(text), Environment(TENSORS))
    numbers: dict[str, Value] = {**TENSORS, "n": n, "m": m}
    numbers["s"] = TensorType(DType.F16, (n, 3))
    numbers["xs"] = (TensorType(DType.F32, (2,)), TensorType(DType.F32, (n, 1)))
    after = holds(expression(text), Environment(numbers))
    assert before is None or after is before


_NUMBERS = st.recursive(
    st.integers(0, 9).map(str),
    lambda inner: st.builds(
        "({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "//", "%"]), inner
    ),
    max_leaves=10,
)


@given(_NUMBERS)
def test_numbers_are_pythons(text: str) -> None:
    try:
        expected = eval(text)
    except ZeroDivisionError:
        expected = UNKNOWN
    assert value(text) == expected


def test_a_dim_may_be_the_number_of_an_element_type() -> None:
    """`f32` is 1 in ONNX, and `n` may be 1."""
    assert holds(expression("n == f32"), Environment(TENSORS)) is None
    assert holds(expression("n == f32"), Environment({**TENSORS, "n": 1})) is True
    assert holds(expression("n == f32"), Environment({**TENSORS, "n": 2})) is False
