"""Folding leaves alone what ONNX does not define, also where a runtime would make up a value."""

from __future__ import annotations

import numpy as np
import pytest
from onnx import numpy_helper, parser

from tensat_dl.graph.folding.fold import compute, fold_constants
from tensat_dl.graph.reading.read import read_model
from tensat_dl.settings import ExportSettings, ModelSettings

LEAST = np.iinfo(np.int64).min


def left(text: str, **constants: np.ndarray) -> list[str]:
    """The operators that folding leaves of a model with outputs of any type."""
    proto = parser.parse_model(f'<ir_version: 9, opset_import: ["": 21]> g {text}')
    proto.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in constants.items())
    folded = fold_constants(read_model(proto, ModelSettings()), ExportSettings())
    return [node.operator.name for node in folded.nodes]


def i64(*values: int) -> np.ndarray:
    return np.array(values, np.int64)


@pytest.mark.parametrize("operator", ["Div", "Mod"])
@pytest.mark.parametrize(
    ("dividend", "divisor", "is_defined"),
    [
        (i64(4, 6), i64(3, -2), True),
        (i64(4, 6), i64(0, 2), False),
        (i64(LEAST), i64(-1), False),  # 2^63 is none of i64: the processor stops the program
        (i64(LEAST), i64(1), True),
        (i64(LEAST + 1), i64(-1), True),
        (np.array([1], np.uint8), np.array([255], np.uint8), True),
        (np.array([1], np.uint8), np.array([0], np.uint8), False),
    ],
)
def test_integers_that_cannot_be_divided(
    operator: str, dividend: np.ndarray, divisor: np.ndarray, is_defined: bool
) -> None:
    kind = "uint8" if dividend.dtype == np.uint8 else "int64"
    text = f"({kind}[N] x) => ({kind}[N] y) {{ d = {operator}(a, b) y = Add(x, d) }}"
    expected = ["Add"] if is_defined else [operator, "Add"]
    assert left(text, a=dividend, b=divisor) == expected


def test_floats_may_be_divided_by_zero() -> None:
    text = "(float[N] x) => (float[N] y) { d = Div(a, b) y = Add(x, d) }"
    assert left(text, a=np.ones(1, np.float32), b=np.zeros(1, np.float32)) == ["Add"]


@pytest.mark.parametrize(
    ("number", "code", "is_defined"),
    [
        (127.9, 3, True),
        (128.0, 3, False),
        (-128.9, 3, True),
        (-129.0, 3, False),
        (-0.5, 2, True),
        (-1.0, 2, False),
        (2147483520.0, 6, True),  # the float below 2^31
        (2147483648.0, 6, False),
        (-9223372036854775808.0, 7, True),
        (9223372036854775808.0, 7, False),
        (np.nan, 7, False),
        (np.inf, 6, False),
        (np.nan, 9, True),  # bool: not zero
        (np.nan, 11, True),  # f64
    ],
)
def test_floats_that_no_integer_is(number: float, code: int, is_defined: bool) -> None:
    text = (
        f"(float[N] x) => (float[N] y) {{ c = Cast<to={code}>(w) d = Cast<to=1>(c) y = Add(x, d) }}"
    )
    expected = ["Add"] if is_defined else ["Cast", "Cast", "Add"]
    assert left(text, w=np.array([number], np.float32)) == expected


def test_bits_that_are_shifted_out() -> None:
    text = '(uint8[N] x) => (uint8[N] y) { s = BitShift<direction="LEFT">(a, b) y = Add(x, s) }'
    one = np.array([1], np.uint8)
    assert left(text, a=one, b=np.array([7], np.uint8)) == ["Add"]
    assert left(text, a=one, b=np.array([8], np.uint8)) == ["BitShift", "Add"]


@pytest.mark.parametrize(
    ("base", "exponent", "is_defined"),
    [
        (2, 62, True),
        (2, 63, False),
        (-2, 63, True),
        (2, -1, True),  # 0.5, of which 0 is the whole part
        (0, -1, False),
        (-8, np.float32(1 / 3), False),
    ],
)
def test_powers_that_no_integer_is(base: int, exponent: float, is_defined: bool) -> None:
    text = "(int64[N] x) => (int64[N] y) { p = Pow(a, b) y = Add(x, p) }"
    expected = ["Add"] if is_defined else ["Pow", "Add"]
    assert left(text, a=i64(base), b=np.array([exponent])) == expected


def test_what_is_computed_on_the_way_counts() -> None:
    """(5 - 5) is 0, and 7 / 0 nothing; 12 / (7 / (5 - 4)) is 1."""
    text = (
        "(int64[N] x) => (int64[N] y, int64[N] z) {"
        " o = Sub(five, b) q = Div(seven, o) r = Div(twelve, q) e = Neg(five) d = Add(r, e)"
        " y = Add(x, d) z = Mul(x, e) }"
    )
    rest = {"five": i64(5), "seven": i64(7), "twelve": i64(12)}
    assert left(text, b=i64(5), **rest) == ["Div", "Div", "Add", "Add", "Mul"]
    assert left(text, b=i64(4), **rest) == ["Add", "Mul"]


def test_what_onnxruntime_refuses_to_run_nobody_else_makes_up() -> None:
    """The reference evaluator takes an index beyond the end for one from the start."""
    text = "(float[N] x) => (float[N] y) { g = Gather(w, i) y = Add(x, g) }"
    w = np.arange(3, dtype=np.float32)
    assert left(text, w=w, i=i64(2)) == ["Add"]
    assert left(text, w=w, i=i64(3)) == ["Gather", "Add"]


def test_readers_do_not_get_it_either() -> None:
    text = "(int64[N] x) => (int64[N] y) { d = Div(a, b) y = Add(x, d) }"
    proto = parser.parse_model(f'<ir_version: 9, opset_import: ["": 21]> g {text}')
    zero = {"a": i64(1), "b": i64(0)}
    proto.graph.initializer.extend(numpy_helper.from_array(a, n) for n, a in zero.items())
    assert compute(read_model(proto, ModelSettings()), "d") is None
