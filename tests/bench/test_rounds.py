"""Medians have the intervals of the sign test, and a model is as fast as itself."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from contenders import OURS, CannotOptimise, optimise
from language_models import lora_mlp
from latency import Row, Timing, count_nodes, verdicts
from rounds import measure, median_interval
from zoo import Entry

# Of n values in order, the ranks between which the median lies with 95 % (tables of the sign test).
RANKS = [(6, 1, 6), (10, 2, 9), (15, 4, 12), (20, 6, 15), (25, 8, 18), (50, 18, 33)]


@pytest.mark.parametrize(("count", "low", "high"), RANKS)
def test_the_interval_of_a_median(count: int, low: int, high: int) -> None:
    values = [float(value) for value in range(count, 0, -1)]
    assert median_interval(values) == (low, high)


def test_a_model_is_as_fast_as_itself() -> None:
    model = lora_mlp(rows=2, width=16, layers=1)
    feed = Entry(lambda _: model).feed(model)
    first, second = measure([model, model], feed, optimised=True, rounds=6, clock="cpu")
    assert (first.ratio, first.low, first.high) == (1.0, 1.0, 1.0)
    assert 0.2 < second.ratio < 5
    assert first.milliseconds > 0


def test_targets_that_are_missed_are_told() -> None:
    slow = Row("repvgg", OURS, nodes=20, timings={"on": Timing(1.0, 0.9, 0.85, 0.95)})
    original = Row("repvgg", "original", nodes=48)
    theirs = Row("repvgg", "onnxsim", nodes=10)
    assert list(verdicts([original, slow, theirs])) == [
        "repvgg: 0.900 times as fast, 1.1 is wanted",
        "repvgg: 20 nodes, onnxsim leaves 10",
    ]
    fast = Row("repvgg", OURS, nodes=10, timings={"on": Timing(1.0, 1.2, 1.15, 1.25)})
    assert list(verdicts([original, fast, theirs])) == []


@pytest.mark.slow
def test_ours_runs_in_a_process_of_its_own() -> None:
    model = lora_mlp(rows=2, width=16, rank=2, layers=1)
    found = optimise(
        OURS, model, 120, '{"rules": "std", "config": {"cost": {"model": "roofline"}}}'
    )
    assert count_nodes(found.model.graph) < count_nodes(model.graph) == 7
    assert found.seconds > 0
    with pytest.raises(CannotOptimise, match="does not exist"):
        optimise(OURS, model, 120, '{"rules": "nowhere.tsat", "config": {}}')
