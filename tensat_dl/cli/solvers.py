"""`tensat-dl solvers`: what can extract here, and why not what cannot."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode

if TYPE_CHECKING:
    from tensat_dl.extract.solvers.table import Availability

_EPILOG = """\
examples:
  tensat-dl solvers
  tensat-dl run std model.onnx --solver highs

Any other solver that is registered with Pyomo can be named, too.  Options go to the solver
verbatim: [extract.options] in tensat.toml, or --set extract.options.NAME=VALUE.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    del parser  # it has no arguments of its own


def _execute(arguments: argparse.Namespace) -> ExitCode:
    del arguments
    from tensat_dl.cli.tables import Table, print_blocks
    from tensat_dl.extract.solvers.table import SOLVERS, availability

    found = [availability(solver) for solver in SOLVERS]
    rows = [(each.solver.name, "yes" if each else "no", _detail(each)) for each in found]
    print_blocks([Table(("solver", "usable", "where, or why not"), rows)], sys.stdout)
    return ExitCode.OK


def _detail(found: Availability) -> str:
    """Where it was found; or why it was not, and what to install."""
    needs = found.solver.needs
    return found.detail if found or needs in found.detail else f"{found.detail}: {needs}"


COMMAND = Command(
    "solvers",
    "list solvers, and why one cannot be used",
    "List the solvers that can extract on this machine, and why the others cannot.",
    _EPILOG,
    _add_arguments,
    _execute,
)
