"""The cheapest graph under a cost model, and how it was found.

Enters: nothing (data only).  Written by `settle`, and by `measured.search` where prices are
measured; read by what chooses the answer and by the report.  Leaves: the chosen e-nodes by class.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.cost.measured.tally import Tally
from tensat_dl.cost.posing import Posed
from tensat_dl.egraph.snapshot import ENode
from tensat_dl.extract.problem import Extraction


@dataclass(frozen=True)
class Settled:
    """`posed`: the problem of the last round; `before` and `cost`: the prices of the original
    graph and of the answer (0 where there is none); `estimated`: by a model that measures, but had
    no time to; `incomplete`: it had no time for all that may be cheaper.

    `tally`: what was measured, None for models that measure nothing; `notes` are for people."""

    posed: Posed
    extraction: Extraction
    before: float
    cost: float
    tally: Tally | None = None
    notes: tuple[str, ...] = ()
    estimated: bool = False
    incomplete: bool = False

    @property
    def chosen(self) -> dict[int, ENode]:
        """Class -> the e-node of the answer; empty where there is no answer."""
        if self.extraction.selection is None:
            return {}
        indices = self.extraction.selection.chosen().tolist()
        nodes = [self.posed.nodes[i] for i in indices]
        nodes += [node for i in indices for node in self.posed.inner.get(i, ())]
        return {node.eclass: node for node in nodes if node.eclass not in self.posed.extra}
