"""The best answer to the whole problem so far.

Enters: choices and bounds from the heuristics and the components.  Leaves: progress events and,
at the end, an Extraction.  Every choice is checked and priced on the unreduced problem before it
replaces another.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.limits import Limit, records
from tensat_dl.extract.problem import (
    Extraction,
    Problem,
    Selection,
    StageRecord,
    Status,
    StopReason,
)
from tensat_dl.extract.selection import check, select
from tensat_dl.progress import Phase, Progress, ProgressEvent
from tensat_dl.settings import ExtractSettings, Method

#: Methods that prove what they find.
EXACT = (Method.ILP, Method.TENSAT_ILP)
# Below this relative gap the difference is the solvers' rounding.
_PROVEN = 1e-6
#: Costs that differ by no more than this share are equal.
TIE = 1e-9


@dataclass
class Answer:
    """`bound` is a lower bound of every answer; costs are not negative, so 0 is one.  A choice
    beyond the `limits` is no answer.  `stage` is what runs now; `parts`: how many are solved, and
    how many there are."""

    problem: Problem
    settings: ExtractSettings
    deadline: Deadline
    progress: Progress
    selection: Selection | None = None
    objective: float = float("inf")
    bound: float = 0.0
    warnings: list[str] = field(default_factory=list)
    solvers: list[str] = field(default_factory=list)
    limits: tuple[Limit, ...] = ()
    infeasible: bool = False
    stage: str = ""
    parts: tuple[int, int] | None = None

    def offer(self, choice: Mapping[int, int]) -> None:
        """Take the choice if it is cheaper and within the limits.  Raises InvalidSelectionError
        if it is no answer."""
        selection = select(self.problem, choice)
        objective = check(self.problem, selection)
        if objective < self.objective and self._admits(selection):
            self.selection, self.objective = selection, objective
            self.tell()

    def prefer(self, choice: Mapping[int, int]) -> None:
        """Take the choice in place of the one in hand: it costs the same, but for rounding."""
        selection = select(self.problem, choice)
        objective = check(self.problem, selection)
        if objective <= self.objective * (1.0 + TIE) and self._admits(selection):
            self.selection, self.objective = selection, objective

    def _admits(self, selection: Selection) -> bool:
        nodes = selection.chosen()
        return all(limit.admits(nodes) for limit in self.limits)

    def choice(self) -> dict[int, int]:
        """The class -> node of the best answer so far, empty without one."""
        if self.selection is None:
            return {}
        node_of = self.selection.node_of_class
        used = np.flatnonzero(node_of >= 0)
        return dict(zip(used.tolist(), node_of[used].tolist(), strict=True))

    def raise_bound(self, bound: float) -> None:
        """Take a lower bound if it is better; rounding may bring it above the objective."""
        bound = min(bound, self.objective)
        if bound > self.bound:
            self.bound = bound
            self.tell()

    def begin(self, stage: str) -> None:
        """Tell that another stage begins."""
        if stage != self.stage:
            self.stage = stage
            self.tell()

    def tell(self, bound: float | None = None) -> None:
        """Send a progress event, with the bound that holds or one that is only claimed so far."""
        incumbent = None if self.selection is None else self.objective
        seconds = self.deadline.elapsed
        bound = self.bound if bound is None else max(self.bound, min(bound, self.objective))
        done, total = self.parts or (None, None)
        self.progress(
            ProgressEvent(
                Phase.EXTRACT,
                seconds,
                incumbent=incumbent,
                bound=bound,
                stage=self.stage,
                done=done,
                total=total,
            )
        )

    @property
    def tight(self) -> bool:
        """True when the bound has reached the objective, but for rounding."""
        if self.selection is None:
            return False
        return self.objective - self.bound <= _PROVEN * abs(self.objective)

    def result(self, stopped: StopReason, stages: tuple[StageRecord, ...]) -> Extraction:
        """The Extraction that ends the run."""
        exact = self.settings.method in EXACT
        status = Status.OPTIMAL if self.tight else Status.FEASIBLE
        if self.selection is None:
            status = Status.INFEASIBLE if self.infeasible else Status.NOTHING
        if status is Status.OPTIMAL or self.infeasible:
            stopped = StopReason.PROVEN
        return Extraction(
            selection=self.selection,
            status=status,
            stopped=stopped,
            objective=self.objective,
            bound=self.objective if self.selection is None else self.bound,
            method=self.settings.method,
            solver=self.settings.solver if exact else "",
            solvers=tuple(self.solvers),
            seconds=self.deadline.elapsed,
            stages=stages,
            limits=records(
                self.limits, None if self.selection is None else self.selection.chosen()
            ),
            warnings=tuple(dict.fromkeys(self.warnings)),
        )
