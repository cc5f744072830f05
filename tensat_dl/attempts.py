"""Extraction, and extraction again without what proved not to be writable.

Enters: the original graph, the explored e-graph, a cost model.  Leaves: the model to be written,
and how it was found.  The second best is better than nothing: a rule whose operator the runtime
refuses, or that makes NaN or infinities of constants, costs what it would have gained, and no more.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from tensat_dl.answer import Accepted, Candidate, choose_answer
from tensat_dl.blame import Blame, blame_constants, blame_masked, blame_operator
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.settle import settle
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.export import Exported, export_answer
from tensat_dl.extract.limits import require_selection
from tensat_dl.graph.model import Graph
from tensat_dl.graph.opsets import at_oldest_opset
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.verification import Verification
from tensat_dl.phases import Phases
from tensat_dl.progress import Phase
from tensat_dl.settings import ExtractSettings, Settings

#: Answers that are tried before no rule has a part in one.
MOST = 6
#: A later one has at least so many seconds for its extraction.
_LEAST_SECONDS = 1.0


def find_answer(
    original: Graph,
    saturated: Saturated,
    prices: CostModel,
    writable: Writable,
    settings: Settings,
    phases: Phases,
) -> tuple[Settled, Accepted]:
    """The cheapest model that can be written.

    Raises InfeasibleError where there is none."""
    search = _Search(original, saturated, prices, writable, settings, phases)
    barred: frozenset[ENode] = frozenset()
    texts: list[str] = []
    while True:
        settled, answer = search.attempt(barred)
        if isinstance(answer, Accepted):
            warnings = dict.fromkeys((*texts, *answer.warnings))
            return settled, replace(answer, warnings=tuple(warnings))
        barred |= answer.barred
        texts.append(answer.text)
        if len(texts) >= MOST:
            barred |= {node for node in saturated.nodes if not node.original}


@dataclass(frozen=True)
class _Search:
    original: Graph
    saturated: Saturated
    prices: CostModel
    writable: Writable
    settings: Settings
    phases: Phases

    def attempt(self, barred: frozenset[ENode]) -> tuple[Settled, Accepted | Blame]:
        """The answer without e-nodes that are `barred`, or what else is to go."""
        settled = settle(
            self.original,
            self.saturated,
            self.prices,
            self.writable,
            self._within_time(),
            self.phases,
            barred,
        )
        require_selection(settled.extraction)

        def found() -> Exported:
            exported = export_answer(
                self.original, self.saturated, settled.chosen, self.writable.program
            )
            graph = at_oldest_opset(exported.graph, self.writable.opsets)
            return replace(exported, graph=graph)

        answer = choose_answer(
            self.original, settled, found, self.prices, self.settings, self.phases, self._blame
        )
        return settled, answer

    def _within_time(self) -> ExtractSettings:
        """The time for extraction is that for all attempts."""
        extract = self.settings.extract
        left = extract.seconds - self.phases.seconds.get(Phase.EXTRACT.value, 0.0)
        least = min(extract.seconds, _LEAST_SECONDS)
        return replace(extract, seconds=max(left, least))

    def _blame(
        self,
        candidate: Candidate,
        verification: Verification,
        verify: Callable[[Source], Verification],
    ) -> Blame | None:
        exported, saturated = candidate.exported, self.saturated
        if exported is None:
            return None
        if verification.refused:
            return blame_operator(
                candidate.source, exported.makers, saturated, verification, verify
            )
        masked = blame_masked(exported.makers, saturated, verification)
        if masked is not None:
            return masked
        return blame_constants(exported.graph, candidate.graph, exported.makers, saturated)
