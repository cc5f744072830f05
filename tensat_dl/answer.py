"""Which model is written: the cheapest that was found, or the original.

Enters: the original graph, the graph that was found, their costs.  Leaves: candidates, the best
first, each folded; and the first of them that the runtime takes and, where that was measured, runs
faster, with its verification.  The last candidate is the model as it was given: what onnxruntime
loads always passes through.  Where what was found cannot be written, and a rule is to blame, that
comes out instead: extraction may do without it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache, partial

from tensat_dl.blame import Blame
from tensat_dl.cost.free import price_of_unfolded
from tensat_dl.cost.measured.comparison import Comparison, Conditions, compare_models
from tensat_dl.cost.measured.kept import KeptComparisons, pair_key
from tensat_dl.cost.measured.machine import threads_for_timing
from tensat_dl.cost.measured.model import MeasuredModel
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.symbol_sizes import symbol_sizes
from tensat_dl.egraph.snapshot import Saturated
from tensat_dl.errors import InfeasibleError
from tensat_dl.export import Exported
from tensat_dl.graph.digest import model_digest
from tensat_dl.graph.folding.fold import fold_constants, left_by_folding
from tensat_dl.graph.model import Graph, Node
from tensat_dl.graph.prune import remove_dead
from tensat_dl.graph.running.run import Loader
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.verification import Verification
from tensat_dl.graph.verifying.verify import verify
from tensat_dl.graph.writing.write import build_source
from tensat_dl.phases import Phases
from tensat_dl.progress import Phase
from tensat_dl.settings import ExportSettings, Settings
from tensat_dl.written_limits import beyond_limits, is_limited

#: An answer must be cheaper than the original by this share to count as another one.
_IMPROVEMENT = 1e-9

_REFUSED = "a better model was found but is not written: {}"


@dataclass(frozen=True)
class Candidate:
    """`before` and `cost`: what the original and this one cost at run time; `found`: rules may
    have had a part in it: then `exported` is what `graph` was before it was folded; `changed`: it
    is another model than the one that was given; `only`: no other is within the limits; `level`: it
    is no cheaper, but for the noise in times, and has fewer nodes."""

    graph: Graph
    source: Source
    before: float
    cost: float
    exported: Exported | None = None
    only: bool = False
    level: bool = False
    changed: bool = True

    @property
    def found(self) -> bool:
        """Extraction found it."""
        return self.exported is not None


#: What an answer is to do without, that was verified so, and with what it may be again.
BlameOf = Callable[[Candidate, Verification, Callable[[Source], Verification]], Blame | None]


def has_alternatives(original: Graph, saturated: Saturated, export: ExportSettings) -> bool:
    """Could an answer be another graph than `original`?  Where no rule acted, no two of its values
    are equal, and nothing is to be folded or put in place of control flow, none could."""
    if any(count.applied for count in saturated.exploration.rules.values()) or original.source.made:
        return True
    live = remove_dead(original).nodes
    values = [name for node in live for name in node.outputs]
    classes = {saturated.value_class.get(name, name) for name in values}
    return len(classes) < len(values) or len(left_by_folding(original, export)) < len(live)


def choose_answer(
    original: Graph,
    settled: Settled,
    found: Callable[[], Exported],
    prices: CostModel,
    settings: Settings,
    phases: Phases,
    blame_of: BlameOf,
) -> Accepted | Blame:
    """The model to be written; `found` makes the graph that extraction chose, not folded yet.  Or
    what extraction is to do without.

    Raises InfeasibleError where nothing is within the limits."""
    offered = _candidates(original, settled, found, prices, settings)
    judges = _judges(original, settings, prices, blame_of)
    return _first_accepted(offered, judges, phases)


def _candidates(
    original: Graph,
    settled: Settled,
    found: Callable[[], Exported],
    model: CostModel,
    settings: Settings,
) -> Iterator[Candidate]:
    """What may be written, the best first.

    Where the original is beyond the limits, what was found need not be cheaper.  Raises
    InfeasibleError when nothing is left."""
    limits = settings.extract
    tidied, left = _tidied(original, settings)
    before = settled.before + price_of_unfolded(original, left, model)
    beyond = beyond_limits(original, limits)
    is_given = tidied is not None or not beyond
    most = before * (1 - _IMPROVEMENT) if is_given else math.inf
    bar = _Bar(most, max(most, before * (1 + _noise(model))), len(left))
    if settled.cost < bar.reach:
        exported = found()
        expected = left_by_folding(exported.graph, settings.export)

        def cost_with(nodes: Sequence[Node]) -> float:
            return settled.cost + price_of_unfolded(exported.graph, nodes, model)

        # Folding, which takes time where weights are large, leaves as much as is expected or more.
        if is_limited(limits) or bar.is_passed(cost_with(expected), expected):
            graph = fold_constants(exported.graph, settings.export)
            cost, too_much = cost_with(graph.nodes), beyond_limits(graph, limits)
            if bar.is_passed(cost, remove_dead(graph).nodes) and not too_much:
                source, level = build_source(graph), cost >= most
                yield Candidate(graph, source, before, cost, exported, not is_given, level)
            beyond = beyond and (too_much or beyond)
    if tidied is not None:
        tidy = tidied()
        yield Candidate(tidy, build_source(tidy), before, before)
    if beyond:
        raise InfeasibleError(
            f"no model within the limits was found that can be written: {', '.join(beyond)}",
            help="raise the limits, or explore further",
        )
    yield Candidate(original, original.source, before, before, changed=False)


@dataclass(frozen=True)
class _Bar:
    """What a candidate must pass to be offered: cost less than `most`, or less than `reach` and
    have fewer than `nodes` nodes."""

    most: float
    reach: float
    nodes: int

    def is_passed(self, cost: float, nodes: Sequence[Node]) -> bool:
        """By a model of that cost at run time, and those nodes."""
        return cost < self.most or (cost < self.reach and len(nodes) < self.nodes)


def _noise(model: CostModel) -> float:
    """The share by which two costs may differ and be the same: the whole models are timed then."""
    return model.margin if isinstance(model, MeasuredModel) else 0.0


def _tidied(
    original: Graph, settings: Settings
) -> tuple[Callable[[], Graph] | None, tuple[Node, ...]]:
    """What makes the original with its constants folded, None where that changes nothing or is
    beyond the limits; and the nodes that are there at run time."""
    left = left_by_folding(original, settings.export)
    if not original.source.made and len(left) == len(remove_dead(original).nodes):
        return None, left
    tidied = cache(partial(fold_constants, original, settings.export))
    if is_limited(settings.extract) and beyond_limits(tidied(), settings.extract):
        return None, original.nodes
    return tidied, left


@dataclass(frozen=True)
class _Judges:
    """What a candidate must pass: `verify`, and where both models are timed, `compare`: one that
    is not faster as a whole is not accepted, unless `keep_anyway`.  `busy`: why that is with one
    thread, or ""."""

    verify: Callable[[Source], Verification]
    blame_of: BlameOf
    compare: Callable[[Candidate], Comparison] | None = None
    keep_anyway: bool = False
    busy: str = ""


@dataclass(frozen=True)
class Accepted:
    """The candidate to be written.  `comparison`: that of the best candidate, where one was
    made; `warnings`: why better ones are not written; `slower`: the best one, which is no faster
    and therefore not written; `busy`: why both were timed with one thread, or ""."""

    candidate: Candidate
    verification: Verification
    comparison: Comparison | None
    warnings: tuple[str, ...]
    slower: Candidate | None = None
    busy: str = ""


def _judges(original: Graph, settings: Settings, prices: CostModel, blame_of: BlameOf) -> _Judges:
    cost, dims, source = settings.cost, settings.model.dims, original.source
    checked = partial(verify, source, settings=settings.verify, dims=dims, types=original.types)
    if not (cost.compare or isinstance(prices, MeasuredModel)):
        return _Judges(checked, blame_of)
    conditions = Conditions(
        dims,
        symbol_sizes(original, cost.symbolic_dim),
        cost.compare_seconds,
        settings.verify.input_data,
    )
    threads, busy = (
        (prices.setting.threads, "")
        if isinstance(prices, MeasuredModel)
        else threads_for_timing(cost.threads)
    )
    loader = Loader(threads)

    def compare(new: Candidate) -> Comparison:
        made = partial(compare_models, source, new.source, conditions, loader)
        if not isinstance(prices, MeasuredModel) or prices.cache is None:
            return made()
        before = model_digest(original, source.proto)
        key = pair_key(before, model_digest(new.graph, new.source.proto), conditions)
        return KeptComparisons(prices.cache, prices.setting, cost.compare).get(key, made)

    return _Judges(checked, blame_of, compare, cost.keep_anyway, busy)


def _first_accepted(
    offered: Iterator[Candidate], judges: _Judges, phases: Phases
) -> Accepted | Blame:
    """The first candidate that the runtime takes, and is the better for it."""
    refused: list[str] = []
    comparison = slower = None
    while True:
        with phases(Phase.EXPORT):
            candidate = next(offered)
        with phases(Phase.VERIFY):
            verification = judges.verify(candidate.source)
            blame = None
            if candidate.found and not verification.ok:
                blame = judges.blame_of(candidate, verification, judges.verify)
        if blame is not None:
            return blame
        if verification.refused and candidate.changed:
            refused.append(_REFUSED.format(verification.refused))
            continue
        if judges.compare is not None and candidate.found and verification.ok:
            with phases(Phase.COMPARE):
                comparison = judges.compare(candidate)
            keep = candidate.only or judges.keep_anyway
            if comparison.refused and candidate.level and not keep:
                comparison = None
                continue
            if not (comparison.faster or comparison.refused or keep):
                slower = candidate
                continue
        warnings = tuple(dict.fromkeys(refused))
        busy = judges.busy if comparison is not None else ""
        return Accepted(candidate, verification, comparison, warnings, slower, busy)
