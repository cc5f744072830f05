"""How long a model takes in onnxruntime: the robust minimum of repeated runs.

Enters: little models.  Leaves: seconds, less those of a run without any node.  Disturbances by
other processes only ever add time, and come in bursts: so the models of a batch take turns, each
is timed in several bursts, and the least of all counts.  With one thread it is the time of the
processor that counts, which leaves out what other processes take.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tensat_dl.cost.measured.little_model import LittleModel, empty_model
from tensat_dl.graph.run import ort_errors

#: Times in which each model of a batch takes its turn, and how long a turn is: at least so many
#: runs, and so many seconds unless there were enough runs.
BURSTS = 3
_RUNS = 3
_SECONDS = 0.003
_ENOUGH = 50
#: A model that takes longer than this is run once a turn.
_LONG = 0.2
#: Nothing is free: differences below this are noise.
LEAST = 2e-8


Clock = Callable[[], float]


class Timer(Protocol):
    """Times models."""

    def time(self, models: Sequence[LittleModel]) -> list[float | None]:
        """Seconds of each; None for one that does not run."""
        ...


@dataclass(frozen=True)
class OrtTimer:
    """Times in onnxruntime with all its optimisations; `threads` 0 leaves it the choice."""

    threads: int = 0

    def time(self, models: Sequence[LittleModel]) -> list[float | None]:
        """See :class:`Timer`."""
        empty = self._open(empty_model())
        runs = [empty, *map(self._open, models)]
        best = _least(runs, clock_for(self.threads))
        nothing = best[0] or 0.0
        return [None if each is None else max(each - nothing, LEAST) for each in best[1:]]

    def _open(self, model: LittleModel) -> Callable[[], object] | None:
        try:
            session = open_session(model.proto.SerializeToString(), self.threads)
            run = bound_run(session, model.feeds)
            run()  # warms up
            return run
        except ort_errors():
            return None


def open_session(model: bytes, threads: int) -> Any:
    """A session with all optimisations on; raises what onnxruntime raises."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model, options, ["CPUExecutionProvider"])


def bound_run(
    session: Any, feeds: Any, outputs: Sequence[Any] | None = None
) -> Callable[[], object]:
    """A function that runs the session once, inputs and outputs in place beforehand; `outputs` are
    those of an earlier run.  Where something is no tensor of numbers, nothing is in place.
    """
    import onnxruntime

    if outputs is None:
        outputs = session.run(None, dict(feeds))
    if not all(map(_is_plain, [*feeds.values(), *outputs])):
        return lambda: session.run(None, dict(feeds))
    binding = session.io_binding()
    for name, value in feeds.items():
        binding.bind_ortvalue_input(name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    for output, value in zip(session.get_outputs(), outputs, strict=True):
        binding.bind_ortvalue_output(output.name, onnxruntime.OrtValue.ortvalue_from_numpy(value))
    return lambda: session.run_with_iobinding(binding)


def _is_plain(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.dtype.kind in "biufc"


def clock_for(threads: int) -> Clock:
    """Seconds that a run takes by this clock are its own: with one thread those of the processor,
    as the caller's thread does all the work."""
    return time.thread_time if threads == 1 else time.perf_counter


def _least(runs: Sequence[Callable[[], object] | None], clock: Clock) -> list[float | None]:
    best: list[float | None] = [None] * len(runs)
    for _ in range(BURSTS):
        for place, run in enumerate(runs):
            if run is not None:
                found = _least_of(run, clock)
                best[place] = min(found, best[place] or found)
    return best


def _least_of(run: Callable[[], object], clock: Clock) -> float:
    """The least of the runs of one turn."""
    best = float("inf")
    now = time.perf_counter
    end = now() + _SECONDS
    done = 0
    while done < _RUNS or (done < _ENOUGH and now() < end):
        started = clock()
        run()
        seconds = clock() - started
        best = min(best, seconds)
        done += 1
        if seconds > _LONG:
            break
    return best
