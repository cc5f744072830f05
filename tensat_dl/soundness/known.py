"""What one attempt at an instance knows so far: types, lists, names, attributes.

Enters: what was drawn, binding by binding.  Leaves: blanks for what is still to be drawn, with all
that ascriptions, literals and earlier bindings fix; and which conditions fail.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from tensat_dl.egraph.left import AttributeRows
from tensat_dl.egraph.plan import RulePlan
from tensat_dl.language import program, walk
from tensat_dl.language.evaluate import UNKNOWN, Environment, evaluate, holds, match_type
from tensat_dl.language.values import Value, as_attribute, as_dtype
from tensat_dl.soundness.draws import Draw, Earlier
from tensat_dl.soundness.hints import Condition, Hints
from tensat_dl.soundness.proposals import Blank, Misfit
from tensat_dl.soundness.subject import Subject
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import Type


class Failure(Exception):
    """What was drawn does not fit; `reason` for the message that no instance was found."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class Untyped(Failure):
    """An application of `operator` has no type."""

    def __init__(self, operator: Operator, reason: str) -> None:
        super().__init__(f"{operator.name}: {reason}")
        self.operator = operator


@dataclass(frozen=True)
class Saved:
    """An earlier state of what is known; `chosen`: how many choices the design had made, `made`:
    how many shapes there were."""

    known: tuple[dict[Any, Any], ...]
    applied: dict[str, list[Earlier]]
    made: int
    chosen: int


