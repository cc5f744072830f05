"""The solver sessions of one extraction: one for a named solver; for "auto" one for each solver
that is chosen.

`auto` looks at a part: CP-SAT learns from loops and solves small parts that have some, on which
linear relaxations are weak; HiGHS is best at the rest; GLPK is always there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import TracebackType

from tensat_dl.errors import UsageError
from tensat_dl.extract.graph import Graph
from tensat_dl.extract.order import components
from tensat_dl.extract.solvers.session import SolverSession
from tensat_dl.extract.solvers.table import (
    AUTO,
    SOLVERS,
    Solver,
    availability,
    find_solver,
    require_solver,
)
from tensat_dl.settings import ExtractSettings, SettingValue

# CP-SAT gets cyclic parts of up to so many nodes.
_SMALL = 1_000
_FOR_CYCLES = ("cp-sat",)
_IN_GENERAL = ("highs", "gurobi", "cplex", "xpress", "scip", "glpk")


class SolverPool:
    """Sessions, opened when they are first needed; `used_names` grows in that order."""

    def __init__(self, settings: ExtractSettings) -> None:
        self.settings = settings
        self.used_names: list[str] = []
        self._sessions: dict[str, SolverSession] = {}

    def __enter__(self) -> SolverPool:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for session in self._sessions.values():
            session.__exit__(kind, error, trace)

    def kill(self) -> None:
        """End all processes, from any thread."""
        for session in list(self._sessions.values()):
            session.kill()

    def session_for(self, graph: Graph) -> SolverSession:
        """The session of the solver that suits a graph."""
        session = self._session(self._solver(graph))
        if session.solver.name not in self.used_names:
            self.used_names.append(session.solver.name)
        return session

    def prepare(self, graph: Graph) -> None:
        """Start the process of the solver that suits a graph, before it is used."""
        self._session(self._solver(graph)).start()

    def _solver(self, graph: Graph) -> Solver:
        if self.settings.solver == AUTO:
            return _choose(graph)
        return require_solver(self.settings.solver, self.settings.executable)

    def _session(self, solver: Solver) -> SolverSession:
        if solver.name not in self._sessions:
            session = SolverSession(solver, self._options(solver))
            self._sessions[solver.name] = session.__enter__()
        return self._sessions[solver.name]

    def _options(self, solver: Solver) -> Mapping[str, SettingValue]:
        """`auto` takes no options: they differ by solver."""
        return {} if self.settings.solver == AUTO else self.settings.options


def check_solver(settings: ExtractSettings) -> None:
    """Can the solver of these settings be used here?  Raises UsageError that says why not."""
    if settings.solver != AUTO:
        require_solver(settings.solver, settings.executable)
        return
    for name, value in (("options", settings.options), ("executable", settings.executable)):
        if value:
            raise UsageError(
                f"`extract.{name}` is set, but the solver is `{AUTO}`",
                help="name the solver that it is for",
            )
    if next(_usable(), None) is None:
        raise UsageError("no solver can be used here", help=f"install one: {SOLVERS[0].needs}")


def has_learner(settings: ExtractSettings) -> bool:
    """Will small parts with loops come to a solver that learns from conflicts?"""
    names = _FOR_CYCLES if settings.solver == AUTO else (settings.solver,)
    solvers = map(find_solver, names)
    return any(solver.learns and availability(solver) for solver in solvers)


def _choose(graph: Graph) -> Solver:
    small = graph.nodes <= _SMALL
    cyclic = small and any(len(component) > 1 for component in components(graph))
    return next(_usable(_FOR_CYCLES if cyclic else ()))


def _usable(first: tuple[str, ...] = ()) -> Iterator[Solver]:
    """What is installed, `first` and then in the order of `auto`."""
    for name in (*first, *_IN_GENERAL):
        if found := availability(find_solver(name)):
            yield found.solver
