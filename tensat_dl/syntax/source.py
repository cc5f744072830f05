"""Reads a rule file from disk, or says why it cannot be read.

Enters: a path.  Leaves: a :class:`SourceFile`, or one diagnostic and None.
"""

from __future__ import annotations

import re
from pathlib import Path

from tensat_dl.diagnostics import Diagnostics, SourceFile, Span
from tensat_dl.reading import MISSING, UnreadableError, read_bytes

MAX_BYTES = 64 * 2**20

_LONE_RETURN = re.compile(r"\r(?!\n)")  # how lines ended on old systems

_STORE = "store it again as UTF-8 text"


class _NoTextError(UnreadableError):
    """It can be read, and is no text."""


def read_source(
    path: str | Path, diagnostics: Diagnostics, *, span: Span | None = None, missing: str = ""
) -> SourceFile | None:
    """The text of a rule file; `span` is the import that asks for it, if any; `missing` helps
    where there is no such file.

    A byte order mark is dropped.  A file that is missing, a directory, larger than 64 MiB, not
    UTF-8 or holding NUL bytes yields None and one diagnostic (E0120).
    """
    try:
        data = _bytes(Path(path))
    except UnreadableError as reason:
        _report(str(path), reason, diagnostics, span, missing if str(reason) == MISSING else "")
        return None
    return decode_source(str(path), data, diagnostics, span=span)


def decode_source(
    name: str, data: bytes, diagnostics: Diagnostics, *, span: Span | None = None
) -> SourceFile | None:
    """The text of a rule file of that name and content; E0120 where it is no text."""
    try:
        return SourceFile(name, _decoded(data))
    except UnreadableError as reason:
        _report(name, reason, diagnostics, span)
        return None


def _report(
    name: str,
    reason: UnreadableError,
    diagnostics: Diagnostics,
    span: Span | None,
    help: str = "",
) -> None:
    help = _STORE if isinstance(reason, _NoTextError) else help
    if name.endswith(".onnx"):
        help = "a model is no rule file; where a command takes both: `RULES GRAPH`"
    diagnostics.error("E0120", f"the rule file `{name}` {reason}", span, help=help)


def _bytes(path: Path) -> bytes:
    data = read_bytes(path, MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise UnreadableError("is larger than 64 MiB")
    return data


def _decoded(data: bytes) -> str:
    if b"\0" in data:
        raise _NoTextError("holds NUL bytes: it is no text file")
    try:
        return _LONE_RETURN.sub("\n", data.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
        raise _NoTextError(f"is not UTF-8: byte {byte} in line {line}") from None
