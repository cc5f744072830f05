"""The cost models: a table of built-in ones, and those that rule files define.

Enters: settings and a checked program.  Leaves: a :class:`CostModel`, which prices one operator
application at a time.  What depends on initializers alone is free, but that is the caller's to
know.  Every price is finite and not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from tensat_dl.cost.declared import declared_flops
from tensat_dl.cost.rule_models import RuleCostModel
from tensat_dl.cost.virtual import make_lower
from tensat_dl.cost.work import Meter, Part, Work
from tensat_dl.egraph.snapshot import Application
from tensat_dl.errors import UsageError
from tensat_dl.language.program import CheckedProgram
from tensat_dl.settings import CostSettings
from tensat_dl.suggest import did_you_mean
from tensat_dl.vocabulary.types import Type


class CostModel(Protocol):
    """Gives an operator application a number; `unit` is for people ("" where there is none)."""

    @property
    def name(self) -> str:
        """As chosen with `--cost`."""

    @property
    def unit(self) -> str:
        """What one means: "s", "FLOP", "B"."""

    def price(
        self, application: Application, inputs: Sequence[Type], outputs: Sequence[Type]
    ) -> float:
        """The cost of `application` at these types; `outputs` are all that it has."""


@dataclass(frozen=True)
class BuiltIn:
    """A row of the table: `price` is a function of the work and the settings."""

    doc: str
    unit: str
    price: Callable[[Work, CostSettings], float]


def _roofline(work: Work, machine: CostSettings) -> float:
    """Williams, Waterman, Patterson 2009: the slower of computing and moving data.

    A virtual operator runs as one only where the runtime recognises its nodes, so that an
    operator that does the same is a little cheaper.
    """
    computing = work.flops / machine.flops_per_second
    moving = work.bytes / machine.bytes_per_second
    unsure = 1 + (work.nodes - 1) / 1000
    return max(computing, moving) + machine.overhead * unsure


BUILT_IN: Mapping[str, BuiltIn] = {
    "roofline": BuiltIn(
        "seconds: the slower of computing and moving data, plus an overhead for each operator",
        "s",
        _roofline,
    ),
    "flops": BuiltIn("arithmetic operations", "FLOP", lambda work, _: work.flops),
    "bytes": BuiltIn("bytes read and written", "B", lambda work, _: work.bytes),
    "nodes": BuiltIn("number of nodes", "", lambda work, _: float(work.nodes)),
}


@dataclass(frozen=True)
class WorkModel:
    """A built-in model at work."""

    name: str
    row: BuiltIn
    settings: CostSettings
    meter: Meter

    @property
    def unit(self) -> str:
        """What one means."""
        return self.row.unit

    def price(
        self, application: Application, inputs: Sequence[Type], outputs: Sequence[Type]
    ) -> float:
        """See :class:`CostModel`."""
        part = Part(application, tuple(inputs), tuple(outputs))
        return self.row.price(self.meter.work(part), self.settings)


def make_cost_model(settings: CostSettings, program: CheckedProgram | None) -> CostModel:
    """The model that `settings.model` names; one of the rule file hides a built-in one.

    Raises UsageError where there is none of that name.
    """
    name = settings.model
    lower = make_lower(program)
    if program is not None and name in program.cost_models:
        model = program.cost_models[name]
        return RuleCostModel(model, program, lower, settings.symbolic_dim)
    if name not in BUILT_IN:
        raise _unknown(name, program)
    meter = Meter(lower, declared_flops(program, settings.symbolic_dim), settings.symbolic_dim)
    return WorkModel(name, BUILT_IN[name], settings, meter)


def _unknown(name: str, program: CheckedProgram | None) -> UsageError:
    known = [*BUILT_IN, *(program.cost_models if program else ())]
    return UsageError(f"there is no cost model `{name}`", help=did_you_mean(name, known))
