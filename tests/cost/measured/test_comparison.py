"""The comparison of two models: intervals against the binomial table, models that differ a lot."""

from __future__ import annotations

import math
import random
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx_text import model

from tensat_dl.cost.measured import comparison, rounds
from tensat_dl.cost.measured.comparison import (
    Comparison,
    Conditions,
    compare_models,
    summarise,
)
from tensat_dl.cost.measured.rounds import (
    ERROR,
    MOST,
    Allowance,
    fewest,
    interval,
    least_in_turns,
    take_rounds,
)
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.graph.running.run import Loader, OrtRunner
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.feeds import Feed

#: 2^n / (n + 1) is 28.4 for 8, and 16 for 7.
FEWEST = 8


@pytest.mark.parametrize(
    ("count", "low", "high"),
    [(8, 0, 7), (11, 0, 10), (12, 1, 10), (15, 1, 13), (16, 2, 13), (19, 3, 15)],
)
def test_the_interval_leaves_out_what_the_mixture_speaks_against(
    count: int, low: int, high: int
) -> None:
    """By hand: 2^n / ((n + 1) C(n, k)) is 28.4 for (8, 0), 26.3 for (12, 1), 32.1 for (16, 2),
    27.1 for (19, 3), and for the numbers before them 16, 15.5, 19.5 and 16.9: less than 20."""
    assert interval(list(range(count))) == (low, high)


def test_too_few_rounds_tell_nothing() -> None:
    assert interval([1.0, 1.1, 1.2, 1.3, 1.4, 1.5, 1.6]) == (0.0, math.inf)


@pytest.mark.parametrize(("error", "count"), [(0.05, 8), (0.025, 9), (0.01, 11)])
def test_rarer_errors_take_more_rounds(error: float, count: int) -> None:
    """2^n / (n + 1) is 28.4 for 8, 51.2 for 9, 93.1 for 10, 170.7 for 11."""
    assert fewest(error) == count
    values = [float(each) for each in range(count)]
    assert interval(values, error) == (0.0, count - 1.0)
    assert interval(values[1:], error) == (0.0, math.inf)


def test_the_interval_holds_the_median_however_often_one_looks() -> None:
    rng = random.Random(0)
    missed = 0
    for _ in range(400):
        values: list[float] = []
        for _ in range(60):
            values.append(rng.lognormvariate(0.0, 0.3))
            low, high = interval(sorted(values))
            if not low <= 1.0 <= high:
                missed += 1
                break
    assert missed <= 20


def rounds_of(ratio: float, noise: float) -> list[tuple[float, float]]:
    """Rounds with a clock that is made up: `noise` is the spread of single turns."""
    rng = random.Random(1)

    def noisy(_: Sequence[int]) -> tuple[float, float]:
        return ratio * rng.lognormvariate(0.0, noise), rng.lognormvariate(0.0, noise)

    return take_rounds(noisy, Allowance.of(60.0))


def test_rounds_end_when_they_tell_enough() -> None:
    assert len(rounds_of(1.2, 0.01)) == FEWEST
    assert len(rounds_of(0.8, 0.01)) == FEWEST
    assert FEWEST < len(rounds_of(1.02, 0.02)) < MOST
    assert len(rounds_of(1.0, 0.001)) < MOST
    assert len(rounds_of(1.01, 0.1)) == MOST
    hardly = summarise(rounds_of(1.02, 0.02))
    assert hardly.faster


def test_rounds_end_when_time_is_up() -> None:
    """The fewest that tell anything may take half as long again, and not longer."""
    assert len(take_rounds(lambda _: (1.01, 1.0), Allowance(0.0, 60.0))) == FEWEST
    assert len(take_rounds(lambda _: (1.0, 1.0), Allowance(0.0, 60.0, ERROR / 2))) == 9
    assert take_rounds(lambda _: (1.01, 1.0), Allowance(0.0, 0.0)) == []


