"""Reads a rule file from disk, or says why it cannot be read.

Enters: a path.  Leaves: a :class:`SourceFile`, or one diagnostic and None.
"""

from __future__ import annotations

from pathlib import Path

from tensat_dl.diagnostics import Diagnostics, SourceFile, Span

_MAX_BYTES = 64 * 2**20


def read_source(
    path: str | Path, diagnostics: Diagnostics, *, span: Span | None = None
) -> SourceFile | None:
    """The text of a rule file; `span` is the import that asks for it, if any.

    A byte order mark is dropped.  A file that is missing, a directory, larger than 64 MiB, not
    UTF-8 or holding NUL bytes yields None and one diagnostic (E0120).
    """
    path = Path(path)
    try:
        if path.is_file() and path.stat().st_size > _MAX_BYTES:
            return _refuse(diagnostics, path, "is larger than 64 MiB", span)
        data = path.read_bytes()
    except FileNotFoundError:
        return _refuse(diagnostics, path, "does not exist", span)
    except IsADirectoryError:
        return _refuse(diagnostics, path, "is a directory", span)
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or "is no path of a file"
        return _refuse(diagnostics, path, f"cannot be read: {reason}", span)
    return _decode(data, path, diagnostics, span)


def _decode(
    data: bytes, path: Path, diagnostics: Diagnostics, span: Span | None
) -> SourceFile | None:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        byte = f"0x{data[error.start]:02x}"
        return _refuse(diagnostics, path, f"is not UTF-8: byte {byte} in line {line}", span)
    if "\0" in text:
        return _refuse(diagnostics, path, "holds NUL bytes: it is no text file", span)
    return SourceFile(str(path), text)


def _refuse(diagnostics: Diagnostics, path: Path, reason: str, span: Span | None) -> None:
    diagnostics.error("E0120", f"the rule file `{path}` {reason}", span)
