"""The cost models: a table of built-in ones, and those that rule files define.

Enters: settings and a checked program.  Leaves: a :class:`CostModel`, which prices one operator
application at a time.  What depends on initializers alone is free, but that is the caller's to
know.  Every price is finite and not negative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from tensat_dl.cost.declared import declared_flops
from tensat_dl.cost.rule_models import RuleCostModel
from tensat_dl.cost.symbol_sizes import SymbolSizes, symbol_sizes
from tensat_dl.cost.virtual import make_lower
from tensat_dl.cost.work import Meter, Part, Work
from tensat_dl.graph.model import Graph
from tensat_dl.language.program import CheckedProgram
from tensat_dl.settings import COST_MODELS, ROOFLINE, CostSettings


class CostModel(Protocol):
    """Gives an operator application a number; `unit` is for people ("" where there is none)."""

    @property
    def name(self) -> str:
        """As chosen with `--cost`."""

    @property
    def unit(self) -> str:
        """What one means: "s", "FLOP", "B"."""

    def price(self, part: Part) -> float:
        """The cost of an application at its types; its outputs are all that it has."""

    def prices(self, parts: Sequence[Part]) -> list[float]:
        """The costs of many, in order."""


@dataclass(frozen=True)
class BuiltIn:
    """A row of the table: `price` is a function of the work and the settings."""

    doc: str
    unit: str
    price: Callable[[Work, CostSettings], float]


def _roofline(work: Work, machine: CostSettings) -> float:
    """Williams, Waterman, Patterson 2009: the slower of computing and moving data.

    A virtual operator runs as one only where the runtime recognises its nodes, so that an
    operator that does the same is a little cheaper; and so is Add than Sum, which is not fused.
    """
    computing = work.slots / machine.flops_per_second
    moving = work.bytes / machine.bytes_per_second
    unsure = 1 + (work.nodes - 1) / 1000 + work.has_twin / 100
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
    _known: dict[Part, float] = field(default_factory=dict, compare=False, repr=False)

    @property
    def unit(self) -> str:
        """What one means."""
        return self.row.unit

    def price(self, part: Part) -> float:
        """See :class:`CostModel`."""
        if part not in self._known:
            self._known[part] = self.row.price(self.meter.work(part), self.settings)
        return self._known[part]

    def prices(self, parts: Sequence[Part]) -> list[float]:
        """See :class:`CostModel`."""
        return list(map(self.price, parts))


#: The model that times operators instead of counting; see `cost.measured`.
MEASURED = "measured"


def known_models(program: CheckedProgram | None) -> list[str]:
    """The names of all models that there are."""
    return [*COST_MODELS, *(program.cost_models if program else ())]


def make_cost_model(
    name: str,
    settings: CostSettings,
    program: CheckedProgram | None,
    graph: Graph | None = None,
) -> CostModel:
    """The model `name`, which is one of :func:`known_models`.

    `graph` is to be priced; without one all that is known are the types of what is asked for.
    """
    lower = make_lower(program)
    usual = settings.symbolic_dim
    sizes = SymbolSizes(usual) if graph is None else symbol_sizes(graph, usual)
    if program is not None and name in program.cost_models:
        model = program.cost_models[name]
        return RuleCostModel(model, program, lower, sizes)
    meter = Meter(lower, declared_flops(program, sizes), sizes)
    if name != MEASURED:
        return WorkModel(name, BUILT_IN[name], settings, meter)
    from tensat_dl.cost.measured.make import make_measured_model

    estimate = WorkModel(ROOFLINE, BUILT_IN[ROOFLINE], settings, meter)
    return make_measured_model(
        settings, program, {} if graph is None else graph.opsets, estimate.price, sizes
    )
