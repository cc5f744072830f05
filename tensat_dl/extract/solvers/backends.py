"""Runs a solver on a Pyomo model, inside the worker process.

One class a way of running: `load` once, `add_rows` between solves, `solve` as often as needed.
What they raise is turned into a failed answer by the worker.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol

from tensat_dl.extract.model import add_cuts, build_model, relaxed, rows_of, values_of
from tensat_dl.extract.program import Program, Row
from tensat_dl.extract.solvers.answer import NOTHING_IN_TIME, Outcome, SolverAnswer, SolverProgress
from tensat_dl.extract.solvers.glpsol import LpFile, find_glpsol, relax_by_glpsol, run_glpsol
from tensat_dl.extract.solvers.table import Backend, Solver, packaged_program
from tensat_dl.settings import SettingValue

Options = Mapping[str, SettingValue]
Report = Callable[[SolverProgress], None]

_LEAST_SECONDS = 0.05


class Runner(Protocol):
    """A program loaded into a solver."""

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Tighten the program."""

    def solve(self, until: float, gap: float, report: Report) -> SolverAnswer:
        """Solve to a relative `gap`, or until the monotonic clock shows `until`."""

    def relax(self, until: float) -> SolverAnswer:
        """Solve the linear relaxation; the answer has the duals of rows and cuts."""


def runner_for(solver: Solver, program: Program, options: Options) -> Runner:
    """The runner that the table names for this solver."""
    match solver.backend:
        case Backend.GLPSOL:
            return GlpsolRunner(solver, program, options)
        case Backend.DIRECT:
            return DirectRunner(solver, program, options)
        case Backend.CPSAT:
            from tensat_dl.extract.solvers.cpsat import CpsatRunner

            return CpsatRunner(program, options)
        case Backend.PYOMO:
            return PyomoRunner(solver, program, options)


class GlpsolRunner:
    """Pyomo writes the LP file into the working directory; `glpsol` is run on it."""

    def __init__(self, solver: Solver, program: Program, options: Options) -> None:
        self.model = build_model(program)
        self.entry = solver
        self.options = options

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add to the model; it is written anew for each solve."""
        add_cuts(self.model, rows)

    def solve(self, until: float, gap: float, report: Report) -> SolverAnswer:
        """Write, run, read."""
        executable = find_glpsol(self.entry.executable)
        if executable is None:
            return SolverAnswer(Outcome.FAILED, message="glpsol is gone")
        lp = self._write(Path("model.lp").absolute())
        return run_glpsol(executable, lp, self.options, _left(until), gap, report)

    def relax(self, until: float) -> SolverAnswer:
        """As `solve`; the options are for integer programs."""
        executable = find_glpsol(self.entry.executable)
        if executable is None:
            return SolverAnswer(Outcome.FAILED, message="glpsol is gone")
        return relax_by_glpsol(executable, self._write(Path("model.lp").absolute()), _left(until))

    def _write(self, path: Path) -> LpFile:
        from pyomo.repn.plugins.lp_writer import LPWriter

        with path.open("w", encoding="ascii") as file:
            symbols = LPWriter().write(self.model, file).symbol_map.byObject
        named = {symbols[id(x)]: i for i, x in self.model.x.items() if id(x) in symbols}
        rows = {symbols[id(row)]: i for i, row in enumerate(rows_of(self.model))}
        return LpFile(path, named, len(self.model.x), rows)


class DirectRunner:
    """A library behind Pyomo's newer interface.  Where that is persistent (HiGHS), rows are added
    to the live model."""

    def __init__(self, solver: Solver, program: Program, options: Options) -> None:
        from pyomo.contrib.solver.common.factory import SolverFactory

        import_module(solver.module)
        self.entry = solver
        self.model = build_model(program)
        self.solver: Any = SolverFactory(solver.plugin)
        more = solver.for_reduced if program.reduced else {}
        self.options = {**solver.defaults, **more, **options}
        self.refused = solver.refused_option(self.options) if solver.refused_option else ""

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Pyomo notices the new constraints at the next solve."""
        add_cuts(self.model, rows)

    def solve(self, until: float, gap: float, report: Report) -> SolverAnswer:
        """One run, of one thread unless the options say otherwise."""
        if self.refused:
            return SolverAnswer(Outcome.FAILED, message=self.refused)
        options = dict(self.options)
        results = self.solver.solve(
            self.model,
            load_solutions=False,
            raise_exception_on_nonoptimal_result=False,
            time_limit=_left(until),
            rel_gap=gap,
            threads=int(options.pop("threads", 1)),
            tee=[self.entry.log(report)] if self.entry.log else [],
            solver_options=options,
        )
        return self._answer(results)

    def relax(self, until: float) -> SolverAnswer:
        """One run without integrality."""
        from pyomo.contrib.solver.common.factory import SolverFactory
        from pyomo.contrib.solver.common.results import TerminationCondition

        with relaxed(self.model):
            results = SolverFactory(self.entry.plugin).solve(
                self.model,
                load_solutions=False,
                raise_exception_on_nonoptimal_result=False,
                time_limit=_left(until),
                threads=1,
            )
            ended = results.termination_condition
            if ended is not TerminationCondition.convergenceCriteriaSatisfied:
                return SolverAnswer(Outcome.FAILED, message=f"{self.entry.name}: {ended.name}")
            results.solution_loader.load_vars()
            duals = results.solution_loader.get_duals()
            by_row = tuple(float(duals[row]) for row in rows_of(self.model))
            value = float(results.incumbent_objective)
            return SolverAnswer(Outcome.OPTIMAL, values_of(self.model), value, value, duals=by_row)

    def _answer(self, results: Any) -> SolverAnswer:
        from pyomo.contrib.solver.common.results import TerminationCondition

        ended = results.termination_condition
        if ended in (
            TerminationCondition.provenInfeasible,
            TerminationCondition.infeasibleOrUnbounded,
        ):
            return SolverAnswer(Outcome.INFEASIBLE)
        proven = ended is TerminationCondition.convergenceCriteriaSatisfied
        stopped = ended is TerminationCondition.maxTimeLimit
        outcome = Outcome.OPTIMAL if proven else Outcome.LIMIT if stopped else Outcome.FAILED
        bound = _float(results.objective_bound)
        if results.incumbent_objective is None:
            reason = NOTHING_IN_TIME if stopped else f"{self.entry.name}: {ended.name}"
            return SolverAnswer(outcome, bound=bound, message=reason)
        results.solution_loader.load_vars()
        return SolverAnswer(
            outcome,
            values_of(self.model),
            float(results.incumbent_objective),
            bound,
            "" if proven else f"{self.entry.name}: {ended.name}",
        )


