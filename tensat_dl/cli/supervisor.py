"""The command runs in a child process, so that its end is told in one line, whatever it is.

Libraries compute for the command, and two things happen in them that no `except` sees: one ends
the process (a signal of the processor, a lack of memory), and one computes for long while Ctrl-C
waits.  The parent does nothing but wait: it passes signals on, gives the orderly way out a moment,
then ends the child and all that the child started, removes temporary files, and says what was.

Where the system cannot fork, the command runs in this process.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import select
import signal
import sys
import threading
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import FrameType
from typing import NoReturn

from tensat_dl.errors import ExitCode

#: Seconds that the orderly way out may take.
PATIENCE = 1.2

_ENDS = (signal.SIGINT, signal.SIGTERM)

#: Where the child tells the parent of itself; None where there is no parent.
_channel: int | None = None


def tell_phase(phase: str) -> None:
    """What the command is at."""
    _tell("phase", phase)


def tell_writing(folder: Path) -> None:
    """A folder in which temporary files may be left."""
    _tell("folder", str(folder.absolute()))


def _tell(kind: str, text: str) -> None:
    if _channel is not None:
        with contextlib.suppress(OSError):  # a full pipe: what was told before will do
            os.write(_channel, os.fsencode(f"{kind} {text}\0"))


def supervised(body: Callable[[], int]) -> int:
    """Run `body` in a child process and return its exit code."""
    if not hasattr(os, "fork") or threading.current_thread() is not threading.main_thread():
        return body()
    heard, wakeup = _pipe()
    told, channel = _pipe()
    ended, alive = _pipe()
    before = signal.set_wakeup_fd(wakeup, warn_on_full_buffer=False)
    # what was started in the background of a script is not to hear Ctrl-C
    ends = [number for number in _ENDS if signal.getsignal(number) is not signal.SIG_IGN]
    handlers = {number: signal.signal(number, _pass) for number in (*ends, signal.SIGCHLD)}
    child = os.fork()
    if child == 0:
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        for number in ends:
            signal.signal(number, _interrupt_once)
        for descriptor in (heard, wakeup, told, alive):
            os.close(descriptor)
        _be_a_child(channel, ended)
        _leave(body())
    os.close(channel)
    parent = _Parent(child, heard, told)
    try:
        return parent.wait()
    finally:
        signal.set_wakeup_fd(before)
        for number, handler in handlers.items():
            done = parent.deadline is not None and number in _ENDS  # a second Ctrl-C asks no more
            signal.signal(number, signal.SIG_IGN if done else handler)
        for descriptor in (heard, wakeup, told, ended, alive):
            os.close(descriptor)


def _pipe() -> tuple[int, int]:
    reader, writer = os.pipe()
    for end in (reader, writer):
        os.set_blocking(end, False)
    return reader, writer


def _pass(number: int, frame: FrameType | None) -> None:
    """Signals are read from the pipe."""


def _interrupt_once(number: int, frame: FrameType | None) -> None:
    """Ctrl-C reaches parent and child, and impatient people press it again: the way out is taken
    once, and not disturbed."""
    for each in _ENDS:
        signal.signal(each, signal.SIG_IGN)
    raise KeyboardInterrupt


def _be_a_child(channel: int, ended: int) -> None:
    global _channel
    _channel = channel
    os.set_blocking(ended, True)
    _watch(ended)
    # those that share the work, too: nobody ends them when this process was killed
    os.register_at_fork(after_in_child=partial(_watch, ended))


def _watch(ended: int) -> None:
    threading.Thread(target=_die_with_parent, args=(ended,), daemon=True).start()


def _leave(code: int) -> NoReturn:
    """End this process in order, but for freeing all that it holds piece by piece, which takes a
    tenth of a second."""
    atexit._run_exitfuncs()
    for stream in (sys.stdout, sys.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.flush()
    os._exit(code)


def _die_with_parent(ended: int) -> None:
    """The parent writes nothing: reading ends when it was killed."""
    os.read(ended, 1)
    os.kill(os.getpid(), signal.SIGKILL)


class _Parent:
    """Waits for `child`; `heard` gives the numbers of signals, `told` what the child tells."""

    def __init__(self, child: int, heard: int, told: int) -> None:
        self.child, self.heard, self.told = child, heard, told
        self.deadline: float | None = None

    def wait(self) -> int:
        """The exit code of the command."""
        status = self._status()
        while status is None:
            left = None if self.deadline is None else max(0.0, self.deadline - time.monotonic())
            if not select.select([self.heard], [], [], left)[0]:
                return self._end_now()
            for number in os.read(self.heard, 64):
                if number in _ENDS:
                    self._pass_on(number)
            status = self._status()
        code = os.waitstatus_to_exitcode(status)
        return code if code >= 0 else self._killed(signal.Signals(-code))

    def _status(self) -> int | None:
        pid, status = os.waitpid(self.child, os.WNOHANG)
        return status if pid else None

    def _pass_on(self, number: int) -> None:
        os.kill(self.child, number)
        if self.deadline is None:
            self.deadline = time.monotonic() + PATIENCE

    def _end_now(self) -> int:
        """Kill the child and its children, remove temporary files."""
        import psutil

        process = psutil.Process(self.child)
        for each in (*process.children(recursive=True), process):
            with contextlib.suppress(psutil.Error):
                each.kill()
        os.waitpid(self.child, 0)
        self._tidy()
        return _interrupted()

    def _killed(self, number: signal.Signals) -> int:
        """A signal ended the child: say which, and where it was; but where the command was to end,
        a library that crashes on the way out did what was asked."""
        phase = self._tidy()
        if number in _ENDS or self.deadline is not None:
            return _interrupted()
        from tensat_dl.cli.failures import report_crash

        return report_crash(number, phase)

    def _tidy(self) -> str:
        """Remove the temporary files of the child; gives the phase that it was in."""
        import tempfile

        from tensat_dl.cache import cache_directory
        from tensat_dl.resources import remove_temporaries

        phase, folders = "", [tempfile.gettempdir(), str(cache_directory())]
        for message in os.fsdecode(self._all_that_was_told()).split("\0"):
            kind, _, text = message.partition(" ")
            if kind == "phase":
                phase = text
            elif kind == "folder":
                folders.append(text)
        remove_temporaries(self.child, map(Path, folders))
        return phase

    def _all_that_was_told(self) -> bytes:
        parts = []
        with contextlib.suppress(BlockingIOError):  # a process of the child's may hold it open
            while part := os.read(self.told, 1 << 16):
                parts.append(part)
        return b"".join(parts)


def _interrupted() -> int:
    os.write(2, b"tensat-dl: interrupted\n")
    return ExitCode.INTERRUPTED
