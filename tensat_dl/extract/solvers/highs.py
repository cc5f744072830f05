"""What HiGHS does not tell through Pyomo's interface: options that it refuses, and its progress.

Enters: options; text as HiGHS prints it.  Leaves: what is wrong with them; progress, read from the
log while it is written.  A line of its table is
`[source] nodes queue leaves explored% bound solution gap …`.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any

from tensat_dl.extract.solvers.answer import SolverProgress
from tensat_dl.settings import SettingValue


def refused_option(options: Mapping[str, SettingValue]) -> str:
    """What is wrong with an option that HiGHS does not take, "" where it takes all."""
    highspy: Any = import_module("highspy")
    highs = highspy.Highs()
    highs.silent()
    for name, value in options.items():
        if highs.setOptionValue(name, value) == highspy.HighsStatus.kError:
            return f"HiGHS does not take the option `{name} = {value}`"
    return ""


class HighsLog(io.TextIOBase):
    """A stream to print to; complete lines are read, those of other kinds passed over."""

    def __init__(self, report: Callable[[SolverProgress], None]) -> None:
        self.report = report
        self._rest = ""

    def writable(self) -> bool:
        """Pyomo asks."""
        return True

    def write(self, text: str) -> int:
        """Take what was printed."""
        *lines, self._rest = (self._rest + text).split("\n")
        for line in lines:
            if progress := read_line(line):
                self.report(progress)
        return len(text)


def read_line(line: str) -> SolverProgress | None:
    """The bound and the best value of a line of the table; None for other lines."""
    fields = line.split()
    share = next((i for i, text in enumerate(fields[:5]) if text.endswith("%")), None)
    if share is None or len(fields) < share + 3:
        return None
    try:
        bound, objective = float(fields[share + 1]), float(fields[share + 2])
    except ValueError:
        return None
    return SolverProgress(objective if objective < float("inf") else None, bound)
