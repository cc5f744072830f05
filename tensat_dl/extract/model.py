"""Builds the Pyomo model of a Program.

Enters: a Program.  Leaves: a Pyomo model whose variable `x[i]` is column i, and to whose list
`cuts` rows may be added later.  Knows nothing of e-graphs.  Import it where a solver runs only:
Pyomo is slow to start.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyomo.environ as pyo
from pyomo.core.expr.numeric_expr import LinearExpression

from tensat_dl.extract.program import Program, Row, Sense

PyomoModel = Any


def build_model(program: Program) -> PyomoModel:
    """A ConcreteModel with variables `x`, constraints `rows` and `cuts`, and the objective."""
    model = pyo.ConcreteModel()
    columns = range(len(program.costs))
    model.x = pyo.Var(columns)
    for i in columns:
        x = model.x[i]
        x.domain = _domain(program, i)
        x.setlb(0.0)
        x.setub(program.uppers[i])
    model.rows = pyo.ConstraintList()
    model.cuts = pyo.ConstraintList()
    priced = [i for i in columns if program.costs[i]]
    model.cost = pyo.Objective(expr=_sum(model, priced, [program.costs[i] for i in priced]))
    _add(model, model.rows, program.rows)
    return model


def _domain(program: Program, column: int) -> Any:
    if not program.integer[column]:
        return pyo.NonNegativeReals
    return pyo.Binary if program.uppers[column] == 1.0 else pyo.NonNegativeIntegers


def add_cuts(model: PyomoModel, rows: Iterable[Row]) -> list[Any]:
    """Add rows to `cuts`; returns the constraints, for solvers that are told of each."""
    return _add(model, model.cuts, rows)


def values_of(model: PyomoModel) -> tuple[float, ...]:
    """The values that the last solve left in `x`; a variable that no row mentions is 0."""
    return tuple(float(x.value or 0.0) for x in model.x.values())


@contextmanager
def relaxed(model: PyomoModel) -> Iterator[None]:
    """Inside the `with` block the model is without integrality."""
    integers = [x for x in model.x.values() if x.is_integer()]
    for x in integers:
        x.domain = pyo.NonNegativeReals
    try:
        yield
    finally:
        for x in integers:
            x.domain = pyo.Binary


def rows_of(model: PyomoModel) -> list[Any]:
    """The constraints in the order of the program's rows, the cuts after them."""
    return [*model.rows.values(), *model.cuts.values()]


def _add(model: PyomoModel, target: Any, rows: Iterable[Row]) -> list[Any]:
    added = []
    for row in rows:
        total = _sum(model, row.columns, row.coefficients)
        lower = None if row.sense is Sense.AT_MOST else row.right
        upper = None if row.sense is Sense.AT_LEAST else row.right
        added.append(target.add((lower, total, upper)))
    return added


def _sum(model: PyomoModel, columns: Sequence[int], coefficients: Sequence[float]) -> Any:
    return LinearExpression(
        constant=0.0,
        linear_coefs=list(coefficients),
        linear_vars=[model.x[i] for i in columns],
    )
