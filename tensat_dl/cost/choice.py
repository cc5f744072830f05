"""Which cost model a run uses, and why.

Enters: the settings, a checked program, and the original graph.  Leaves: a :class:`CostChoice`.
What the settings name comes first, then the `default cost` of the rules, then `roofline`.  Where
it is the rules that ask for `measured`, and onnxruntime does not run the model, `roofline` does
instead: nobody asked for more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from tensat_dl.cost.models import MEASURED, known_models
from tensat_dl.errors import UsageError
from tensat_dl.graph.model import Graph
from tensat_dl.graph.running.run import CannotRun, try_without_weights
from tensat_dl.language.program import CheckedProgram, DefaultCost
from tensat_dl.resources import data_directory
from tensat_dl.settings import ROOFLINE, CostSettings
from tensat_dl.suggest import nearest_or_all


@dataclass(frozen=True)
class CostChoice:
    """`model`: its name.  `default_of`: the rules whose `default cost` it is, "" where the settings
    name it, or nobody does.  `obstacle`: why it stands in for `measured`, "" where it does not."""

    model: str
    default_of: str = ""
    obstacle: str = ""


def named_model(settings: CostSettings, program: CheckedProgram | None) -> CostChoice:
    """What settings and rules name.

    Raises UsageError where there is no such model, and where the rules disagree."""
    if settings.model:
        known = known_models(program)
        if settings.model not in known:
            help = nearest_or_all(settings.model, known)
            raise UsageError(f"there is no cost model `{settings.model}`", help=help)
        return CostChoice(settings.model)
    defaults = () if program is None else program.default_costs
    if len(defaults) > 1:
        raise _disagreement(defaults)
    if defaults:
        return CostChoice(defaults[0].model, _file(defaults[0]))
    return CostChoice(ROOFLINE)


def choose_model(settings: CostSettings, program: CheckedProgram, graph: Graph) -> CostChoice:
    """The model for `graph`.  Raises UsageError as :func:`named_model` does."""
    choice = named_model(settings, program)
    if choice.model != MEASURED or not choice.default_of:
        return choice
    try:
        try_without_weights(graph.source)
    except CannotRun as reason:
        return replace(choice, model=ROOFLINE, obstacle=str(reason))
    return choice


def _disagreement(defaults: Sequence[DefaultCost]) -> UsageError:
    lines = [(each, each.span.position()[0]) for each in defaults]
    places = [f"`{each.model}` ({each.span.file.name}:{line})" for each, line in lines]
    return UsageError(
        f"the rules disagree on the default cost: {', '.join(places)}",
        help=f"choose with --cost, e.g. `--cost {defaults[0].model}`, or write `default cost"
        f" {defaults[0].model}` in the rule file that imports them",
    )


def _file(default: DefaultCost) -> str:
    """As it is named on the command line: `std` for a shipped ruleset, else the file."""
    path = Path(default.span.file.name)
    try:
        shipped = path.relative_to(data_directory("rulesets"))
    except (FileNotFoundError, ValueError):
        return str(path)
    return shipped.with_suffix("").as_posix()
