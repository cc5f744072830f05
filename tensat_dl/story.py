"""What the stages of one run handed on, and the outcome that it makes.

Enters: a :class:`Run`, which the pipeline fills.  Leaves: an
:class:`~tensat_dl.outcome.Outcome`, and the rules to suspect when the answer is wrong.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from tensat_dl.answer import Accepted
from tensat_dl.cost.choice import CostChoice
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.opset_notes import opset_notes
from tensat_dl.cost.settled import Settled
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.snapshot import RuleCount, Saturated
from tensat_dl.graph.functions import function_bodies
from tensat_dl.graph.model import Graph
from tensat_dl.graph.names import operators, subgraphs
from tensat_dl.graph.prune import remove_dead
from tensat_dl.graph.source import Improved
from tensat_dl.graph.untyped import find_untyped
from tensat_dl.outcome import Outcome, OutcomeStatus
from tensat_dl.sentences import counted, listed, shortened
from tensat_dl.vocabulary.adapters import OLDEST

if TYPE_CHECKING:
    import onnx

    from tensat_dl.cost.measured.comparison import Comparison
    from tensat_dl.diagnosis.changes import Change


#: Values that a note names.
_NAMED = 3


@dataclass(frozen=True)
class Acts:
    """What rules did: rule -> how often it acted, and the e-nodes of the answer that it made."""

    counts: Mapping[str, RuleCount]
    made: Mapping[str, int]


@dataclass(frozen=True)
class Run:
    """`barred`: why newer opsets are not open to the answer; `useless`: rules that can make nothing
    cheaper; `changes`: what the answer changed, where somebody wants to know; `notes`: why some
    rules had no part in it; `inside`: what rules did in each better body of control
    flow; `warnings`: of what they did there in vain."""

    original: Graph
    saturated: Saturated
    choice: CostChoice
    prices: CostModel
    writable: Writable
    settled: Settled
    accepted: Accepted
    barred: tuple[str, ...] = ()
    useless: tuple[str, ...] = ()
    changes: tuple[Change, ...] = ()
    notes: tuple[str, ...] = ()
    inside: tuple[Acts, ...] = ()
    warnings: tuple[str, ...] = ()

    @property
    def made(self) -> Mapping[str, int]:
        """Rule -> the e-nodes of the answer that it made."""
        if not self.accepted.candidate.found:
            return {}
        return dict(Counter(node.rule for node in self.settled.chosen.values() if node.rule))

    @property
    def acts(self) -> Acts:
        """What rules did in all of what is written, inside control flow too."""
        counts, made = dict(self.saturated.exploration.rules), Counter(self.made)
        for inside in self.inside if self.accepted.candidate.changed else ():
            made.update(inside.made)
            for name, count in inside.counts.items():
                counts[name] = counts.get(name, RuleCount(0, 0)) + count
        return Acts(counts, dict(made))

    @property
    def suspects(self) -> tuple[str, ...]:
        """The rules that acted, those with most nodes in the answer first; none where no rule had
        a part in the answer."""
        if not self.accepted.candidate.found:
            return ()
        made = self.made
        counts = self.saturated.exploration.rules
        acted = [name for name, count in counts.items() if count.applied]
        return tuple(sorted(acted, key=lambda name: (-made.get(name, 0), name)))


def _inside(run: Run) -> Iterator[str]:
    """Of what rules did to the bodies of control flow."""
    improved = _improved(run)
    if bodies := sum(each.bodies for each in improved):
        before, after = (
            sum(counts) for counts in zip(*((i.before, i.after) for i in improved), strict=True)
        )
        where = "the body of a node" if bodies == 1 else f"{bodies} bodies"
        became = f"became {after:,}" if after != before else "are others now"
        yield (
            f"rules act inside control flow, too: in {where} of If, Loop or Scan "
            f"{counted(before, 'node')} {became}"
        )


def _improved(run: Run) -> Sequence[Improved]:
    """The nodes with better bodies in what is written."""
    answer = run.accepted.candidate
    if not answer.changed:
        return ()
    improved = run.original.source.improved
    live = remove_dead(answer.graph).nodes
    return [improved[node.index] for node in live if node.index in improved]


def _in_vain(run: Run) -> Iterator[str]:
    """Of rules that acted, and whose results are never cheaper under this cost model."""
    counts = run.saturated.exploration.rules
    model = run.prices.name
    acted = [name for name in run.useless if name in counts and counts[name].applied]
    if acted:
        yield (
            f"{listed(acted)} {'acts' if len(acted) == 1 else 'act'}, and can make nothing cheaper "
            f"under `{model}`: `tensat-dl check RULES --cost {model}`"
        )


def _passed_over(graph: Graph) -> Iterator[str]:
    """Of nodes that rules cannot look at, though the model is none that rules never look at."""
    if graph.opsets.get("", OLDEST) < OLDEST:
        return
    found = find_untyped(graph)
    if found.nodes:
        names = shortened([f"`{name}`" for name in found.values], _NAMED)
        yield (
            f"rules pass over {counted(len(found.nodes), 'node')}, as nothing is known of the type "
            f"of {names}: declare it in the model (value_info)"
        )


def _called(graph: Graph) -> Iterator[str]:
    """Of functions of the model, into which rules do not look."""
    functions = function_bodies(graph.source.proto)
    names = {(domain, name) for domain, name, _ in functions}
    calls = [n for n in graph.nodes if (n.operator.domain, n.operator.name) in names]
    if calls:
        yield (
            f"rules do not look into the model's functions, which {counted(len(calls), 'node')} "
            f"call{'s' * (len(calls) == 1)}: `onnx.inliner.inline_local_functions(model)` writes "
            "them out"
        )


def _doubts(comparison: Comparison | None) -> Iterator[str]:
    """Of times that do not tell which model is faster."""
    if comparison is not None and comparison.advice:
        yield comparison.advice


def _unexplained(run: Run, status: OutcomeStatus) -> str:
    """Why there is nothing to explain, though somebody asked for it."""
    why = "no rule has a part in what is written"
    if status is OutcomeStatus.NOT_FASTER:
        why = "the original is kept; with --keep-anyway the new model is written and explained"
    elif not run.accepted.candidate.changed:
        why = "the model is unchanged"
    elif run.inside:
        why = "rules changed only what is inside control flow"
    return f"nothing to explain: {why}"


def tell(
    run: Run,
    seconds: Mapping[str, float],
    output: Path | None,
    *,
    verified: bool,
    explained: bool,
) -> Outcome:
    """The outcome of a run; `seconds` by phase, `verified` unless that was switched off,
    `explained` where somebody asked for the changes."""
    status = _status(run.accepted)
    answer, accepted, settled = run.accepted.candidate, run.accepted, run.settled
    source, acts = run.original.source, run.acts
    written = source.node if answer.changed else source.node_as_given
    return Outcome(
        status=status,
        cost_choice=run.choice,
        cost_unit=run.prices.unit,
        cost_before=answer.before,
        cost_after=answer.cost,
        cost_estimated=settled.estimated,
        nodes_before=_count_nodes(run.original, source.node_as_given),
        nodes_after=_count_nodes(answer.graph, written),
        bodies=sum(each.bodies for each in _improved(run)),
        nodes_slower=_count_nodes(accepted.slower.graph, source.node) if accepted.slower else None,
        exploration=replace(run.saturated.exploration, rules=acts.counts),
        extraction=settled.extraction,
        rules_in_answer=acts.made,
        verification=accepted.verification if verified else None,
        seconds=seconds,
        output_path=None if output is None else str(output),
        warnings=_warnings(run),
        notes=_notes(run, status, explained=explained),
        changes=run.changes,
        tally=settled.tally,
        comparison=accepted.comparison,
        model=answer.source,
    )


def _warnings(run: Run) -> tuple[str, ...]:
    """Of all stages, in their order."""
    return (
        *run.original.source.warnings,
        *run.warnings,
        *run.barred,
        *run.saturated.exploration.warnings,
        *run.settled.extraction.warnings,
        *run.settled.notes,
        *run.accepted.warnings,
        *([run.accepted.busy] if run.accepted.busy else []),
    )


def _notes(run: Run, status: OutcomeStatus, *, explained: bool) -> tuple[str, ...]:
    """What is good to know, and no warning."""
    left_out = run.settled.posed.left_out
    return (
        *run.original.source.notes,
        *_inside(run),
        *run.notes,
        *_passed_over(run.original),
        *_called(run.original),
        *opset_notes(left_out, run.saturated, run.writable),
        *_in_vain(run),
        *_doubts(run.accepted.comparison),
        *([_unexplained(run, status)] if explained and not run.changes else []),
    )


def _status(accepted: Accepted) -> OutcomeStatus:
    candidate = accepted.candidate
    if accepted.slower is not None:
        return OutcomeStatus.NOT_FASTER
    if not candidate.found and accepted.warnings:
        return OutcomeStatus.REFUSED
    if not candidate.changed:
        return OutcomeStatus.UNCHANGED
    dearer = candidate.only and candidate.cost > candidate.before
    return OutcomeStatus.LIMITED if dearer else OutcomeStatus.IMPROVED


def _count_nodes(graph: Graph, node_at: Callable[[int], onnx.NodeProto]) -> Mapping[str, int]:
    """By operator, those in the bodies of nodes too; `node_at` gives a node of the source."""
    live = remove_dead(graph).nodes
    carried = (node_at(node.index) for node in live if node.index >= 0)
    inside = (name for proto in carried for body in subgraphs(proto) for name in operators(body))
    return dict(Counter([*(node.operator.name for node in live), *inside]))
