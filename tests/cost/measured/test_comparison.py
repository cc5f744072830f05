"""The comparison of two models: intervals against the binomial table, models that differ a lot."""

from __future__ import annotations

import math
import random
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_text import model

from tensat_dl.cost.measured.comparison import Conditions, compare_models, interval, summarise
from tensat_dl.graph.source import Source


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(6, 0, 5), (7, 0, 6), (8, 0, 7), (9, 1, 7), (11, 1, 9), (15, 3, 11), (20, 5, 14), (25, 7, 17)],
)
def test_the_interval_is_that_of_the_sign_test(count: int, low: int, high: int) -> None:
    """Ranks from tables of the two-sided sign test at 5 %."""
    assert interval(list(range(count))) == (low, high)


def test_too_few_rounds_tell_nothing() -> None:
    assert interval([1.0, 1.1, 1.2, 1.3, 1.4]) == (0.0, math.inf)


def test_the_interval_holds_the_median_as_often_as_it_says() -> None:
    rng = random.Random(0)
    held = 0
    for _ in range(1000):
        low, high = interval(sorted(rng.lognormvariate(0.0, 0.3) for _ in range(25)))
        held += low <= 1.0 <= high
    assert held >= 940


def test_faster_is_faster_beyond_noise() -> None:
    steady = summarise([(2.0, 1.0)] * 9)
    assert (steady.ratio, steady.low, steady.high, steady.faster) == (2.0, 2.0, 2.0, True)
    assert (steady.before, steady.after, steady.rounds) == (2.0, 1.0, 9)
    same = summarise([(1.0, 1.0)] * 9)
    assert not same.faster
    noisy = summarise([(1.1, 1.0), (1.0, 1.1)] * 10)
    assert not noisy.faster
    slower = summarise([(1.0, 1.3)] * 9)
    assert not slower.faster


def source(text: str) -> Source:
    return Source(model(text))


SIDE = 192
MANY = "".join(f"v{i} = MatMul(v{i - 1}, w) " for i in range(1, 13))
SLOW = (
    f"(float[N,{SIDE}] v0) => (float[N,{SIDE}] y) <float[{SIDE},{SIDE}] w> "
    f"{{ {MANY} y = Tanh(v12) }}"
)
FAST = f"(float[N,{SIDE}] v0) => (float[N,{SIDE}] y) {{ y = Tanh(v0) }}"


def test_a_model_of_far_less_work_is_faster() -> None:
    found = compare_models(source(SLOW), source(FAST), Conditions({}, 64, 1, 1.0))
    assert found.refused == ""
    assert found.faster
    assert found.ratio > 1.5
    assert dict(found.sizes) == {"N": 64}
    back = compare_models(source(FAST), source(SLOW), Conditions({"N": 32}, 64, 1, 1.0))
    assert not back.faster
    assert dict(back.sizes) == {"N": 32}


def test_sizes_that_the_model_does_not_take_give_way() -> None:
    text = (
        "(float[N] x) => (float[M] y) <int64[2] s = {5, -1}, int64[1] t = {-1}> "
        "{ a = Reshape(x, s) y = Reshape(a, t) }"
    )
    found = compare_models(source(text), source(text), Conditions({}, 16, 1, 0.2))
    assert found.refused == ""
    assert found.sizes["N"] % 5 == 0


def test_inputs_that_are_given_are_used(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", v0=np.ones((24, SIDE), np.float32))
    conditions = Conditions({}, 64, 1, 0.2, str(tmp_path / "in.npz"))
    found = compare_models(source(FAST), source(FAST), conditions)
    assert dict(found.sizes) == {"N": 24}


def test_a_model_that_does_not_run_is_not_compared() -> None:
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Nobody", ["x"], ["y"], domain="com.acme")],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [2])],
        [onnx.helper.make_tensor_value_info("y", 1, [2])],
    )
    proto = onnx.helper.make_model(graph)
    found = compare_models(Source(proto), Source(proto), Conditions({}, 16, 1, 1.0))
    assert found.refused
    assert not found.faster


def test_a_model_that_takes_too_long_is_not_compared() -> None:
    found = compare_models(source(SLOW), source(FAST), Conditions({}, 64, 1, 0.0))
    assert found.refused.endswith("too long for the time given")