@dataclass
class Known:
    """`failures` counts what stood in the way; `spans`: the range of the contents of indices;
    `pending`: conditions not decided yet; `member`: of a group, which one."""

    subject: Subject
    plan: RulePlan
    draw: Draw
    hints: Hints
    failures: Counter[str]
    types: dict[str, Type] = field(default_factory=dict)
    lists: dict[str, tuple[Type, ...]] = field(default_factory=dict)
    names: dict[str, Value] = field(default_factory=dict)
    attributes: AttributeRows = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    pending: tuple[Condition, ...] = ()
    member: int = 0

    def saved(self) -> Saved:
        """What to come back to."""
        applied = {name: list(earlier) for name, earlier in self.draw.applied.items()}
        chosen = 0 if self.draw.design is None else len(self.draw.design.chosen)
        made = len(self.draw.made)
        return Saved(tuple(map(dict, self._own())), applied, made, chosen)

    def restore(self, saved: Saved) -> None:
        """Go back."""
        for current, earlier in zip(self._own(), saved.known, strict=True):
            current.clear()
            current.update(earlier)
        self.draw.applied = {name: list(earlier) for name, earlier in saved.applied.items()}
        del self.draw.made[saved.made :]
        if self.draw.design is not None:
            del self.draw.design.chosen[saved.chosen :]

    def _own(self) -> tuple[dict[Any, Any], ...]:
        return self.types, self.lists, self.names, self.attributes, self.spans

    def narrow(self, name: str, span: tuple[int, int]) -> None:
        """The contents of `name` must be in this range too."""
        low, high = self.spans.get(name, span)
        self.spans[name] = (max(low, span[0]), min(high, span[1]))

    def blank(self, name: str) -> Blank:
        """A tensor to be drawn, with all that is certain of it.  Raises Misfit."""
        literal = next((lit for n, lit in self.plan.left.literals if n == name), None)
        blank = Blank(known=name in self.hints.valued, numbers=self.hints.valued.get(name, ()))
        if name in self.hints.lists:
            blank.dtype, blank.dims = DType.I64, (None,)
            blank.numbers += self.draw.pool  # dims, most of them
        if name in self.hints.scalars and self.draw.chance(0.9):
            blank.dims = (1,) * self.draw.random.choice((0, 0, 1, 1, 2))
        if literal is not None:
            self._literal(blank, literal)
        for ascription in self.plan.rule.ascriptions:
            if ascription.variable == name:
                self._ascribe(blank, ascription.type)
        return blank

    def _literal(self, blank: Blank, literal: program.InputLiteral) -> None:
        wanted = evaluate(literal.value, self.env)
        if literal.dtype is not None:
            blank.dtype = self._dtype(literal.dtype)
        if isinstance(wanted, tuple):
            numbers = tuple(v for v in wanted if isinstance(v, int | float))
            blank.value = numbers if len(numbers) == len(wanted) else None
            blank.dims = (len(wanted),)
        elif isinstance(wanted, int | float):
            blank.fill = wanted
        else:
            raise Misfit

    def _ascribe(self, blank: Blank, written: ast.TypeExpr) -> None:
        blank.dtype = blank.dtype or self._dtype(written.dtype)
        if written.dims is None:
            return
        dims: list[int | None] = []
        for dim in written.dims:
            dims += self._written_dims(dim, len(written.dims) - 1)
        known = blank.dims
        if known is None or (len(known) != len(dims) and blank.value is None):
            known = (None,) * len(dims)  # a guess gives way
        if len(known) != len(dims):
            raise Misfit
        blank.dims = tuple(a if a is not None else b for a, b in zip(known, dims, strict=True))

    def _written_dims(self, dim: ast.Expr, others: int) -> Iterable[int | None]:
        if isinstance(dim, ast.Wildcard):
            return [None]
        value = evaluate(dim.operand if isinstance(dim, ast.Star) else dim, self.env)
        if isinstance(dim, ast.Star):
            if isinstance(value, tuple):
                return [item if isinstance(item, int) else None for item in value]
            usual = self.draw.rank - others  # so that the whole has the favoured rank
            likely = usual >= 0 and self.draw.chance(0.5)
            return [None] * (usual if likely else self.draw.random.choice((0, 1, 1, 2, 2, 3)))
        return [value if isinstance(value, int) else None]

    def written_dims(self, name: str) -> tuple[int | None, ...] | None:
        """What is certain of the dims of a tensor that a match makes."""
        for ascription in self.plan.rule.ascriptions:
            written = ascription.type.dims
            if ascription.variable != name or written is None:
                continue
            stars = [dim.operand for dim in written if isinstance(dim, ast.Star)]
            if all(isinstance(evaluate(star, self.env), tuple) for star in stars):
                return tuple(
                    size for dim in written for size in self._written_dims(dim, len(written) - 1)
                )
        return None

    def _dtype(self, name: str) -> dtypes.DType | None:
        bound = self.names.get(name, UNKNOWN)
        return as_dtype(bound) or dtypes.from_name(name)

    # --- names --------------------------------------------------------------------------------

    def bind(self, name: str, type_: Type) -> None:
        """Settle a tensor.  Raises Failure where its type is not the one that is written."""
        self.types[name] = type_
        self.names[name] = type_
        self._check_ascriptions(name, (type_,))

    def bind_list(self, name: str, types: Sequence[Type]) -> None:
        """Settle a list."""
        self.lists[name] = tuple(types)
        self.names[name] = tuple(types)
        self._check_ascriptions(name, types)

    def _check_ascriptions(self, name: str, types: Sequence[Type]) -> None:
        functions = self.subject.answerer.functions
        for ascription in self.plan.rule.ascriptions:
            if ascription.variable != name:
                continue
            for type_ in types:
                if match_type(ascription.type, type_, self.names, functions) is False:
                    raise Failure(f"the type written for `{name}`")

    def fixed(
        self, operator: Operator, pattern: program.AttributePattern
    ) -> tuple[dict[str, AttributeValue], frozenset[str]]:
        """Attributes that have a value already, and those that may be chosen."""
        fixed: dict[str, AttributeValue] = {}
        free: set[str] = set()
        for name, expr in pattern.required:
            value = self._attribute(operator, name, evaluate(expr, self.env))
            if value is None:
                free.add(name)
            else:
                fixed[name] = value
        for name, variable in pattern.bound:
            value = self._attribute(operator, name, self.names.get(variable, UNKNOWN))
            if value is None or variable.startswith("$"):
                free.add(name)
            else:
                fixed[name] = value
        if pattern.rest is not None:
            mentioned = {name for name, _ in (*pattern.required, *pattern.bound)}
            captured = self.names.get(pattern.rest)
            if isinstance(captured, Attributes):
                fixed |= {n: v for n, v in captured.items if n not in mentioned}
            else:
                free |= {formal.name for formal in operator.attributes} - mentioned
        return fixed, frozenset(free)

    @staticmethod
    def _attribute(operator: Operator, name: str, value: Value) -> AttributeValue | None:
        formal = operator.attribute(name)
        return None if formal is None or value is UNKNOWN else as_attribute(value, formal.kind)

    # --- conditions ---------------------------------------------------------------------------

    @cached_property
    def env(self) -> Environment:
        """What names are worth; it grows with them."""
        return Environment(self.names, self.subject.answerer.functions)

    def is_bound(self, expr: ast.Expr) -> bool:
        """All names of an expression are known."""
        return all(
            name.text in self.names or dtypes.from_name(name.text) is not None
            for name in walk.names_in(expr)
        )

    def decide(self) -> None:
        """Ask the conditions that can be decided by now.  Raises Failure."""
        env = self.env
        for condition in self.pending:
            if condition.names <= self.names.keys() and holds(condition.expr, env) is not True:
                raise Failure(f"`{condition.text}`")
        avoid = self.hints.avoid
        known = avoid is not None and avoid.names <= self.names.keys()
        if avoid is not None and known and holds(avoid.expr, env) is True:
            raise Failure(f"`{avoid.text}` holds")

    def wait(self) -> None:
        """Leave to `decide` the conditions that cannot be decided yet."""
        conditions = self.hints.conditions
        self.pending = tuple(c for c in conditions if not c.names <= self.names.keys())
