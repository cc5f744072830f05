"""How much faster one model runs than another, with an interval.

Enters: models with one feed.  Leaves: for each the milliseconds of a run and its ratio to the
first model, as a median over rounds with an interval of 95 %.  In each round every model runs once
(or, where it is fast, several times), in random order, so that a busy machine slows all of them.
Sessions are opened anew every few rounds, in random order too: where weights happen to lie in
memory moves the time of the same model by several percent.

The clock is the processor time of the thread that computes: with one thread that is the time of
the run on an idle machine, and other programs add nothing to it.
"""

from __future__ import annotations

import math
import random
import statistics
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
import onnxruntime

CLOCKS: Mapping[str, Callable[[], float]] = {"cpu": time.thread_time, "wall": time.perf_counter}
#: A round of one model takes at least this long, in seconds.
_ROUND = 0.005
#: Then the sessions are opened anew.
ROUNDS_PER_SESSION = 5


@dataclass(frozen=True)
class Timing:
    """`ratio`: times as fast as the first model, with its interval."""

    milliseconds: float
    ratio: float
    low: float
    high: float


@dataclass
class _Runner:
    session: Any
    feed: Mapping[str, Any]
    clock: Callable[[], float]
    repeats: int = 1

    def run(self) -> float:
        """Seconds of one run, the mean of `repeats`."""
        started = self.clock()
        for _ in range(self.repeats):
            self.session.run(None, self.feed)
        return (self.clock() - started) / self.repeats


def measure(
    models: Sequence[onnx.ModelProto],
    feed: Mapping[str, Any],
    *,
    optimised: bool,
    rounds: int,
    clock: str,
    seed: int = 0,
) -> list[Timing]:
    """Time the models against the first one; `optimised`: with onnxruntime's optimisations."""
    order = random.Random(seed)
    seconds: list[list[float]] = [[] for _ in models]
    for done in range(0, rounds, ROUNDS_PER_SESSION):
        runners = _open(models, feed, optimised, CLOCKS[clock], order)
        for _ in range(min(ROUNDS_PER_SESSION, rounds - done)):
            for place in order.sample(range(len(models)), len(models)):
                seconds[place].append(runners[place].run())
    return [_timing(seconds[0], each) for each in seconds]


def _open(
    models: Sequence[onnx.ModelProto],
    feed: Mapping[str, Any],
    optimised: bool,
    clock: Callable[[], float],
    order: random.Random,
) -> dict[int, _Runner]:
    """A warm runner for each model, by its place."""
    runners: dict[int, _Runner] = {}
    for place in order.sample(range(len(models)), len(models)):
        runner = _Runner(open_session(models[place], optimised), feed, clock)
        runner.run()  # the first one allocates
        runner.repeats = max(1, min(1000, math.ceil(_ROUND / max(runner.run(), 1e-7))))
        runners[place] = runner
    return runners


def open_session(model: onnx.ModelProto, optimised: bool) -> Any:
    """A session of one thread."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    level = onnxruntime.GraphOptimizationLevel
    options.graph_optimization_level = level.ORT_ENABLE_ALL if optimised else level.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(
        model.SerializeToString(), options, providers=["CPUExecutionProvider"]
    )


def _timing(before: Sequence[float], after: Sequence[float]) -> Timing:
    ratios = [b / a for b, a in zip(before, after, strict=True)]
    low, high = median_interval(ratios)
    return Timing(1000 * statistics.median(after), statistics.median(ratios), low, high)


def median_interval(values: Sequence[float], confidence: float = 0.95) -> tuple[float, float]:
    """The narrowest symmetric pair of values that hold the median with that confidence.

    The number of values below the median is binomial (n, 1/2); needs six values or more for 95 %.
    """
    ordered = sorted(values)
    n = len(ordered)
    outside, cut = 0.0, 0
    while cut < n // 2:
        outside += 2 * math.comb(n, cut) / 2**n
        if outside > 1 - confidence:
            break
        cut += 1
    lowest = max(cut - 1, 0)
    return ordered[lowest], ordered[n - 1 - lowest]
