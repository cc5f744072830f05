"""Every operator model of the onnx package through `std`: are its outputs what they were?

`python tests/bench/sweep.py [NAME ...] [--rules std] [--step N] [--json FILE]`, or `make sweep`.
The models and their data are those of `onnx.backend.test`: the kinds node, simple,
pytorch-operator and pytorch-converted, all in one process.  The truth is what onnxruntime makes
of the original without its optimisations.  Where it cannot run the original, the model is
optimised all the same and the case counts as skipped: the list of reasons ends the output.
Exit code 1 where a case failed or took longer than two seconds (on the clock, and of processors:
a busy machine is no fault).
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.helper import np_dtype_to_tensor_dtype, tensor_dtype_to_np_dtype

import tensat_dl
from tensat_dl.graph.randomness import random_outputs
from tensat_dl.graph.running.plain import plain_code
from tensat_dl.graph.running.run import CannotRun, open_runner
from tensat_dl.graph.source import Source
from tensat_dl.language.program import CheckedProgram

KINDS = ("node", "simple", "pytorch-operator", "pytorch-converted")
LIMIT = 2.0

_SELF, _CHILDREN = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN


@dataclass(frozen=True)
class Case:
    """A model with one set of inputs, as tensors, sequences or None."""

    name: str
    model: onnx.ModelProto
    inputs: tuple[Any, ...]
    rtol: float
    atol: float


@dataclass(frozen=True)
class Row:
    """`skipped`: why the outputs were not compared; `failure`: what is wrong; `unverified`: why
    the run itself compared nothing; `nodes`: before and after."""

    name: str
    seconds: float = 0.0
    skipped: str = ""
    failure: str = ""
    unverified: str = ""
    status: str = ""
    nodes: tuple[int, int] = (0, 0)
    warnings: tuple[str, ...] = ()


def cases(kinds: Sequence[str] = KINDS) -> Iterator[Case]:
    """All cases, in the order of their kinds and names."""
    for kind in kinds:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = sorted(load_model_tests(kind=kind), key=lambda case: case.name)
        for case in loaded:
            model = case.model or onnx.load(Path(case.model_dir) / "model.onnx")
            inputs = case.data_sets[0][0] if case.data_sets else _stored_inputs(case.model_dir)
            yield Case(f"{kind}/{case.name}", model, tuple(inputs), case.rtol, case.atol)


def run_case(case: Case, rules: CheckedProgram) -> Row:
    """Optimise and compare; never raises.  By estimates: what was found must be written."""
    started, used = time.monotonic(), _processor_seconds()
    try:
        result = tensat_dl.optimize(case.model, rules, {"cost": {"model": "roofline"}})
    except Exception as error:
        return Row(case.name, failure=f"{type(error).__name__}: {error}")
    seconds = min(time.monotonic() - started, _processor_seconds() - used)
    skipped, failure = compared(case, result.model)
    unverified = result.report["verification"]["skipped"]
    nodes = len(case.model.graph.node), len(result.model.graph.node)
    notes = tuple(result.report["warnings"])
    status = result.report["status"]
    return Row(case.name, seconds, skipped, failure, unverified, status, nodes, notes)


def compared(case: Case, optimised: onnx.ModelProto) -> tuple[str, str]:
    """Why the outputs could not be compared, and how they differ; "" where neither."""
    try:
        feeds = _feeds(case)
        expected = open_runner(Source(case.model)).run(feeds)
    except CannotRun as reason:
        return str(reason), ""
    names = [value.name for value in case.model.graph.output]
    if [value.name for value in optimised.graph.output] != names:
        return "", "the outputs have other names"
    try:
        actual = open_runner(Source(optimised)).run(feeds)
    except CannotRun as reason:
        return "", f"the result does not run: {reason}"
    random = random_outputs(case.model)
    for name, left, right in zip(names, expected, actual, strict=True):
        if problem := _difference(left, right, case, exact=name not in random):
            return "", f"output {name}: {problem}"
    return "", ""


def _difference(expected: Any, actual: Any, case: Case, *, exact: bool) -> str:
    if isinstance(expected, list):
        if not isinstance(actual, list) or len(actual) != len(expected):
            return "not a sequence of the same length"
        pairs = zip(expected, actual, strict=True)
        found = (_difference(left, right, case, exact=exact) for left, right in pairs)
        return next(filter(None, found), "")
    if expected is None or actual is None:
        return "" if expected is actual else f"{expected} became {actual}"
    left, right = np.asarray(expected), np.asarray(actual)
    if (left.dtype, left.shape) != (right.dtype, right.shape):
        return f"{left.dtype}{list(left.shape)} became {right.dtype}{list(right.shape)}"
    if not exact or np.array_equal(left, right):
        return ""
    if left.dtype.kind not in "fc":
        return "integers, booleans or strings differ"
    try:
        np.testing.assert_allclose(right, left, case.rtol, case.atol)
    except AssertionError as error:
        return " ".join(str(error).split())
    return ""


def _feeds(case: Case) -> dict[str, Any]:
    names = [value.name for value in case.model.graph.input]
    pairs = zip(names, case.inputs, strict=False)
    return {name: _fed(value) for name, value in pairs}


def _fed(value: Any) -> Any:
    """As onnxruntime takes it: types that numpy lacks in a wider one."""
    if isinstance(value, list):
        return [_fed(item) for item in value]
    if value is None:
        return None
    array = (
        numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else np.asarray(value)
    )
    if array.dtype.kind in "OUS":
        return array
    code = plain_code(np_dtype_to_tensor_dtype(array.dtype))
    return array.astype(tensor_dtype_to_np_dtype(code))


def _stored_inputs(folder: str) -> list[Any]:
    files = sorted(
        (Path(folder) / "test_data_set_0").glob("input_*.pb"),
        key=lambda path: int(path.stem.removeprefix("input_")),
    )
    return [onnx.load_tensor(path) for path in files]


def _processor_seconds() -> float:
    """Of this process and the finished ones that it started."""
    own, children = (resource.getrusage(who) for who in (_SELF, _CHILDREN))
    return own.ru_utime + own.ru_stime + children.ru_utime + children.ru_stime


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help="parts of names; default: all")
    parser.add_argument("--rules", default="std")
    parser.add_argument("--step", type=int, default=1, help="take every N-th")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def main() -> int:
    options = arguments()
    chosen = [c for c in cases() if any(n in c.name for n in options.names or [""])]
    rules = tensat_dl.load_rules(options.rules)
    rows: list[Row] = []
    for case in chosen[:: options.step]:
        row = run_case(case, rules)
        rows.append(row)
        if row.failure:
            print(f"FAILED {row.name}: {row.failure}", flush=True)
        elif row.seconds > LIMIT:
            print(f"SLOW {row.name}: {row.seconds:.1f} s", flush=True)
    summarise(rows)
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1) + "\n")
    return any(row.failure or row.seconds > LIMIT for row in rows)


def summarise(rows: Sequence[Row]) -> None:
    """What was skipped, by reason, and the counts."""
    skipped = [row for row in rows if row.skipped]
    if skipped:
        print("skipped: onnxruntime cannot run the original")
    for row in skipped:
        print(f"  {row.name}: {row.skipped[:150]}")
    slow = sum(row.seconds > LIMIT for row in rows)
    counts = Counter(row.status for row in rows if not row.failure)
    failures = sum(bool(row.failure) for row in rows)
    times = sorted(row.seconds for row in rows if not row.failure) or [0.0]
    print(
        f"{len(rows)} models: {len(rows) - len(skipped) - failures} compared, "
        f"{len(skipped)} skipped, {failures} failed, {slow} over {LIMIT:g} s; "
        f"{counts['improved']} improved; seconds: median {times[len(times) // 2]:.2f}, "
        f"most {times[-1]:.2f}, together {sum(times):.0f}"
    )


if __name__ == "__main__":
    sys.exit(main())
