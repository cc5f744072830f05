"""Runs solvers in a process of their own that can always be stopped.

Enters: programs, rows, time limits.  Leaves: one SolverAnswer a solve, whatever the solver does:
one that crashes or ignores its limit costs its process, and the next solve starts another.  Leaving
the `with` block, by an exception or Ctrl-C too, ends the process group and removes its files.
"""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import TracebackType

from tensat_dl.extract.program import Program, Row
from tensat_dl.extract.solvers.answer import STOPPED, Outcome, SolverAnswer, SolverProgress
from tensat_dl.extract.solvers.messages import AddRows, Load, ReplyBuffer, Request, Solve, encode
from tensat_dl.extract.solvers.table import Solver
from tensat_dl.resources import temporary_prefix
from tensat_dl.settings import SettingValue

_CHUNK = 1 << 16


class SolverSession:
    """A solver with one program loaded at a time."""

    def __init__(self, solver: Solver, options: Mapping[str, SettingValue]) -> None:
        self.solver = solver
        self.options = options
        self._process: subprocess.Popen[bytes] | None = None
        self._directory: tempfile.TemporaryDirectory[str] | None = None
        self._program = Program()
        self._cuts: list[Row] = []
        self._loaded = False

    def __enter__(self) -> SolverSession:
        self._directory = tempfile.TemporaryDirectory(
            prefix=temporary_prefix(), ignore_cleanup_errors=True
        )
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stop()
        if self._directory is not None:
            self._directory.cleanup()

    def start(self) -> None:
        """Start the process now, so that it is ready when it is needed."""
        if self._process is None:
            self._start()

    def kill(self) -> None:
        """End the process, from any thread: whoever waits for its answer learns that it died."""
        process = self._process
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)

    def load(self, program: Program) -> None:
        """Begin with another program."""
        self._program, self._cuts, self._loaded = program, [], False

    def add_rows(self, rows: Sequence[Row]) -> None:
        """Tighten the program."""
        self._cuts.extend(rows)
        if self._loaded:
            self._send(AddRows(tuple(rows)))

    def solve(
        self,
        seconds: float,
        gap: float,
        patience: float,
        report: Callable[[SolverProgress], None],
    ) -> SolverAnswer:
        """Ask the solver to stop after `seconds`, of which starting and writing the model are a
        part; stop its process after `patience` (longer).

        The bound and the values reported before a stop are kept.
        """
        now = time.monotonic()
        self._hand_over()
        self._send(Solve(now + seconds, gap))
        return self._wait(now + patience, report)

    def relax(self, seconds: float, patience: float) -> SolverAnswer:
        """The linear relaxation, with the duals of the rows; else as :meth:`solve`."""
        now = time.monotonic()
        self._hand_over()
        self._send(Solve(now + seconds, 0.0, relaxed=True))
        return self._wait(now + patience, lambda progress: None)

    def _hand_over(self) -> None:
        if not self._loaded:
            self._send(Load(self._program, self.solver, self.options))
            self._send(AddRows(tuple(self._cuts)))
            self._loaded = True

    def _send(self, request: Request) -> None:
        process = self._process or self._start()
        assert process.stdin is not None
        try:
            process.stdin.write(encode(request))
            process.stdin.flush()
        except BrokenPipeError:
            # The worker died; waiting for its answer tells how.
            return

    def _start(self) -> subprocess.Popen[bytes]:
        assert self._directory is not None, "a session is used inside its `with` block"
        errors = (Path(self._directory.name) / "errors.txt").open("wb")
        with errors:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "tensat_dl.extract.solvers.worker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                cwd=self._directory.name,
                env=self._environment(),
                start_new_session=True,
            )
        return self._process

    def _environment(self) -> dict[str, str]:
        assert self._directory is not None
        paths = [path or str(Path.cwd()) for path in sys.path]
        return {
            **os.environ,
            "TMPDIR": self._directory.name,
            "PYTHONPATH": os.pathsep.join(paths),
        }

    def _wait(self, until: float, report: Callable[[SolverProgress], None]) -> SolverAnswer:
        process = self._process
        assert process is not None and process.stdout is not None
        buffer, last = ReplyBuffer(), SolverProgress(None, float("-inf"))
        with selectors.DefaultSelector() as selector:
            selector.register(process.stdout, selectors.EVENT_READ)
            while selector.select(max(0.0, until - time.monotonic())):
                data = os.read(process.stdout.fileno(), _CHUNK)
                if not data:
                    return self._died(last)
                for reply in buffer.feed(data):
                    if isinstance(reply, SolverAnswer):
                        return reply
                    last = replace(reply, values=reply.values or last.values)
                    report(reply)
        self._stop()
        return SolverAnswer(Outcome.LIMIT, last.values, bound=last.bound, message=STOPPED)

    def _died(self, last: SolverProgress) -> SolverAnswer:
        assert self._process is not None and self._directory is not None
        code = self._process.wait()
        ended = f"signal {-code}" if code < 0 else f"status {code}"
        lines = (Path(self._directory.name) / "errors.txt").read_text(errors="replace").split("\n")
        said = next((line.strip() for line in reversed(lines) if line.strip()), "")
        self._stop()
        message = f"its process ended with {ended}" + (f": {said}" if said else "")
        return SolverAnswer(Outcome.FAILED, last.values, bound=last.bound, message=message)

    def _stop(self) -> None:
        process, self._process, self._loaded = self._process, None, False
        if process is None:
            return
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        for stream in (process.stdin, process.stdout):
            with contextlib.suppress(BrokenPipeError):
                assert stream is not None
                stream.close()
