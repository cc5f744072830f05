"""The whole line, one stage after another.

Enters: rules, a model, settings.  Leaves: an :class:`~tensat_dl.outcome.Outcome`, and a file where
one was asked for.  Every stage is one call; what stands between two stages is frozen data.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from tensat_dl.answer import Accepted, Found, Judges, candidates, first_accepted
from tensat_dl.cost.measured.comparison import Conditions, compare_models
from tensat_dl.cost.models import check_cost_model, make_cost_model
from tensat_dl.cost.opset_notes import opset_notes
from tensat_dl.cost.rounds import price_nodes, settle
from tensat_dl.cost.writable import Writable
from tensat_dl.diagnosis.changes import Change, explain_answer
from tensat_dl.diagnosis.stored import store_changes
from tensat_dl.egraph.adopt import DeclaredOperators
from tensat_dl.egraph.explore import explore
from tensat_dl.egraph.snapshot import ENode, RuleCount
from tensat_dl.export import export_graph
from tensat_dl.extract.limits import no_selection
from tensat_dl.extract.run import validate
from tensat_dl.graph.model import Graph
from tensat_dl.graph.opsets import allowed_opsets, at_oldest_opset
from tensat_dl.graph.prune import remove_dead
from tensat_dl.graph.read import read_model
from tensat_dl.graph.save import save
from tensat_dl.graph.verify import require, verify
from tensat_dl.language.load import load_rules
from tensat_dl.language.program import CheckedProgram
from tensat_dl.outcome import Outcome, OutcomeStatus
from tensat_dl.phases import Phases
from tensat_dl.progress import Progress, silent
from tensat_dl.settings import Settings

if TYPE_CHECKING:
    import onnx
    import onnx_ir


def optimize(
    model: str | Path | onnx.ModelProto | onnx_ir.Model,
    rules: str | CheckedProgram,
    settings: Settings,
    progress: Progress | None = None,
    *,
    output: Path | None = None,
    force: bool = False,
) -> Outcome:
    """Optimise `model` with `rules` (paths or shipped names, separated by commas; or checked).

    Writes `output` when it is given, after verification only.  Raises what `errors` defines.
    """
    phases = Phases(progress or silent)
    with phases("check"):
        program = rules if isinstance(rules, CheckedProgram) else load_rules(rules)
        check_cost_model(settings.cost, program)
        validate(settings.extract)
    with phases("read"):
        original = read_model(model, settings.model, DeclaredOperators(program))
    with phases("explore"):
        saturated = explore(original, program, settings.explore, settings.rules, phases.report)
    prices = make_cost_model(settings.cost, program, original.opsets)
    opsets, barred = allowed_opsets(original, settings.model.opset)
    writable = Writable(program, opsets)
    settled = settle(original, saturated, prices, writable, settings.extract, phases)
    extraction, before, chosen = settled.extraction, settled.before, settled.chosen
    if not chosen:
        raise no_selection(extraction, "no acyclic graph")
    found = Found(
        lambda: at_oldest_opset(export_graph(original, saturated, chosen, program), opsets),
        settled.cost,
    )
    accepted = first_accepted(
        candidates(original, before, found, prices, settings.export, settings.extract),
        _judges(original, settings, measured=settled.tally is not None),
        phases,
    )
    answer, verification = accepted.candidate, accepted.verification
    require(verification, _suspects(saturated.exploration.rules, chosen) if answer.found else ())
    changes: tuple[Change, ...] = ()
    if settings.export.explain and answer.found:
        price_nodes(prices, original, saturated, chosen, phases)
        with phases("explain"):
            changes = explain_answer(original, saturated, chosen, prices, program)
            source = store_changes(answer.source, changes, prices.unit)
            answer = replace(answer, source=source)
    with phases("write"):
        source_path = original.source.path
        if output is not None:
            save(answer.source, output, force=force, source_path=source_path)
    return Outcome(
        status=_status(accepted),
        cost_model=prices.name,
        cost_unit=prices.unit,
        cost_before=answer.before,
        cost_after=answer.cost,
        nodes_before=_count_nodes(original),
        nodes_after=_count_nodes(answer.graph),
        exploration=saturated.exploration,
        extraction=extraction,
        rules_in_answer=_rules_in(chosen) if answer.found else {},
        verification=verification if settings.verify.enabled else None,
        seconds=phases.seconds,
        output_path=None if output is None else str(output),
        warnings=(
            *original.source.warnings,
            *barred,
            *saturated.exploration.warnings,
            *extraction.warnings,
            *settled.notes,
            *accepted.warnings,
        ),
        changes=changes,
        notes=(*original.source.notes, *opset_notes(settled.posed.left_out, saturated, writable)),
        model=answer.source,
        tally=settled.tally,
        comparison=accepted.comparison,
    )


def _judges(original: Graph, settings: Settings, *, measured: bool) -> Judges:
    cost, dims, source = settings.cost, settings.model.dims, original.source
    conditions = Conditions(
        dims, cost.symbolic_dim, cost.threads, cost.compare_seconds, settings.verify.input_data
    )
    return Judges(
        lambda new: verify(source, new, settings.verify, dims, types=original.types),
        (lambda new: compare_models(source, new, conditions)) if measured else None,
        cost.keep_anyway,
    )


def _status(accepted: Accepted) -> OutcomeStatus:
    candidate = accepted.candidate
    if candidate.changed:
        dearer = candidate.cost > candidate.before
        return OutcomeStatus.LIMITED if dearer else OutcomeStatus.IMPROVED
    compared = accepted.comparison is not None
    return OutcomeStatus.NOT_FASTER if compared else OutcomeStatus.UNCHANGED


def _count_nodes(graph: Graph) -> Mapping[str, int]:
    return dict(Counter(node.operator.name for node in remove_dead(graph).nodes))


def _suspects(counts: Mapping[str, RuleCount], chosen: Mapping[int, ENode]) -> tuple[str, ...]:
    """The rules that acted: those with most nodes in the answer first."""
    made = _rules_in(chosen)
    acted = [name for name, count in counts.items() if count.applied]
    return tuple(sorted(acted, key=lambda name: (-made.get(name, 0), name)))


def _rules_in(chosen: Mapping[int, ENode]) -> Mapping[str, int]:
    return dict(Counter(node.rule for node in chosen.values() if node.rule))
