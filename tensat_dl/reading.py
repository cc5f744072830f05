"""Files that are named by people, read or refused with the reason.

Enters: a path.  Leaves: its bytes; or an :class:`UnreadableError`, whose text completes "the
file x ..".  Knows nothing of what the bytes mean.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from mmap import ACCESS_READ, mmap
from pathlib import Path

#: The reason where nothing has the path.
MISSING = "does not exist"


class UnreadableError(Exception):
    """Its text completes "the file x ..", as "does not exist"."""


def read_bytes(path: Path, most: int = -1) -> bytes:
    """The content, at most so many bytes of it.  Devices and pipes are read, too."""
    try:
        with path.open("rb") as stream:
            return stream.read(most)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None


@contextmanager
def bytes_of(path: Path) -> Iterator[memoryview]:
    """The content, to be looked at meanwhile: that of a file is mapped, not copied into memory."""
    if why_no_file(path) or not path.stat().st_size:
        yield memoryview(read_bytes(path))
        return
    try:
        with path.open("rb") as stream:
            content = mmap(stream.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as error:
        raise _unreadable(path, error) from None
    with content, memoryview(content) as view:
        yield view


def why_no_file(path: Path) -> str:
    """Why it is no regular file, "" where it is one: "does not exist", "is a directory", .."""
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:
        return str(_unreadable(path, error))
    if stat.S_ISDIR(mode):
        return "is a directory"
    return "" if stat.S_ISREG(mode) else "is no regular file"


def _unreadable(path: Path, error: OSError | ValueError) -> UnreadableError:
    match error:
        case FileNotFoundError() if os.path.lexists(path):
            return UnreadableError("is a link to a file that does not exist")
        case FileNotFoundError() | NotADirectoryError():
            return UnreadableError(MISSING)
        case IsADirectoryError():
            return UnreadableError("is a directory")
        case OSError():
            return UnreadableError(f"cannot be read: {error.strerror}")
    return UnreadableError("has a name that is no path")
