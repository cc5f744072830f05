"""The optimisers of the latency benchmark, each in a process of its own.

Enters: a name and a model.  Leaves: the optimised model and the seconds that took, without imports;
or why there is none.  All but ours come with the extra `bench`.  Seconds are the lesser of those on
the wall and those of the processor: other processes add to the first, and threads, where a model is
run in several, to the second.
"""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import onnx

OURS = "tensat-dl"


class CannotOptimise(Exception):
    """The optimiser failed, is not installed, or took too long; the text says which."""


@dataclass(frozen=True)
class Optimised:
    """`first_seconds`: of an earlier run, where there had to be one."""

    model: onnx.ModelProto
    seconds: float
    first_seconds: float = 0.0


def optimise(name: str, model: onnx.ModelProto, limit: float, arguments: str) -> Optimised:
    """Run the optimiser `name` for `limit` seconds at most; `arguments` go to ours: JSON with
    `rules` and `config`.  Raises CannotOptimise."""
    with tempfile.TemporaryDirectory(prefix="tensat-dl-bench-") as folder:
        before, after = Path(folder, "before.onnx"), Path(folder, "after.onnx")
        onnx.save(model, before)
        command = [sys.executable, __file__, name, str(before), str(after), arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=limit)
        except subprocess.TimeoutExpired:
            raise CannotOptimise(f"took more than {limit:g} s") from None
        if done.returncode or not after.exists():
            lines = done.stderr.strip().splitlines() or [f"exit status {done.returncode}"]
            raise CannotOptimise(lines[-1][:200])
        seconds = json.loads(done.stdout.strip().splitlines()[-1])
        return Optimised(onnx.load(after), seconds)


def _ours(model: onnx.ModelProto, arguments: str) -> onnx.ModelProto:
    import tensat_dl

    given = json.loads(arguments)
    return tensat_dl.optimize(model, given["rules"], given["config"]).model


def _onnxsim(model: onnx.ModelProto, _: str) -> onnx.ModelProto:
    import onnxsim

    simplified, checked = onnxsim.simplify(model)
    if not checked:
        raise RuntimeError("its own check failed")
    return simplified


def _onnxslim(model: onnx.ModelProto, _: str) -> onnx.ModelProto:
    import onnxslim

    return onnxslim.slim(model)


def _onnxscript(model: onnx.ModelProto, _: str) -> onnx.ModelProto:
    import onnxscript.optimizer

    return onnxscript.optimizer.optimize(model)


def _onnxoptimizer(model: onnx.ModelProto, _: str) -> onnx.ModelProto:
    import onnxoptimizer

    return onnxoptimizer.optimize(model, onnxoptimizer.get_fuse_and_elimination_passes())


OPTIMISERS: Mapping[str, Callable[[onnx.ModelProto, str], onnx.ModelProto]] = {
    OURS: _ours,
    "onnxsim": _onnxsim,
    "onnxslim": _onnxslim,
    "onnxscript": _onnxscript,
    "onnxoptimizer": _onnxoptimizer,
}


#: What each imports, early or late; that is no part of the time.
_IMPORTED: Mapping[str, Sequence[str]] = {
    OURS: ("tensat_dl.pipeline", "onnxruntime", "egglog"),
    "onnxsim": ("onnxsim", "onnxruntime"),
    "onnxslim": ("onnxslim", "onnxruntime"),
    "onnxscript": ("onnxscript.optimizer",),
    "onnxoptimizer": ("onnxoptimizer",),
}


def _processor_seconds() -> float:
    """Of this process and the processes it has waited for."""
    usages = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _child(name: str, before: str, after: str, arguments: str) -> None:
    model = onnx.load(before)
    for module in _IMPORTED[name]:
        import_module(module)
    clocks = (time.perf_counter, _processor_seconds)
    started = [clock() for clock in clocks]
    optimised = OPTIMISERS[name](model, arguments)
    seconds = min(clock() - start for clock, start in zip(clocks, started, strict=True))
    onnx.save(optimised, after)
    print(json.dumps(seconds))


if __name__ == "__main__":
    _child(*sys.argv[1:])
