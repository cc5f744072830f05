"""Where an optimised model and its report go, decided before any work is done."""

from __future__ import annotations

import os
from pathlib import Path

from tensat_dl.errors import InputError, UsageError


def choose_output(model: Path, output: Path | None, *, force: bool) -> Path:
    """`output`, or `NAME.opt.onnx` beside `model`.

    Raises InputError where there is no `model`, and UsageError where the output cannot be
    written or is the input (unless `force`).
    """
    if not model.is_file():
        raise InputError(f"{model}: {'is a directory' if model.is_dir() else 'no such file'}")
    target = output or model.with_name(f"{model.stem}.opt.onnx")
    if target.is_dir():
        raise UsageError(f"the output {target} is a directory")
    if not target.parent.is_dir():
        raise UsageError(f"the directory {target.parent} of the output does not exist")
    if not os.access(target.parent, os.W_OK):
        raise UsageError(f"the directory {target.parent} of the output cannot be written to")
    if target.exists() and target.samefile(model) and not force:
        raise UsageError(
            f"the output {target} is the input",
            help="choose another with -o, or overwrite it with --force",
        )
    return target


def check_report(target: str | None) -> None:
    """Can a report be written to the file `target`?  None and `-` (stdout) always can.

    Raises UsageError.
    """
    if target is None or target == "-":
        return
    path = Path(target)
    if path.is_dir():
        raise UsageError(f"the report {target} is a directory")
    if not path.parent.is_dir():
        raise UsageError(f"the directory {path.parent} of the report does not exist")
