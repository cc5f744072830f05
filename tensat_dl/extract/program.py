"""A mixed-integer linear program as plain data, between the formulation and Pyomo.

It pickles: it crosses to the process that runs the solver.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import Enum


class Sense(Enum):
    """How a row compares with its right side."""

    EQUAL = "=="
    AT_LEAST = ">="
    AT_MOST = "<="


@dataclass(frozen=True)
class Row:
    """sum of `coefficients[i] * x[columns[i]]`, compared with `right`."""

    columns: tuple[int, ...]
    coefficients: tuple[float, ...]
    sense: Sense
    right: float


@dataclass
class Program:
    """Minimise `constant + sum(costs[i] * x[i])` with `0 <= x[i] <= uppers[i]`.  Solvers are not
    told the constant.  `reduced`: little is left to presolve."""

    costs: list[float] = field(default_factory=list)
    uppers: list[float] = field(default_factory=list)
    integer: list[bool] = field(default_factory=list)
    rows: list[Row] = field(default_factory=list)
    constant: float = 0.0
    reduced: bool = False

    def column(self, cost: float = 0.0, *, upper: float = 1.0, integer: bool = False) -> int:
        """A new variable; returns its number."""
        self.costs.append(cost)
        self.uppers.append(upper)
        self.integer.append(integer)
        return len(self.costs) - 1

    def at_most(self, value: float) -> Program:
        """The program for objectives up to a value."""
        priced = [i for i, cost in enumerate(self.costs) if cost]
        costs = tuple(self.costs[i] for i in priced)
        limit = Row(tuple(priced), costs, Sense.AT_MOST, value - self.constant)
        rows = [*self.rows, limit] if priced else self.rows
        return replace(self, rows=rows)

    def value(self, values: Sequence[float]) -> float:
        """The objective at a point."""
        terms = zip(self.costs, values, strict=True)
        return self.constant + sum(cost * value for cost, value in terms)
