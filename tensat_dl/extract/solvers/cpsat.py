"""Runs OR-tools' CP-SAT on a program, inside the worker process.

CP-SAT knows integers only, and programs have few others: activities, which are 0 or 1 in a
cheapest solution, and positions, which may as well be whole.  A row with other coefficients is
scaled and rounded towards what it allows, so that no solution is lost.  Pyomo's own interfaces do
not lead here on every Python that this project runs on, and tell no solution while it searches.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from ortools.sat.python import cp_model

from tensat_dl.extract.program import Program, Row, Sense
from tensat_dl.extract.solvers.answer import NOTHING_IN_TIME, Outcome, SolverAnswer, SolverProgress
from tensat_dl.settings import SettingValue

Report = Callable[[SolverProgress], None]

# Coefficients that are no integers are brought to about this size before they are rounded.
_PRECISION = 1 << 40
_ROUNDING = 1e-9


class CpsatRunner:
    """A CP-SAT model of a program; each solve begins anew."""

    def __init__(self, program: Program, options: Mapping[str, SettingValue]) -> None:
        self.options = options
        self.model = cp_model.CpModel()
        self.columns = [
            self.model.new_int_var(0, math.floor(upper), f"x{i}")
            for i, upper in enumerate(program.uppers)
        ]
        self.model.minimize(cp_model.LinearExpr.weighted_sum(self.columns, program.costs))
        self.add_rows(program.rows)

    def add_rows(self, rows: Iterable[Row]) -> None:
        """Add linear constraints."""
        for row in rows:
            low, coefficients, high = whole(row)
            total = cp_model.LinearExpr.weighted_sum(
                [self.columns[i] for i in row.columns], coefficients
            )
            self.model.add_linear_constraint(total, low, high)

    def solve(self, until: float, gap: float, report: Report) -> SolverAnswer:
        """One search, of one worker unless the options say otherwise."""
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.relative_gap_limit = gap
        solver.parameters.max_time_in_seconds = max(0.05, until - time.monotonic())
        for name, value in self.options.items():
            setattr(solver.parameters, name, value)
        status = solver.solve(self.model, _Listener(self.columns, report))
        return self._answer(solver, status, gap)

    def relax(self, until: float) -> SolverAnswer:
        """CP-SAT gives no duals."""
        return SolverAnswer(Outcome.FAILED, message="cp-sat: no linear relaxation")

    def _answer(self, solver: Any, status: Any, gap: float) -> SolverAnswer:
        if status == cp_model.INFEASIBLE:
            return SolverAnswer(Outcome.INFEASIBLE)
        if status == cp_model.MODEL_INVALID:
            return SolverAnswer(Outcome.FAILED, message=f"cp-sat: {self.model.validate()}")
        if status == cp_model.UNKNOWN:
            bound = solver.best_objective_bound
            return SolverAnswer(Outcome.LIMIT, bound=bound, message=NOTHING_IN_TIME)
        proven = status == cp_model.OPTIMAL
        values = tuple(float(solver.value(x)) for x in self.columns)
        outcome = Outcome.OPTIMAL if proven else Outcome.LIMIT
        value, bound = solver.objective_value, solver.best_objective_bound
        # What presolve settles leaves the bound as it was.
        bound = max(bound, value - gap * abs(value)) if proven else bound
        return SolverAnswer(outcome, values, value, bound)


class _Listener(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
    """Tells each solution as soon as CP-SAT has it."""

    def __init__(self, columns: list[Any], report: Report) -> None:
        super().__init__()
        self.columns, self.report = columns, report

    def on_solution_callback(self) -> None:
        """Called by CP-SAT."""
        values = tuple(float(self.value(x)) for x in self.columns)
        self.report(SolverProgress(self.objective_value, self.best_objective_bound, values))


def whole(row: Row) -> tuple[int, list[int], int]:
    """The row as `low <= sum of integers times columns <= high`.

    A sum of integers is at least a number where it is at least the next integer.  Otherwise the
    row is scaled; columns are not negative, so with coefficients rounded down and the right side
    rounded up, an upper end allows what it allowed; likewise a lower end.
    """
    exact = all(value == round(value) for value in row.coefficients)
    factor = 1 if exact else max(1, round(_PRECISION / max(map(abs, row.coefficients))))
    right = factor * row.right
    match row.sense:
        case Sense.AT_MOST:
            high = math.floor(right + _ROUNDING) if exact else math.ceil(right)
            return cp_model.INT_MIN, [math.floor(factor * v) for v in row.coefficients], high
        case Sense.AT_LEAST:
            low = math.ceil(right - _ROUNDING) if exact else math.floor(right)
            return low, [math.ceil(factor * v) for v in row.coefficients], cp_model.INT_MAX
        case Sense.EQUAL:
            if not exact:
                raise ValueError("CP-SAT takes equations of whole coefficients only")
            return round(right), [round(v) for v in row.coefficients], round(right)
