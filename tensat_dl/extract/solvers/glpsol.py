"""Finds and runs GLPK's `glpsol`, and reads everything it says.

Pyomo writes the model; its own `glpk` plug-in is not used to run it, since that loses incumbent
and bound at a time limit and cannot stop a `glpsol` that overruns one.  GLPK's cut generators
stay off (its default): they slow these programs down; `options` can turn them on.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sysconfig
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tensat_dl.extract.solvers.answer import (
    NOTHING_IN_TIME,
    STOPPED,
    Outcome,
    SolverAnswer,
    SolverProgress,
)
from tensat_dl.settings import SettingValue

_PREFIX = "cmeel.prefix"
_GRACE = 0.2
_PROGRESS = re.compile(r"^\+\s*\d+:\s*mip =\s*(not found yet|\S+)\s*>=\s*(\S+)")
_GAP_REACHED = "MIP GAP TOLERANCE REACHED"
_INFEASIBLE = ("HAS NO PRIMAL FEASIBLE SOLUTION", "HAS NO INTEGER FEASIBLE SOLUTION")


@dataclass(frozen=True)
class Executable:
    """A program and the environment it needs."""

    path: Path
    environment: Mapping[str, str]


def find_glpsol(executable: str = "") -> Executable | None:
    """The program to run: `executable` if it is given, else that of the cmeel wheel, else
    `glpsol` on PATH.

    The wheel's own program is run, not its Python wrapper, whose death would leave it running.
    """
    if executable:
        return Executable(Path(executable), dict(os.environ))
    for key in ("platlib", "purelib"):
        prefix = Path(sysconfig.get_path(key)) / _PREFIX
        program = prefix / "bin" / "glpsol"
        if os.access(program, os.X_OK):
            return Executable(program, _with_library(prefix / "lib"))
    for directory in os.environ.get("PATH", "").split(os.pathsep):
        found = shutil.which("glpsol", path=directory) if directory else None
        if found and not _is_wrapper(Path(found)):
            return Executable(Path(found), dict(os.environ))
    return None


def _is_wrapper(path: Path) -> bool:
    with path.open("rb") as file:
        head = file.read(256)
    return head.startswith(b"#!") and b"cmeel" in head


def _with_library(directory: Path) -> dict[str, str]:
    environment = dict(os.environ)
    known = environment.get("LD_LIBRARY_PATH")
    environment["LD_LIBRARY_PATH"] = f"{directory}{os.pathsep}{known}" if known else str(directory)
    return environment


@dataclass(frozen=True)
class LpFile:
    """An LP file of a program with `count` columns; column i has the name that `columns` maps to
    i (one that no row mentions has none, and is 0); so with `rows`."""

    path: Path
    columns: Mapping[str, int]
    count: int
    rows: Mapping[str, int]


@dataclass
class _Log:
    """What `glpsol` printed, and how it ended."""

    lines: list[str] = field(default_factory=list)
    bound: float = float("-inf")
    objective: float | None = None
    killed: bool = False
    code: int = 0

    def says(self, text: str) -> bool:
        """True when a line holds `text`."""
        return any(text in line for line in self.lines)

    def last(self) -> str:
        """The last line that is not empty."""
        return next((line for line in reversed(self.lines) if line), "no output")


def run_glpsol(
    executable: Executable,
    lp: LpFile,
    options: Mapping[str, SettingValue],
    seconds: float,
    gap: float,
    report: Callable[[SolverProgress], None],
) -> SolverAnswer:
    """Solve an LP file.

    `glpsol` checks its own limit rarely and counts whole seconds, so it is also stopped from
    here; what its log has said by then is kept.
    """
    return _solve(executable, lp, ["--mipgap", repr(gap), *_arguments(options)], seconds, report)


def relax_by_glpsol(executable: Executable, lp: LpFile, seconds: float) -> SolverAnswer:
    """Solve the linear relaxation by the dual simplex method, which suits these programs."""
    return _solve(executable, lp, ["--nomip", "--dual"], seconds, lambda progress: None)


def _solve(
    executable: Executable,
    lp: LpFile,
    arguments: list[str],
    seconds: float,
    report: Callable[[SolverProgress], None],
) -> SolverAnswer:
    names, solution = lp.path.with_suffix(".glp"), lp.path.with_suffix(".sol")
    for stale in (names, solution):
        stale.unlink(missing_ok=True)
    command = [str(executable.path), "--lp", str(lp.path), "--wglp", str(names)]
    command += ["--write", str(solution), "--tmlim", str(max(1, int(seconds))), *arguments]
    try:
        log = _run(command, executable.environment, seconds, report)
    except OSError as error:
        return SolverAnswer(Outcome.FAILED, message=f"cannot start {executable.path}: {error}")
    return _answer(log, names, solution, lp)


def _arguments(options: Mapping[str, SettingValue]) -> list[str]:
    """`cuts = true` is `--cuts`, `seed = 3` is `--seed 3`."""
    arguments: list[str] = []
    for key, value in options.items():
        if value is False:
            continue
        arguments.append(f"--{key}")
        if value is not True and value != "":
            arguments.append(str(value))
    return arguments


def _run(
    command: list[str],
    environment: Mapping[str, str],
    seconds: float,
    report: Callable[[SolverProgress], None],
) -> _Log:
    log = _Log()
    with subprocess.Popen(
        command,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
    ) as process:
        reader = threading.Thread(target=_read_log, args=(process, log, report), daemon=True)
        reader.start()
        try:
            log.code = process.wait(timeout=seconds + _GRACE)
        except subprocess.TimeoutExpired:
            log.killed = True
            process.kill()
            process.wait()
        reader.join(timeout=1.0)
    return log


def _read_log(
    process: subprocess.Popen[str], log: _Log, report: Callable[[SolverProgress], None]
) -> None:
    for line in process.stdout or ():
        log.lines.append(line.strip())
        found = _PROGRESS.match(line)
        if not found:
            continue
        objective, bound = _number(found[1]), _number(found[2])
        log.objective = objective
        log.bound = bound if bound is not None else log.bound
        report(SolverProgress(objective, log.bound))


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _answer(log: _Log, names: Path, solution: Path, lp: LpFile) -> SolverAnswer:
    if log.killed and not _is_complete(solution):
        return SolverAnswer(Outcome.LIMIT, bound=log.bound, message=STOPPED)
    if log.code != 0 and not log.killed:
        ended = f"signal {-log.code}" if log.code < 0 else f"status {log.code}"
        return SolverAnswer(
            Outcome.FAILED, bound=log.bound, message=f"glpsol ended with {ended}: {log.last()}"
        )
    if any(log.says(text) for text in _INFEASIBLE):
        return SolverAnswer(Outcome.INFEASIBLE)
    try:
        found = _read_solution(solution, _read_names(names, lp), lp)
    except (OSError, ValueError, IndexError, KeyError) as error:
        return SolverAnswer(
            Outcome.FAILED, bound=log.bound, message=f"glpsol wrote no readable solution: {error}"
        )
    return _judge(found, log)


@dataclass(frozen=True)
class _Solution:
    status: str
    objective: float
    values: tuple[float, ...]
    duals: tuple[float, ...]


def _judge(found: _Solution, log: _Log) -> SolverAnswer:
    if found.status == "o":
        return SolverAnswer(
            Outcome.OPTIMAL, found.values, found.objective, found.objective, duals=found.duals
        )
    if found.status == "f":
        outcome = Outcome.OPTIMAL if log.says(_GAP_REACHED) else Outcome.LIMIT
        return SolverAnswer(outcome, found.values, found.objective, log.bound)
    if found.status == "n":
        return SolverAnswer(Outcome.INFEASIBLE)
    return SolverAnswer(Outcome.LIMIT, bound=log.bound, message=NOTHING_IN_TIME)


def _is_complete(solution: Path) -> bool:
    return solution.exists() and solution.read_bytes().rstrip().endswith(b"e o f")


def _read_names(path: Path, lp: LpFile) -> dict[tuple[str, int], int]:
    """GLPK's number of a row ("i") or column ("j") -> ours, from lines `n j NUMBER NAME`; Pyomo
    may add a constant."""
    known = {"i": lp.rows, "j": lp.columns}
    found = {}
    for fields in _fields(path):
        if fields[0] == "n" and fields[1] in known and fields[3] in known[fields[1]]:
            found[fields[1], int(fields[2])] = known[fields[1]][fields[3]]
    return found


def _read_solution(path: Path, ours: Mapping[tuple[str, int], int], lp: LpFile) -> _Solution:
    """Lines `s mip ROWS COLUMNS STATUS OBJECTIVE` and `j NUMBER VALUE`; for a program without
    integers `s bas ROWS COLUMNS PRIMAL DUAL OBJECTIVE` and `i/j NUMBER STATUS VALUE DUAL`."""
    kind, status, objective = "", "", float("nan")
    values, duals = [0.0] * lp.count, [0.0] * len(lp.rows)
    for fields in _fields(path):
        if fields[0] == "s":
            kind, status, objective = fields[1], fields[4], float(fields[-1])
            continue
        place = ours.get((fields[0], int(fields[1]))) if fields[0] in ("i", "j") else None
        if place is not None and fields[0] == "j":
            values[place] = float(fields[2 if kind == "mip" else 3])
        elif place is not None and kind == "bas":
            duals[place] = float(fields[4])
    if kind == "bas":
        status = "o" if status == "f" else status
    if status not in ("o", "f", "n", "u", "i"):
        raise ValueError(f"no solution status in {path.name}")
    return _Solution(status, objective, tuple(values), tuple(duals))


def _fields(path: Path) -> Iterator[list[str]]:
    with path.open(encoding="utf-8", errors="replace") as file:
        for line in file:
            if fields := line.split():
                yield fields
