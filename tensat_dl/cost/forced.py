"""The cheapest answer that uses one of some e-nodes.

Enters: a snapshot, a cost model, the answer without that demand.  Leaves: a :class:`Forced`.  The
problem with the demand is solved, and where its answer meets that with something that no output
needs after all, once more with less taken for granted; each time at its own prices, where these
are measured.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from tensat_dl.cost.bill import Piece, pieces_of, pieces_of_answer
from tensat_dl.cost.demand import EQUAL, Demand, usable
from tensat_dl.cost.met import Met, met
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.settled import Settled
from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.extract.problem import Status
from tensat_dl.settings import ExtractSettings, Tie

#: Problems that are solved at most.
_MOST = 16
#: A later one has at least so many seconds.
_LEAST_SECONDS = 1.0

#: Solves without some e-nodes, for a demand.
Solve = Callable[[ExtractSettings, Collection[ENode], Demand], Settled]


@dataclass(frozen=True)
class Forced:
    """`pieces` by class, and what they cost in all; empty where no answer was found.  Nothing that
    meets the demand costs less than `bound`.  `proven`: nothing is cheaper, or, where there are no
    pieces, that there is no such answer (within the limits of the settings).  `settled`: how it
    was found, None where no problem had to be solved."""

    pieces: Mapping[int, Piece]
    cost: float
    bound: float
    proven: bool
    settled: Settled | None = None


def force(
    saturated: Saturated,
    model: CostModel,
    answer: Settled,
    wanted: frozenset[ENode],
    settings: ExtractSettings,
    solve: Solve,
) -> Forced:
    """The cheapest answer with one of `wanted`; `answer` is that without the demand, which has none
    of them."""
    static = answer.tally is None
    if static and not usable(answer.posed, wanted):
        return Forced({}, 0.0, 0.0, proven=True)
    used = answer.extraction.selection
    assert used is not None, "there is an answer"
    ends = frozenset(np.flatnonzero(used.node_of_class >= 0).tolist())
    pieces = pieces_of_answer(answer, model)
    demand = Demand(wanted, {c: piece.enodes for c, piece in pieces.items()}, ends)
    bound = answer.extraction.bound if static else 0.0
    return _Search(saturated, model, settings, solve).run(demand, bound)


@dataclass
class _Search:
    """Demands, those first that may be met at the least cost, each with its bound.  One whose
    answer is a loop is taken apart: one e-node by itself, and the others.  `open`: bounds of those
    that were given up; `objective`: what `best` costs at the prices of its problem."""

    saturated: Saturated
    model: CostModel
    settings: ExtractSettings
    solve: Solve
    seconds: float = 0.0
    objective: float = math.inf
    best: tuple[Settled, Mapping[int, int]] | None = None
    last: Settled | None = None
    open: list[float] = field(default_factory=list)

    def run(self, demand: Demand, bound: float) -> Forced:
        """The cheapest answer that meets the demand; none costs less than `bound`."""
        pending = [(bound, demand)]
        for _ in range(_MOST):
            pending = [each for each in pending if each[0] < self.objective * (1.0 - EQUAL)]
            if not pending or self.seconds >= self.settings.seconds:
                break
            pending.sort(key=lambda each: each[0])
            pending += self._met(*pending.pop(0))
        return self._end(min([*self.open, *(bound for bound, _ in pending)], default=math.inf))

    def _met(self, bound: float, demand: Demand) -> Iterator[tuple[float, Demand]]:
        """Solve for one demand; what is left to be solved for instead."""
        settled = self._solved(demand)
        extraction = settled.extraction
        if extraction.selection is None:
            if extraction.status is not Status.INFEASIBLE or settled.incomplete:
                self.open.append(bound)
            return
        if not settled.incomplete:
            bound = max(bound, extraction.bound)
        found = self._take(settled, demand)
        if found.chosen is None:
            yield from self._apart(bound, demand, settled, found)
        elif not found.used:
            yield bound, replace(demand, ends=demand.ends & found.chosen.keys())
        elif extraction.status is not Status.OPTIMAL or settled.incomplete:
            self.open.append(bound)

    def _apart(
        self, bound: float, demand: Demand, settled: Settled, found: Met
    ) -> Iterator[tuple[float, Demand]]:
        """An answer that is a loop; without what else computes its tensors there may be one."""
        path = [node for index in found.path for node in settled.posed.enodes(index)]
        one = frozenset([next(node for node in path if node in demand.wanted)])
        if len(demand.wanted) > 1:
            yield bound, replace(demand, wanted=one)
            yield bound, replace(demand, wanted=demand.wanted - one)
            return
        self.open.append(bound)
        settled = self._solved(demand, _rivals(self.saturated, path))
        if settled.extraction.selection is not None:
            self._take(settled, demand)

    def _solved(self, demand: Demand, barred: Collection[ENode] = frozenset()) -> Settled:
        left = max(self.settings.seconds - self.seconds, _LEAST_SECONDS)
        alike = replace(self.settings, seconds=left, ties=(Tie.ORIGINAL,))
        self.last = self.solve(alike, barred, demand)
        self.seconds += self.last.extraction.seconds
        return self.last

    def _take(self, settled: Settled, demand: Demand) -> Met:
        """What was found; it is the best so far where it is an answer, and cheaper."""
        extraction = settled.extraction
        assert extraction.selection is not None, "something was found"
        limited = bool(extraction.limits)
        found = met(settled.posed, demand, extraction.selection, limited=limited)
        if found.chosen is not None and found.used and extraction.objective < self.objective:
            self.objective, self.best = extraction.objective, (settled, found.chosen)
        return found

    def _end(self, least: float) -> Forced:
        """Bounds are at prices with their margin, and so is the objective."""
        if self.best is None:
            proven = math.isinf(least)
            return Forced({}, 0.0, 0.0 if proven else least, proven, self.last)
        settled, chosen = self.best
        pieces = pieces_of(settled, chosen, self.model)
        cost = math.fsum(piece.cost for piece in pieces.values())
        if least >= self.objective * (1.0 - EQUAL):
            return Forced(pieces, cost, cost, proven=True, settled=settled)
        return Forced(pieces, cost, cost * least / self.objective, proven=False, settled=settled)


def _rivals(saturated: Saturated, path: Collection[ENode]) -> frozenset[ENode]:
    """What else could compute the tensors of the path: without it, the path is no loop."""
    kept, tensors = set(path), {node.eclass for node in path}
    return frozenset(n for n in saturated.nodes if n.eclass in tensors and n not in kept)
