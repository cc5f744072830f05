"""What the streams can show: colour, width, live progress.  Decided here and nowhere else."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TextIO


def is_terminal(stream: TextIO) -> bool:
    """A person watches this stream; a dumb terminal counts as a pipe."""
    return stream.isatty() and os.environ.get("TERM") != "dumb"


def wants_color(stream: TextIO) -> bool:
    """Colour is on a terminal only, and never where NO_COLOR is set (https://no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


def survive_any_text() -> None:
    """Let names of any alphabet be printed where the encoding lacks them (as `\\xNN`), and
    anything at all where a stream is closed (to nowhere)."""
    sys.stdout = sys.stdout or _nowhere()
    sys.stderr = sys.stderr or _nowhere()
    for stream in (sys.stdout, sys.stderr):
        reconfigure = getattr(stream, "reconfigure", None)
        if reconfigure is not None:
            reconfigure(errors="backslashreplace")


def _nowhere() -> TextIO:
    return Path(os.devnull).open("w", encoding="utf-8")
