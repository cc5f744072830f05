"""Which model is written: the cheapest that was found, or the original.

Enters: the original graph, the graph that was found, their costs.  Leaves: candidates, the best
first, each folded; and the first of them that the runtime takes and, where that was measured, runs
faster, with its verification.  The last candidate is the model as it was given: what onnxruntime
loads always passes through.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from tensat_dl.cost.free import price_of_unfolded
from tensat_dl.cost.measured.comparison import Comparison
from tensat_dl.cost.models import CostModel
from tensat_dl.errors import InfeasibleError
from tensat_dl.graph.fold import fold_constants, left_by_folding
from tensat_dl.graph.model import Graph
from tensat_dl.graph.prune import remove_dead
from tensat_dl.graph.source import Source
from tensat_dl.graph.verification import Verification
from tensat_dl.graph.write import build_source
from tensat_dl.phases import Phases
from tensat_dl.settings import ExportSettings, ExtractSettings
from tensat_dl.written_limits import beyond_limits

#: An answer must be cheaper than the original by this share to count as another one.
_IMPROVEMENT = 1e-9


@dataclass(frozen=True)
class Candidate:
    """`before` and `cost`: what the original and this one cost at run time; `found`: rules may
    have had a part in it; `changed`: it is another model than the one that was given."""

    graph: Graph
    source: Source
    before: float
    cost: float
    found: bool = False
    changed: bool = True


@dataclass(frozen=True)
class Found:
    """The graph that was chosen, not folded yet, and its cost by the e-graph."""

    graph: Callable[[], Graph]
    cost: float


def candidates(
    original: Graph,
    before: float,
    found: Found,
    model: CostModel,
    settings: ExportSettings,
    limits: ExtractSettings,
) -> Iterator[Candidate]:
    """What may be written, the best first; `before` is the cost of the original when folded.

    Where the original is beyond the limits, what was found need not be cheaper.  Raises
    InfeasibleError when nothing is left."""
    left = left_by_folding(original, settings)
    tidy = None
    if original.source.inlined or len(left) < len(remove_dead(original).nodes):
        tidy = fold_constants(original, settings)
        if beyond_limits(tidy, limits):
            tidy, left = None, original.nodes
    before += price_of_unfolded(original, left, model)
    beyond = beyond_limits(original, limits)
    is_given = tidy is not None or not beyond
    most = before * (1 - _IMPROVEMENT) if is_given else math.inf
    if found.cost < most:
        whole = found.graph()
        graph = fold_constants(whole, settings)
        cost = found.cost + price_of_unfolded(whole, graph.nodes, model)
        too_much = beyond_limits(graph, limits)
        if cost < most and not too_much:
            yield Candidate(graph, build_source(graph), before, cost, found=True)
        beyond = beyond and (too_much or beyond)
    if tidy is not None:
        yield Candidate(tidy, build_source(tidy), before, before)
    if beyond:
        raise InfeasibleError(
            f"no model within the limits was found that can be written: {', '.join(beyond)}",
            help="raise the limits, or explore further",
        )
    yield Candidate(original, original.source, before, before, changed=False)


@dataclass(frozen=True)
class Judges:
    """What a candidate must pass: `verify`, and where the cost was measured, `compare`: a model
    that is not faster as a whole is not accepted, unless `keep_anyway`."""

    verify: Callable[[Source], Verification]
    compare: Callable[[Source], Comparison] | None = None
    keep_anyway: bool = False


@dataclass(frozen=True)
class Accepted:
    """The candidate to be written.  `comparison`: that of the best candidate, where one was
    made; `warnings`: why better ones are not written."""

    candidate: Candidate
    verification: Verification
    comparison: Comparison | None
    warnings: tuple[str, ...]


def first_accepted(offered: Iterator[Candidate], judges: Judges, phases: Phases) -> Accepted:
    """The first candidate that the runtime takes, and is the better for it."""
    refused: list[str] = []
    comparison = None
    while True:
        with phases("export"):
            candidate = next(offered)
        with phases("verify"):
            verification = judges.verify(candidate.source)
        if verification.refused and candidate.changed:
            refused.append(f"a better model was found but is not written: {verification.refused}")
            continue
        if judges.compare is not None and candidate.found and verification.ok:
            with phases("compare"):
                comparison = judges.compare(candidate.source)
            if not (comparison.faster or comparison.refused or judges.keep_anyway):
                continue
        return Accepted(candidate, verification, comparison, tuple(dict.fromkeys(refused)))
