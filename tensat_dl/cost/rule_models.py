"""Cost models written in a rule file: one expression for each operator.

An operator without a row takes the model's default; a virtual one without a row costs what it is
lowered to; otherwise it is free.  An expression that has no value (it asks for a dim of a tensor
whose rank is not known) counts as the default, too, and the notes say so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from tensat_dl.cost.formal import as_number, environment
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Lower, Part, each_priced
from tensat_dl.errors import UsageError
from tensat_dl.language.evaluate import evaluate
from tensat_dl.language.program import CheckedProgram, CostModel as Rows
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import type_text


@dataclass(frozen=True)
class RuleCostModel:
    """A `cost model` item at work."""

    rows: Rows
    program: CheckedProgram
    lower: Lower
    sizes: SymbolSizes
    _without: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @property
    def notes(self) -> tuple[str, ...]:
        """Of each operator whose row had no value, in words."""
        return tuple(self._without.values())

    @property
    def name(self) -> str:
        """As the rule file has it."""
        return self.rows.name

    @property
    def unit(self) -> str:
        """The rule file's own."""
        return ""

    def price(self, part: Part) -> float:
        """See :class:`tensat_dl.cost.models.CostModel`."""
        operator = part.application.operator
        row = self.rows.rows.get(operator.qualified_name, self.rows.rows.get(operator.name))
        if row is not None:
            cost = self._value(row, part)
            return self._without_value(part) if cost is None else cost
        if operator.kind is OperatorKind.VIRTUAL:
            parts = self.lower(part)
            if parts:
                return sum(self.price(each) for each in parts)
        return self._default(part)

    def prices(self, parts: Sequence[Part]) -> list[float]:
        """See :class:`tensat_dl.cost.models.CostModel`."""
        return each_priced(parts, self.price)

    def _without_value(self, part: Part) -> float:
        name = part.application.operator.qualified_name
        cost = self._default(part)
        if name not in self._without:
            types = ", ".join(map(type_text, part.inputs))
            self._without[name] = (
                f"the cost model `{self.name}` gives {name}({types}) no number: it counts "
                + (f"as the row `_` says, {cost:.6g}" if self.rows.default else "as free")
            )
        return cost

    def _default(self, part: Part) -> float:
        default = self.rows.default
        return 0.0 if default is None else self._value(default, part) or 0.0

    def _value(self, expression: ast.Expr, part: Part) -> float | None:
        names = environment(part, self.program.functions, self.sizes)
        cost = as_number(evaluate(expression, names))
        if cost is not None and cost < 0:
            operator = part.application.operator.qualified_name
            raise UsageError(
                f"the cost model `{self.name}` gives {operator} the cost {cost:.6g}",
                help="a cost is never negative; use max(0, ...)",
            )
        return cost
