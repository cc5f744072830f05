"""The process that solvers run in: `python -m tensat_dl.extract.solvers.worker`.

Enters: requests on the standard input.  Leaves: replies on what was the standard output; solver
libraries that print there print into the error stream instead.  The process leads its own group:
when the other side goes away, it ends the whole group, solver included.
"""

from __future__ import annotations

import os
import queue
import signal
import sys
import threading
from typing import BinaryIO

from pyomo.common.errors import ApplicationError, PyomoException

from tensat_dl.extract.solvers.answer import Outcome, SolverAnswer
from tensat_dl.extract.solvers.backends import Runner, runner_for
from tensat_dl.extract.solvers.messages import (
    AddRows,
    Load,
    Reply,
    Request,
    Solve,
    encode,
    read_request as read,
)

# Whatever plug-ins raise about a model, a licence, an option or an unreadable result file.
SOLVER_ERRORS = (
    ApplicationError,
    PyomoException,
    ArithmeticError,
    AttributeError,
    ImportError,
    LookupError,
    OSError,
    RuntimeError,
    TypeError,
    ValueError,
)


class Worker:
    """Answers requests one by one."""

    def __init__(self, replies: BinaryIO) -> None:
        self.replies = replies
        self.runner: Runner | None = None
        self.failure = "no program was loaded"

    def send(self, reply: Reply) -> None:
        """Write one reply."""
        self.replies.write(encode(reply))
        self.replies.flush()

    def handle(self, request: Request) -> None:
        """Do what the request asks; failures are answers."""
        match request:
            case Load():
                self._load(request)
            case AddRows():
                self._add(request)
            case Solve():
                self.send(self._solve(request))

    def _load(self, request: Load) -> None:
        self.runner = None
        try:
            self.runner = runner_for(request.solver, request.program, request.options)
        except SOLVER_ERRORS as error:
            self.failure = _describe(error)

    def _add(self, request: AddRows) -> None:
        if self.runner is not None:
            self.runner.add_rows(request.rows)

    def _solve(self, request: Solve) -> SolverAnswer:
        if self.runner is None:
            return SolverAnswer(Outcome.FAILED, message=self.failure)
        try:
            if request.relaxed:
                return self.runner.relax(request.until)
            return self.runner.solve(request.until, request.gap, self.send)
        except SOLVER_ERRORS as error:
            return SolverAnswer(Outcome.FAILED, message=_describe(error))


def _describe(error: BaseException) -> str:
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__


def _read_requests(stream: BinaryIO, requests: queue.Queue[Request]) -> None:
    while (request := read(stream)) is not None:
        requests.put(request)
    os.killpg(0, signal.SIGKILL)


def main() -> None:
    """Serve until the other side closes the pipe."""
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    requests: queue.Queue[Request] = queue.Queue()
    reader = threading.Thread(target=_read_requests, args=(sys.stdin.buffer, requests), daemon=True)
    reader.start()
    worker = Worker(replies)
    while True:
        worker.handle(requests.get())


if __name__ == "__main__":
    main()
