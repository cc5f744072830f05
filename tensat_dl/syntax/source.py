"""Reads a rule file from disk, or says why it cannot be read.

Enters: a path.  Leaves: a :class:`SourceFile`, or one diagnostic and None.
"""

from __future__ import annotations

import re
from pathlib import Path

from tensat_dl.diagnostics import Diagnostics, SourceFile, Span

MAX_BYTES = 64 * 2**20

_LONE_RETURN = re.compile(r"\r(?!\n)")  # how lines ended on old systems

_STORE = "store it again as UTF-8 text"


class _UnreadableError(Exception):
    """Its text completes "the rule file `x` ..."."""

    def __init__(self, reason: str, help: str = "") -> None:
        super().__init__(reason)
        self.help = help


def read_source(
    path: str | Path, diagnostics: Diagnostics, *, span: Span | None = None
) -> SourceFile | None:
    """The text of a rule file; `span` is the import that asks for it, if any.

    A byte order mark is dropped.  A file that is missing, a directory, larger than 64 MiB, not
    UTF-8 or holding NUL bytes yields None and one diagnostic (E0120).
    """
    try:
        data = _bytes(Path(path))
    except _UnreadableError as reason:
        _report(str(path), reason, diagnostics, span)
        return None
    return decode_source(str(path), data, diagnostics, span=span)


def decode_source(
    name: str, data: bytes, diagnostics: Diagnostics, *, span: Span | None = None
) -> SourceFile | None:
    """The text of a rule file of that name and content; E0120 where it is no text."""
    try:
        return SourceFile(name, _decoded(data))
    except _UnreadableError as reason:
        _report(name, reason, diagnostics, span)
        return None


def _report(
    name: str, reason: _UnreadableError, diagnostics: Diagnostics, span: Span | None
) -> None:
    help = reason.help
    if name.endswith(".onnx"):
        help = "rules stand before the model: `RULES GRAPH`"
    diagnostics.error("E0120", f"the rule file `{name}` {reason}", span, help=help)


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as stream:
            data = stream.read(MAX_BYTES + 1)
    except FileNotFoundError:
        raise _UnreadableError("does not exist") from None
    except IsADirectoryError:
        raise _UnreadableError("is a directory") from None
    except OSError as error:
        raise _UnreadableError(f"cannot be read: {error.strerror}") from None
    except ValueError:
        raise _UnreadableError("has a name that is no path") from None
    if len(data) > MAX_BYTES:
        raise _UnreadableError("is larger than 64 MiB")
    return data


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        raise _UnreadableError("holds NUL bytes: it is no text file", _STORE)
    try:
        return _LONE_RETURN.sub("\n", data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
        raise _UnreadableError(f"is not UTF-8: byte {byte} in line {line}", _STORE) from None