@pytest.mark.parametrize(("seconds", "count"), [(0.75, 8), (0.76, 1)])
def test_one_round_tells_that_there_is_no_time_for_enough(
    seconds: float, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Eight of 0.75 s fit into 6 s."""
    clock = Clock()
    monkeypatch.setattr(rounds, "time", clock)

    def round_of(_: Sequence[int]) -> tuple[float, float]:
        clock.now += seconds
        return 1.0, 1.0

    assert len(take_rounds(round_of, Allowance.of(4.0))) == count


def test_two_comparisons_share_time_and_error() -> None:
    both = Allowance.of(4.0)
    assert both == Allowance(4.0, 6.0, 0.05)
    assert both.half() == Allowance(2.0, 6.0, 0.025)
    assert both.rest(2.5) == Allowance(1.5, 3.5, 0.025)
    assert both.after(1.0) == Allowance(3.0, 5.0, 0.05)
    assert both.suffices(0.75)  # eight rounds
    assert not both.suffices(0.76)
    assert both.half().suffices(0.66)  # nine rounds
    assert not both.half().suffices(0.67)


@pytest.mark.parametrize(
    ("low", "ratio", "high", "faster", "decides"),
    [
        (1.001, 1.004, 1.0049, False, True),  # no chance, and no gain
        (1.001, 1.004, 1.02, False, False),  # maybe more: go on
        (1.001, 1.005, 1.02, True, True),
        (0.999, 1.1, 1.2, False, False),
        (0.9, 0.95, 0.99, False, True),
    ],
)
def test_a_gain_of_less_than_half_a_percent_is_none(
    low: float, ratio: float, high: float, faster: bool, decides: bool
) -> None:
    found = Comparison(1.0, 1.0, ratio, low, high, 20)
    assert (found.faster, found.decides) == (faster, decides)


def test_rounds_do_not_end_at_a_gain_that_is_none() -> None:
    """A ratio of 1.004 is above 1 from the eighth round on; a single round of 1.2 leaves open
    whether there is more, until the interval is without it: from the twelfth on, by the table."""
    ratios = iter([1.2] + [1.004] * 60)
    assert len(take_rounds(lambda _: (next(ratios), 1.0), Allowance.of(60.0))) == 12


def test_both_models_of_a_round_run_in_turns() -> None:
    """A run of the first model takes 5, of the second 2, and one of each takes 1."""
    log: list[int] = []
    took = {0: iter([5, 1, 5] + [5] * 100), 1: iter([2, 2, 1] + [2] * 100)}
    now = 0.0

    def run(place: int) -> None:
        nonlocal now
        log.append(place)
        now += next(took[place])

    runs = [lambda: run(0), lambda: run(1)]
    assert least_in_turns(runs, lambda: now, (1, 0)) == (1.0, 1.0)
    assert log[:6] == [1, 0, 1, 0, 1, 0]


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


@pytest.mark.parametrize(
    ("low", "high", "vague"),
    [(0.98, 1.04, False), (0.98, 1.06, True), (1.01, 1.5, False), (0.5, 0.9, False)],
)
def test_noise_that_may_hide_a_gain_tells_nothing_however_many_rounds(
    low: float, high: float, vague: bool
) -> None:
    found = Comparison(1.0, 1.0, (low + high) / 2, low, high, MOST)
    assert found.vague is vague
    assert found.tells is not vague
    assert bool(found.advice) is vague


@pytest.mark.parametrize(("rounds", "longer"), [(FEWEST, True), (MOST, False)])
def test_more_time_is_advised_where_it_was_too_short(rounds: int, longer: bool) -> None:
    found = Comparison(1.0, 1.0, 1.0, 0.9, 1.256, rounds)
    assert found.advice.startswith("times vary, so that 1.26 times as fast would not show")
    assert ("cost.compare_seconds" in found.advice) is longer


def test_where_both_leave_it_open_the_narrower_interval_counts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    wide, narrow = ([(1e-3 + each, 1e-3), (1e-3, 1e-3 + each)] * 10 for each in (5e-4, 2e-5))
    for turns, threads in (([wide, narrow], 1), ([narrow, wide], 0)):
        made_up = iter(turns)
        monkeypatch.setattr(comparison, "take_rounds", lambda *_, turns=made_up: next(turns))
        found = compare_models(
            source(FAST), source(FAST), Conditions({}, SymbolSizes(4), 1.0), Loader(0)
        )
        assert (found.threads, found.vague) == (threads, False)


def source(text: str) -> Source:
    return Source(model(text))


def compared(before: Source, after: Source, conditions: Conditions) -> Comparison:
    """With one thread, as the clock is then that of the processor."""
    return compare_models(before, after, conditions, Loader(1))


SIDE = 192
MANY = "".join(f"v{i} = MatMul(v{i - 1}, w) " for i in range(1, 13))
SLOW = (
    f"(float[N,{SIDE}] v0) => (float[N,{SIDE}] y) <float[{SIDE},{SIDE}] w> "
    f"{{ {MANY} y = Tanh(v12) }}"
)
FAST = f"(float[N,{SIDE}] v0) => (float[N,{SIDE}] y) {{ y = Tanh(v0) }}"


def test_a_model_of_far_less_work_is_faster() -> None:
    found = compared(source(SLOW), source(FAST), Conditions({}, SymbolSizes(64), 1.0))
    assert found.refused == ""
    assert found.faster
    assert found.ratio > 1.5
    assert dict(found.sizes) == {"N": 64}
    assert found.threads == 1
    back = compared(source(FAST), source(SLOW), Conditions({"N": 32}, SymbolSizes(64), 1.0))
    assert not back.faster
    assert dict(back.sizes) == {"N": 32}


@pytest.mark.parametrize(
    ("open_rounds", "threads"),
    [
        ([(1.1e-3, 1e-3), (1e-3, 1.1e-3)] * 10, 1),
        ([(1e-3, 1e-3)] * 20, 2),
        ([(1.1e-3, 1e-3)] * 20, 2),
    ],
)
def test_one_thread_tells_what_several_leave_open(
    monkeypatch: pytest.MonkeyPatch, open_rounds: list[tuple[float, float]], threads: int
) -> None:
    """What rounds with two threads are is made up; those with one are real."""
    made_up = [open_rounds]
    monkeypatch.setattr(
        comparison, "take_rounds", lambda *asked: made_up.pop() if made_up else take_rounds(*asked)
    )
    found = compare_models(
        source(SLOW), source(FAST), Conditions({}, SymbolSizes(64), 1.0), Loader(2)
    )
    assert found.threads == threads
    assert found.faster == (threads == 1 or open_rounds[1][0] > 1e-3)


def test_sizes_that_the_model_does_not_take_give_way() -> None:
    text = (
        "(float[N] x) => (float[M] y) <int64[2] s = {5, -1}, int64[1] t = {-1}> "
        "{ a = Reshape(x, s) y = Reshape(a, t) }"
    )
    found = compared(source(text), source(text), Conditions({}, SymbolSizes(16), 0.2))
    assert found.refused == ""
    assert found.sizes["N"] % 5 == 0


def test_outputs_that_are_not_as_declared() -> None:
    """onnxruntime runs such a model, and puts its outputs where they fit alone."""
    text = (
        "(float[2,3] x) => (float[A,B] y) <bool k = {1}, float[2,3] a> { c = Identity(k)"
        " a = If(c) <then_branch = t () => (float[2,3] p) { p = Transpose(x) },"
        " else_branch = e () => (float[2,3] q) { q = Neg(x) }> y = Relu(a) }"
    )
    found = compared(source(text), source(text), Conditions({}, SymbolSizes(16), 0.2))
    assert found.refused == ""
    assert found.rounds >= FEWEST


def test_inputs_that_are_given_are_used(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", v0=np.ones((24, SIDE), np.float32))
    conditions = Conditions({}, SymbolSizes(64), 0.2, str(tmp_path / "in.npz"))
    found = compared(source(FAST), source(FAST), conditions)
    assert dict(found.sizes) == {"N": 24}


def test_a_model_that_does_not_run_is_not_compared() -> None:
    graph = onnx.helper.make_graph(
        [onnx.helper.make_node("Nobody", ["x"], ["y"], domain="com.acme")],
        "g",
        [onnx.helper.make_tensor_value_info("x", 1, [2])],
        [onnx.helper.make_tensor_value_info("y", 1, [2])],
    )
    proto = onnx.helper.make_model(graph)
    found = compared(Source(proto), Source(proto), Conditions({}, SymbolSizes(16), 1.0))
    assert found.refused
    assert not found.faster


def test_a_model_that_takes_too_long_is_not_compared() -> None:
    found = compared(source(SLOW), source(FAST), Conditions({}, SymbolSizes(64), 0.0))
    assert re.fullmatch(
        r"a run takes \S+ s: to be told which is faster, set cost.compare_seconds=1", found.refused
    )


class Clock:
    """Time that passes when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    perf_counter = thread_time = monotonic


@pytest.mark.parametrize("threads", [1, 4])
@pytest.mark.parametrize(
    ("seconds", "ratio", "alone"),
    [
        (0.02, 1.0, 3.0),
        (0.1, 1.03, 3.0),
        (0.2, 1.5, 3.0),
        (0.3, 1.1, 3.0),
        (0.6, 1.5, 0.2),
        (2.0, 2.0, 3.0),
    ],
)
def test_runs_take_half_as_long_again_as_they_may_at_most(
    monkeypatch: pytest.MonkeyPatch, threads: int, seconds: float, ratio: float, alone: float
) -> None:
    """On a clock that is made up: runs of both models take `seconds`, with one thread `alone` times
    as long, and vary by a fifth, so that it stays open which is faster where they hardly differ.
    Where threads wait for each other, one tells what takes several too long."""
    clock, rng = Clock(), random.Random(0)
    monkeypatch.setattr(rounds, "time", clock)
    monkeypatch.setattr(comparison, "time", clock)
    for clocks in (rounds, comparison):
        monkeypatch.setattr(clocks, "clock_for", lambda _: clock.monotonic, raising=False)

    def bound(runner: OrtRunner, feed: Feed, outputs: object = None) -> Callable[[], None]:
        share = alone if runner.session.get_session_options().intra_op_num_threads == 1 else 1.0
        mean = seconds * share * (ratio if outputs is not None else 1.0) / (1.0 + ratio)

        def run() -> None:
            clock.now += mean * rng.uniform(0.8, 1.2)

        run()
        return run

    monkeypatch.setattr(comparison, "_bound", bound)
    found = compare_models(
        source(FAST), source(FAST), Conditions({}, SymbolSizes(4), 3.0), Loader(threads)
    )
    once = alone * seconds if threads == 1 else seconds
    assert clock.now <= 1.5 * 3.0 + 1.2 * once
    assert bool(found.refused) == (min(once, alone * seconds) > 0.5)
    assert found.threads == (1 if once > 0.5 and not found.refused else threads) or ratio < 1.1
    if found.refused:
        needed = int(found.refused.split("=")[1])
        again = Conditions({}, SymbolSizes(4), float(needed))
        assert not compare_models(source(FAST), source(FAST), again, Loader(threads)).refused