class PyomoRunner:
    """Any solver registered with Pyomo, through the interface that all of them share."""

    def __init__(self, solver: Solver, program: Program, options: Options) -> None:
        from pyomo.environ import SolverFactory

        program_path = solver.executable or packaged_program(solver)
        keywords = {"executable": program_path} if program_path else {}
        self.model = build_model(program)
        self.solver: Any = SolverFactory(solver.plugin, **keywords)
        self.entry = solver
        self.options = options

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add to the model; it is handed over anew for each solve."""
        add_cuts(self.model, rows)

    def solve(self, until: float, gap: float, report: Report) -> SolverAnswer:
        """Set the limits by the solver's own options where the table names them."""
        options: dict[str, SettingValue] = {**self.entry.defaults}
        limits: dict[str, float] = {}
        if self.entry.time_option:
            options[self.entry.time_option] = _left(until)
        else:
            limits["timelimit"] = _left(until)
        if self.entry.gap_option:
            options[self.entry.gap_option] = gap
        options.update(self.options)
        results = self.solver.solve(self.model, load_solutions=False, options=options, **limits)
        return self._answer(results)

    def relax(self, until: float) -> SolverAnswer:
        """Without integrality, by the solver's defaults; not every plug-in gives duals."""
        from pyomo.environ import Suffix
        from pyomo.opt import TerminationCondition

        with relaxed(self.model):
            self.model.dual = Suffix(direction=Suffix.IMPORT)
            results = self.solver.solve(self.model, load_solutions=False)
            ended = results.solver.termination_condition
            if ended not in (TerminationCondition.optimal, TerminationCondition.globallyOptimal):
                return SolverAnswer(Outcome.FAILED, message=f"{self.entry.name}: {ended}")
            self.model.solutions.load_from(results)
            duals = tuple(float(self.model.dual.get(row, 0.0)) for row in rows_of(self.model))
            self.model.del_component(self.model.dual)
            return SolverAnswer(Outcome.OPTIMAL, values_of(self.model), duals=duals)

    def _answer(self, results: Any) -> SolverAnswer:
        from pyomo.opt import TerminationCondition

        ended = results.solver.termination_condition
        if ended in (
            TerminationCondition.infeasible,
            TerminationCondition.infeasibleOrUnbounded,
        ):
            return SolverAnswer(Outcome.INFEASIBLE)
        proven = ended in (TerminationCondition.optimal, TerminationCondition.globallyOptimal)
        stopped = ended in (TerminationCondition.maxTimeLimit, TerminationCondition.feasible)
        outcome = Outcome.OPTIMAL if proven else Outcome.LIMIT if stopped else Outcome.FAILED
        bound = _float(results.problem.lower_bound)
        message = "" if proven else f"{self.entry.name}: {ended}"
        if len(results.solution) == 0:
            reason = NOTHING_IN_TIME if stopped else message
            return SolverAnswer(outcome, bound=bound, message=reason)
        self.model.solutions.load_from(results)
        values = values_of(self.model)
        return SolverAnswer(outcome, values, None, bound, message)


def _left(until: float) -> float:
    """Seconds until then; solvers take no limit of 0."""
    return max(_LEAST_SECONDS, until - time.monotonic())


def _float(value: object) -> float:
    """A bound as Pyomo gives it; one that is missing or not a number says nothing."""
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return float("-inf")
    return number if number == number else float("-inf")
