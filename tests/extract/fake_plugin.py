"""A solver behind Pyomo's newer interface that misbehaves as the variable FAKE says.

Importing it registers it; the worker does so because the table names it as the module.
"""

from __future__ import annotations

import os
import signal
import time
from typing import Any

from pyomo.contrib.solver.common.base import Availability, SolverBase
from pyomo.contrib.solver.common.factory import SolverFactory
from pyomo.contrib.solver.common.results import Results, TerminationCondition


class Loader:
    """Gives every variable one value, or the cheapest one value and the others 0."""

    def __init__(self, model: Any, value: float, cheapest_only: bool) -> None:
        self.model, self.value, self.cheapest_only = model, value, cheapest_only

    def load_vars(self) -> None:
        expression = self.model.cost.expr
        terms = zip(expression.linear_vars, expression.linear_coefs, strict=True)
        prices = {id(x): price for x, price in terms}
        least = min(prices.values())
        for x in self.model.x.values():
            chosen = not self.cheapest_only or prices.get(id(x)) == least
            x.set_value(self.value if chosen else 0.0, skip_validation=True)


@SolverFactory.register(name="fake_plugin", legacy_name="fake_plugin", doc="misbehaves")
class FakePlugin(SolverBase):
    def available(self) -> Availability:
        return Availability.FullLicense

    def version(self) -> tuple[int, ...]:
        return (1, 0)

    def solve(self, model: Any, **keywords: Any) -> Any:
        print("noise on the standard output")
        match os.environ["FAKE"]:
            case "crash":
                os.kill(os.getpid(), signal.SIGSEGV)
            case "raise":
                raise RuntimeError("the licence server does not answer")
            case "hang":
                time.sleep(600.0)
            case "rubbish":
                return "optimal"
            case "infeasible":
                return self._results(None, TerminationCondition.provenInfeasible)
            case "zeros":
                return self._results(Loader(model, 0.0, False))
            case "loop":
                return self._results(Loader(model, 1.0, True), objective=3.0)
            case "nan":
                return self._results(Loader(model, float("nan"), False))
        raise AssertionError("no such mode")

    def _results(
        self,
        loader: Loader | None,
        ended: TerminationCondition = TerminationCondition.convergenceCriteriaSatisfied,
        objective: float = 3.0,
    ) -> Results:
        results = Results()
        results.termination_condition = ended
        results.solution_loader = loader
        results.incumbent_objective = None if loader is None else objective
        results.objective_bound = objective
        return results
