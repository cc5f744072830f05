"""Where what a command makes goes, decided before any work is done."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from tensat_dl.errors import InputError, UsageError
from tensat_dl.reading import why_no_file
from tensat_dl.resources import is_stream, real_path


def choose_output(
    model: Path, output: Path | None, *, force: bool, used: Iterable[Path] = ()
) -> Path:
    """`output`, or `NAME.opt.onnx` beside `model`.

    Raises InputError where there is no `model`, and UsageError where the output cannot be
    written, is no regular file, is among the files `used` beside the model (rules, settings), or
    is the input (unless `force`).
    """
    if reason := why_no_file(model):
        raise InputError(f"{model} {reason}", help="give the path of an ONNX file")
    target = output or model.with_name(f"{model.stem}.opt.onnx")
    _check_output(target)
    if _same(target, model) and not force:
        raise UsageError(
            f"the output {target} is the input",
            help="choose another with -o, or overwrite it with --force",
        )
    if any(_same(target, path) for path in used):
        raise UsageError(
            f"the output {target} would overwrite a file that this command reads",
            help="choose another with -o",
        )
    return target


def check_report(target: str | None, used: Iterable[Path] = ()) -> None:
    """Can a report be written to the file `target`?  None and `-` (stdout) always can.

    `used` are the files that the command reads or writes itself.  Raises UsageError.
    """
    if target is None or target == "-":
        return
    path = Path(target)
    _check_place(path, "report")
    if any(_same(path, other) for other in used):
        raise UsageError(
            f"the report {target} would overwrite a file that this command reads or writes",
            help="choose another file",
        )


def check_rules_output(output: Path, source: Path) -> None:
    """Can a rule file made from `source` be written to `output`?  Raises UsageError."""
    _check_output(output)
    if _same(output, source):
        raise UsageError(f"the output {output} is the input", help="choose another with -o")


def _check_output(path: Path) -> None:
    if str(path) == "-":
        raise UsageError(
            "the output `-` is no file: it is written whole and moved into place, not to stdout",
            help="choose another with -o",
        )
    if is_stream(path):
        raise UsageError(
            f"the output {path} is no regular file",
            help="it is written whole and moved into place; choose another with -o",
        )
    _check_place(path, "output")


def _check_place(path: Path, what: str) -> None:
    """Can a file stand there?  Whatever it is replaces a file, so the directory must allow it."""
    if path.is_dir():
        raise UsageError(f"the {what} {path} is a directory")
    if not path.parent.is_dir():
        raise UsageError(f"the directory {path.parent} of the {what} does not exist")
    if reason := why_not_replaced(path):
        raise UsageError(f"the {what} {path} {reason}")


def why_not_replaced(path: Path) -> str:
    """Why a file must not be written in place of `path`, "" where it may: completes "the file x
    ..".  A file that its owner protects is not replaced, though its directory would allow it."""
    if is_stream(path):
        return ""
    folder = real_path(path).parent
    if not folder.is_dir():
        return "is a link into a directory that does not exist"
    if not os.access(folder, os.W_OK):
        return "cannot be written: its directory is write-protected"
    protected = path.exists() and not os.access(path, os.W_OK)
    return "is write-protected" if protected else ""


def _same(path: Path, other: Path) -> bool:
    """Also where both are yet to be written."""
    if path.exists() and other.exists():
        return path.samefile(other)
    return real_path(path) == real_path(other)
