"""What the installation and the machine have: shipped files, processors, places to write to."""

from __future__ import annotations

import gc
import multiprocessing
import os
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tensat_dl.errors import UsageError

#: How many more objects there must be before the young ones are searched for garbage, and how many
#: such searches go before an older generation is.
_RARELY = (20_000, 20, 20)

#: How the name of every temporary file begins, and the seconds after which nobody needs one.
_TEMPORARY, _STALE = ".tensat-dl-", 86_400.0

_PACKAGE = Path(__file__).resolve().parent


def data_directory(name: str) -> Path:
    """The directory of shipped files: `name` is "grammar" or "rulesets".

    Found from a wheel, an editable install and a checkout alike.  Raises FileNotFoundError when
    the installation lacks it.
    """
    for candidate in (_PACKAGE / "_data" / name, _PACKAGE.parent / name):
        if candidate.is_dir():
            return candidate
    raise FileNotFoundError(f"the installation of tensat-dl lacks its `{name}` directory")


def processors() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def process_context() -> Any:
    """How other processes are started: by fork where it is safe, which takes milliseconds, shares
    what is loaded, and asks nothing of the script that is running."""
    methods = multiprocessing.get_all_start_methods()
    linux = sys.platform.startswith("linux") and "fork" in methods
    return multiprocessing.get_context("fork" if linux else "spawn")


@contextmanager
def heap_kept() -> Iterator[None]:
    """What is in memory now is not searched for garbage meanwhile, which takes a tenth of a second
    each time, and finds none in what lasts."""
    gc.freeze()
    try:
        yield
    finally:
        gc.unfreeze()


@contextmanager
def collected_rarely() -> Iterator[None]:
    """Garbage is searched for less often meanwhile: hardly anything here is in circles, and the
    many small objects of a model are all looked at again each time."""
    before = gc.get_threshold()
    gc.set_threshold(*_RARELY)
    try:
        yield
    finally:
        gc.set_threshold(*before)


def temporary_prefix(process: int | None = None) -> str:
    """How the name of every temporary file and folder of a process begins (default: this one).

    The command line removes them by it when the process has ended at once.
    """
    return f"{_TEMPORARY}{os.getpid() if process is None else process}-"


def remove_temporaries(process: int, folders: Iterable[Path]) -> None:
    """Remove what a process that is gone left in `folders`."""
    pattern = temporary_prefix(process) + "*"
    for left in (each for folder in folders for each in folder.glob(pattern)):
        _remove(left)


def remove_stale(folder: Path) -> None:
    """Remove temporary files that processes left in `folder` more than a day ago, as they were
    killed with all that could have tidied up."""
    for left in folder.glob(_TEMPORARY + "*"):
        with suppress(OSError):
            old = time.time() - left.lstat().st_mtime > _STALE
            if old and not _is_alive(left.name.removeprefix(_TEMPORARY).partition("-")[0]):
                _remove(left)


def _is_alive(process: str) -> bool:
    if os.name != "posix" or not process.isdecimal():
        return False
    try:
        os.kill(int(process), 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove(left: Path) -> None:
    with suppress(OSError):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left)
        else:
            left.unlink()


def is_stream(path: Path) -> bool:
    """Is it a device, a pipe, or a link of the kernel, as `/dev/stdout`?

    A file that is moved there would take its place instead of going through it.
    """
    if path.is_symlink() and path.readlink().is_relative_to("/proc"):
        return True
    return path.exists() and not path.is_file() and not path.is_dir()


def real_path(path: Path) -> Path:
    """The absolute path without links; one that leads in a circle stays as it is.

    `Path.resolve` raises there, before anybody can say that the file cannot be opened.
    """
    return Path(os.path.realpath(path))


def replace_text(path: Path, text: str) -> None:
    """Write a text file whole or not at all; links are followed, permissions stay.  Raises
    UsageError where that is impossible."""
    target = real_path(path)
    temporary = target.with_name(temporary_prefix() + target.name)
    try:
        temporary.write_text(text, encoding="utf-8", newline="")
        if target.exists():
            temporary.chmod(target.stat().st_mode & 0o777)
        temporary.replace(target)
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from None
    finally:
        temporary.unlink(missing_ok=True)
