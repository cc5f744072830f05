"""Ctrl-C ends the program within two seconds, wherever it is.

Python raises KeyboardInterrupt only between two of its own instructions, so a library that
computes for long keeps it waiting; the cleaning up that every stage does then comes too late.
A thread hears the signal as soon as it arrives, gives the orderly way out a moment, and then
ends the process and its children.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tensat_dl.errors import ExitCode
from tensat_dl.resources import temporary_prefix

#: Folders that the command may be writing to.
WRITING: set[Path] = set()

#: Seconds that the orderly way out may take.
PATIENCE = 1.2


@contextlib.contextmanager
def quick_interrupts() -> Iterator[None]:
    """Watch for SIGINT and SIGTERM while the body runs (in the main thread only)."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heard, told = socket.socketpair()
    told.setblocking(False)
    finished = threading.Event()
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    wakeup = signal.set_wakeup_fd(told.fileno(), warn_on_full_buffer=False)
    threading.Thread(target=_watch, args=(heard, finished), daemon=True).start()
    try:
        yield
    finally:
        finished.set()
        signal.set_wakeup_fd(wakeup)
        signal.signal(signal.SIGTERM, before)
        told.close()


def _watch(heard: socket.socket, finished: threading.Event) -> None:
    while number := heard.recv(1):
        if number[0] not in (signal.SIGINT, signal.SIGTERM):
            continue
        if finished.wait(PATIENCE):
            return
        _end_now()


def _end_now() -> None:
    """Kill the children, remove temporary files, end this process."""
    import psutil

    for child in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.Error):
            child.kill()
    for folder in (Path(tempfile.gettempdir()), *WRITING):
        for left in folder.glob(temporary_prefix() + "*"):
            _remove(left)
    os.write(2, b"tensat-dl: interrupted\n")
    os._exit(ExitCode.INTERRUPTED)


def _remove(left: Path) -> None:
    with contextlib.suppress(OSError):
        if left.is_dir():
            shutil.rmtree(left)
        else:
            left.unlink()
