"""A small cache of plain data in the user's cache directory.

Enters: a key (`kind-` and a digest) and data of numbers, strings, tuples, lists and dicts.  Leaves:
the data, or None.  A file is written under another name and moved into place, and begins with a
digest of the rest, so that neither runs at the same time nor a damaged file do harm.  What nobody
has read for a month goes.  A directory that cannot be used means no cache.
"""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import re
import tempfile
import time
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from tensat_dl.resources import remove_stale, temporary_prefix

_DIGEST = 32  # bytes of a SHA-256
_KEY = re.compile(r"[a-z]+-[0-9a-f]{32,64}")
_DAY = 86_400.0
_KEPT_DAYS = 30
_FORMAT = 4  # of marshal: what every Python from 3.11 on reads, whichever wrote it


def read_cached(key: str) -> Any:
    """What was stored under `key`, or None."""
    path = _path(key)
    if path is None:
        return None
    try:
        content = path.read_bytes()
    except OSError:
        return None
    payload = content[_DIGEST:]
    if hashlib.sha256(payload).digest() != content[:_DIGEST]:
        return None
    with contextlib.suppress(OSError):
        if _days_old(path) > 1:
            os.utime(path)  # it is in use
    return marshal.loads(payload)


def write_cached(key: str, data: Any) -> None:
    """Store `data` under `key` where the directory allows it."""
    path = _path(key)
    if path is None:
        return
    payload = marshal.dumps(data, _FORMAT)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _tidy(path.parent)
        handle, temporary = tempfile.mkstemp(prefix=temporary_prefix(), dir=path.parent)
    except OSError:
        return
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(hashlib.sha256(payload).digest() + payload)
        Path(temporary).replace(path)
    except OSError:
        return
    finally:
        Path(temporary).unlink(missing_ok=True)


@cache
def _tidy(folder: Path) -> None:
    """Once in each process: remove what others could not, as they were killed, and what nobody
    has read for long: every change of a rule file stores another program."""
    remove_stale(folder)
    for entry in os.scandir(folder):
        with contextlib.suppress(OSError):
            if _KEY.fullmatch(entry.name) and _days_old(entry) > _KEPT_DAYS:
                Path(entry).unlink()


def _days_old(file: Path | os.DirEntry[str]) -> float:
    return (time.time() - file.stat().st_mtime) / _DAY


def digest_of_makers(files: Iterable[Path], *versions: str) -> str:
    """A part of keys: what is kept holds for the code in `files`, in this order, and for `versions`
    of what it uses."""
    digest = hashlib.sha256("\0".join(versions).encode())
    for path in files:
        digest.update(path.read_bytes())
    return digest.hexdigest()


def cache_directory() -> Path:
    """The user's, for this program; a relative path where there is none."""
    import platformdirs

    return platformdirs.user_cache_path("tensat-dl", appauthor=False)


def kept_costs() -> Path:
    """The user's measurements."""
    return cache_directory() / "costs.sqlite"


def _path(key: str) -> Path | None:
    """The file of a key; None where the user has no cache directory."""
    path = cache_directory() / key
    return path if path.is_absolute() else None
