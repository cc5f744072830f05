"""What a solver hands back, whichever it was.

How the search ended and what we hold are two things: a solver that ran out of time may hold a
solution, and one that claims to be done may hold nonsense.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

STOPPED = "ran past its time limit and was stopped"
NOTHING_IN_TIME = "found no solution in its time"


class Outcome(Enum):
    """How a solve ended."""

    OPTIMAL = "optimal within the gap asked for"
    LIMIT = "stopped by the time limit"
    INFEASIBLE = "infeasible"
    FAILED = "failed"


@dataclass(frozen=True)
class SolverAnswer:
    """`values` are those of the columns, or None; `objective` and `bound` are the solver's own
    claims, on the scale of the program; `duals`, of a relaxation only, are those of the rows;
    `message` says why it failed."""

    outcome: Outcome
    values: tuple[float, ...] | None = None
    objective: float | None = None
    bound: float = float("-inf")
    message: str = ""
    duals: tuple[float, ...] = ()


@dataclass(frozen=True)
class SolverProgress:
    """The best that a solver has reported while it runs; `values` are those of the columns, where
    it tells them."""

    objective: float | None
    bound: float
    values: tuple[float, ...] | None = None
