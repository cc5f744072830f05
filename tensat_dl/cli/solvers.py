"""`tensat-dl solvers`: what can extract here, and why not what cannot."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode

if TYPE_CHECKING:
    from tensat_dl.cli.tables import Block
    from tensat_dl.extract.solvers.table import Availability, Solver

_EPILOG = """\
examples:
  tensat-dl solvers
  tensat-dl run std model.onnx --solver highs
  tensat-dl run std model.onnx --solver auto

`auto` chooses for each independent part of an e-graph: CP-SAT for small parts with cycles; for all
others the first that is installed of HiGHS, Gurobi, CPLEX, Xpress, SCIP and GLPK.  A solver that is
a program is looked for in this order: [extract] executable, what a Python package brought, PATH.
A solver that was never tried has not been run by this project.  "order variables" are what
[extract] cycles = "order" adds.
Whatever a solver does, it is stopped from outside at its limit, and its answers are checked.

Any other solver that is registered with Pyomo can be named, too.  Options go to the solver
verbatim: [extract.options] in tensat.toml, or --set extract.options.NAME=VALUE.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="order variables, and what a time limit does"
    )


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.cli.tables import Table, print_blocks
    from tensat_dl.extract.solvers.table import SOLVERS, availability

    found = [availability(solver) for solver in SOLVERS]
    columns = ("solver", "usable", "tried", "where, or why not")
    rows = [(each.solver.name, *_marks(each), _detail(each)) for each in found]
    blocks: list[Block] = [Table(columns, rows)]
    if arguments.verbose:
        traits = [(each.solver.name, *_traits(each.solver)) for each in found]
        blocks.append(Table(("solver", "order variables", "at its time limit"), traits))
    print_blocks(blocks, sys.stdout)
    return ExitCode.OK


def _marks(found: Availability) -> tuple[str, str]:
    return "yes" if found else "no", "yes" if found.solver.ran_here else "never"


def _traits(solver: Solver) -> tuple[str, str]:
    return "well" if solver.takes_order else "badly", solver.at_limit


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
