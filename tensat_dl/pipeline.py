"""The whole line, one stage after another.

Enters: rules, a model, settings.  Leaves: an :class:`~tensat_dl.outcome.Outcome`, and a file where
one was asked for.  Every stage is one call; what stands between two stages is frozen data.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from tensat_dl.answer import has_alternatives
from tensat_dl.attempts import find_answer
from tensat_dl.bodies import BodyOptimizer
from tensat_dl.cost.choice import choose_model, named_model
from tensat_dl.cost.models import make_cost_model
from tensat_dl.cost.worth import useless_rules
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.adopt import DeclaredOperators
from tensat_dl.egraph.explore import explore
from tensat_dl.egraph.snapshot import Saturated
from tensat_dl.extract.run import validate
from tensat_dl.fallbacks import fall_back
from tensat_dl.graph.model import Graph
from tensat_dl.graph.opsets import allowed_opsets
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.verify import require
from tensat_dl.graph.writing.save import save
from tensat_dl.language.load import RuleNames, load_rules
from tensat_dl.language.newer import within
from tensat_dl.language.program import CheckedProgram
from tensat_dl.outcome import Outcome
from tensat_dl.phases import Phases
from tensat_dl.progress import Phase, Progress, silent
from tensat_dl.settings import Settings
from tensat_dl.story import Run, tell

if TYPE_CHECKING:
    import onnx
    import onnx_ir


def optimize(
    model: str | Path | onnx.ModelProto | onnx_ir.Model,
    rules: RuleNames | CheckedProgram,
    settings: Settings,
    progress: Progress | None = None,
    *,
    output: Path | None = None,
    force: bool = False,
) -> Outcome:
    """Optimise `model` with `rules` (paths or shipped names, or what was checked).

    Writes `output` when it is given, after verification only.  Raises what `errors` defines.
    """
    phases = Phases(progress or silent)
    with phases(Phase.CHECK):
        program = _checked(rules, settings)
    run = _answered(model, settings, program, phases)
    require(run.accepted.verification, run.suspects)
    if settings.export.explain and run.accepted.candidate.found:
        run = _explained(run, program, phases)
    with phases(Phase.WRITE):
        if output is not None:
            source = run.accepted.candidate.source
            save(source, output, force=force, made_from=run.original.source)
    return tell(
        run,
        phases.seconds,
        output,
        verified=settings.verify.enabled,
        explained=settings.export.explain,
    )


def _answered(
    model: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    settings: Settings,
    program: CheckedProgram,
    phases: Phases,
) -> Run:
    """All stages up to an answer that is right, or else the verdict on one that is not."""
    run = _found(model, program, settings, phases)
    again = partial(_found, run.original.source, phases=phases)
    return fall_back(run, program, settings, again)


def _answered_inside(
    body: Source, settings: Settings, program: CheckedProgram, phases: Phases
) -> Run | None:
    """The same of the body of a loop or branch; None where no answer could be another one."""
    explored = _explored(body, program, settings, phases, doubted=body.doubted)
    if not has_alternatives(explored.original, explored.saturated, settings.export):
        return None
    run = _priced(explored, program, settings, phases)
    return fall_back(run, program, settings, partial(_found, body, phases=phases))


def _found(
    model: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    program: CheckedProgram,
    settings: Settings,
    phases: Phases,
    *,
    doubted: bool = False,
) -> Run:
    """All stages up to the answer and the verdict on it."""
    explored = _explored(model, program, settings, phases, doubted=doubted)
    run = _priced(explored, program, settings, phases)
    return run if explored.usable is program else _with_held_back(run, program, settings)


@dataclass(frozen=True)
class _Explored:
    """A graph with all that `usable` rules make of it; `bodies` are those of its control flow."""

    original: Graph
    bodies: BodyOptimizer
    opsets: Mapping[str, int]
    barred: tuple[str, ...]
    usable: CheckedProgram
    saturated: Saturated


def _explored(
    model: str | Path | onnx.ModelProto | onnx_ir.Model | Source,
    program: CheckedProgram,
    settings: Settings,
    phases: Phases,
    *,
    doubted: bool,
) -> _Explored:
    with phases(Phase.READ):
        declared = DeclaredOperators(program)
        answered = partial(_answered_inside, program=program, phases=phases)
        bodies = BodyOptimizer(answered, settings, phases.seconds)
        improve = bodies if bodies.is_open else None
        original = read_model(model, settings.model, declared, doubted=doubted, improve=improve)
        opsets, barred = allowed_opsets(original, settings.model.opset, program.domains)
    with phases(Phase.EXPLORE):
        usable = within(program, opsets.get("", 0))
        saturated = explore(original, usable, settings.explore, settings.rules, phases.report)
    return _Explored(original, bodies, opsets, barred, usable, saturated)


def _priced(
    explored: _Explored, program: CheckedProgram, settings: Settings, phases: Phases
) -> Run:
    original, saturated, bodies = explored.original, explored.saturated, explored.bodies
    with phases(Phase.COST):
        choice = choose_model(settings.cost, program, original)
        prices = make_cost_model(choice.model, settings.cost, program, original)
    writable = Writable(program, explored.opsets)
    settled, accepted = find_answer(original, saturated, prices, writable, settings, phases)
    return Run(
        original,
        saturated,
        choice,
        prices,
        writable,
        settled,
        accepted,
        explored.barred,
        useless_rules(program, prices.name),
        inside=tuple(bodies.acts),
        warnings=tuple(dict.fromkeys(bodies.warnings)),
    )


def _with_held_back(run: Run, program: CheckedProgram, settings: Settings) -> Run:
    """The run, which says which of the rules that its opset left out would have acted."""
    from tensat_dl.diagnosis.held_back import held_back

    notes = held_back(program, run.saturated, run.writable.opsets, settings.rules)
    return replace(run, notes=notes)


def _checked(rules: RuleNames | CheckedProgram, settings: Settings) -> CheckedProgram:
    """The program, to which the settings fit."""
    program = rules if isinstance(rules, CheckedProgram) else load_rules(rules)
    named_model(settings.cost, program)
    validate(settings.extract)
    return program


def _explained(run: Run, program: CheckedProgram, phases: Phases) -> Run:
    """The run with what its answer changed, which the answer then says itself."""
    from tensat_dl.diagnosis.changes import explain_answer
    from tensat_dl.diagnosis.stored import store_changes

    accepted, settled = run.accepted, run.settled
    saved = accepted.candidate.before - accepted.candidate.cost
    with phases(Phase.EXPLAIN):
        given = (run.original, run.saturated, settled, run.prices, program)
        changes = explain_answer(*given, saved)
        source = store_changes(accepted.candidate.source, changes, run.prices.unit)
        candidate = replace(accepted.candidate, source=source)
    return replace(run, changes=changes, accepted=replace(accepted, candidate=candidate))
