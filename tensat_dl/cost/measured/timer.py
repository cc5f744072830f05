"""How long a model takes in onnxruntime: the robust minimum of repeated runs.

Enters: little models.  Leaves: seconds, less those of a run without any node.  Disturbances by
other processes only ever add time, and come in bursts: so the models of a batch take turns, each
is timed in several bursts, and the least of all counts.  Models of which the runtime makes the same
are one: noise does not tell them apart.  With one thread it is the time of the
processor that counts, which leaves out what other processes take.
"""

from __future__ import annotations

import contextlib
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tensat_dl.cost.measured.little_model import LittleModel, empty_model
from tensat_dl.cost.measured.optimised import optimised_key, write_optimised
from tensat_dl.graph.running.run import ort_errors
from tensat_dl.resources import temporary_prefix

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


@dataclass(frozen=True)
class Timing:
    """`seconds` of a model; `key`: what the runtime makes of it, "" where that is not known."""

    seconds: float
    key: str = ""


class Timer(Protocol):
    """Times models."""

    def time(
        self, models: Sequence[LittleModel], known: Mapping[str, float]
    ) -> list[Timing | None]:
        """Each model's, None for one that does not run.  Of those of which the runtime makes the
        same, one is timed; none whose key is `known` with its seconds."""
        ...


@dataclass(frozen=True)
class _Loaded:
    """A model with its session; `name` is its key, or another one of its own."""

    model: LittleModel
    session: Any
    key: str
    name: str


@dataclass(frozen=True)
class OrtTimer:
    """Times in onnxruntime with all its optimisations; `threads` 0 leaves it the choice."""

    threads: int = 0

    def time(
        self, models: Sequence[LittleModel], known: Mapping[str, float]
    ) -> list[Timing | None]:
        """See :class:`Timer`."""
        with tempfile.TemporaryDirectory(prefix=temporary_prefix()) as folder:
            numbered = enumerate(models)
            loaded = [self._load(model, str(place), Path(folder)) for place, model in numbered]
        distinct = {each.name: each for each in loaded if each is not None}
        ready = {name: _ready(each) for name, each in distinct.items() if name not in known}
        runs = {name: run for name, run in ready.items() if run is not None}
        nothing, *best = _least([self._empty(), *runs.values()], clock_for(self.threads))
        found = {name: known[name] for name in distinct if name in known}
        found |= {name: max(each - nothing, LEAST) for name, each in zip(runs, best, strict=True)}
        return [
            None if each is None or each.name not in found else Timing(found[each.name], each.key)
            for each in loaded
        ]

    def _empty(self) -> Callable[[], object]:
        model = empty_model()
        return bound_run(open_session(model.proto.SerializeToString(), self.threads), model.feeds)

    def _load(self, model: LittleModel, number: str, folder: Path) -> _Loaded | None:
        """The model; what it was optimised to goes to `folder`, where there is room for it."""
        content = model.proto.SerializeToString()
        with contextlib.suppress(OSError, *ort_errors()):
            session = open_session(content, self.threads, folder)
            key = optimised_key(folder)
            return _Loaded(model, session, key, key)
        with contextlib.suppress(*ort_errors()):
            return _Loaded(model, open_session(content, self.threads), "", number)
        return None


def _ready(loaded: _Loaded) -> Callable[[], object] | None:
    """What runs the model, after a first run; None where it cannot be run."""
    try:
        run = bound_run(loaded.session, loaded.model.feeds)
        run()
        return run
    except ort_errors():
        return None


def open_session(model: bytes, threads: int, folder: Path | None = None) -> Any:
    """A session with all optimisations on, that writes what it made of the model to `folder`;
    raises what onnxruntime raises."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 4
    if folder is not None:
        write_optimised(options, folder)
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


def _least(runs: Sequence[Callable[[], object]], clock: Clock) -> list[float]:
    best = [float("inf")] * len(runs)
    for _ in range(BURSTS):
        for place, run in enumerate(runs):
            best[place] = min(best[place], _least_of(run, clock))
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
