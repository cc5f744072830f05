"""What the encoder needs to know of a rule beyond its text: its variables and its columns.

Enters: a checked rule or derivation.  Leaves: a :class:`MatchPlan` (the left side as a query) and
for rules a :class:`RulePlan`.  The order of columns fixed here is read by the query writer, the
action writer and the answerer, which must agree.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from enum import Enum
from functools import cached_property
from typing import TypeVar

from tensat_dl.egraph.build import Recipe, make_recipe, presence_choices
from tensat_dl.language import program
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.operators import OperatorKind

N = TypeVar("N")


class ColumnKind(Enum):
    """What a column holds: one integer.  That of `ANALYSES` stands for the analyses of a list."""

    ATTRIBUTES = "attributes"
    ANALYSIS = "analysis"
    ANALYSES = "analyses"
    INT = "int"


@dataclass(frozen=True)
class Column:
    """One column of a question.

    Attributes are those of match number `index`, or of the map in its inputs when `mapped`; an
    analysis is that of the tensor `name`, analyses those of the list `name`.
    """

    kind: ColumnKind
    name: str = ""
    index: int = -1
    mapped: bool = False


@dataclass(frozen=True)
class Reading:
    """The places of a question that hold attributes (of match i, or of the map in its inputs), the
    analyses of tensors and of lists, and numbers, each with what it says."""

    attributes: tuple[tuple[int, tuple[int, bool]], ...]
    tensors: tuple[tuple[int, str], ...]
    lists: tuple[tuple[int, str], ...]
    numbers: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class MatchPlan:
    """A left side: operator applications that must all be present.

    Wildcards and literals have internal names; `literals` are (variable, value expression).
    `tensors` are the tensor variables, `asked` those whose analysis the engine is asked for: what
    a match makes follows from its inputs.  `lists` are list variables; `optional` tensor variables
    that may be absent.
    """

    matches: tuple[program.Match, ...]
    tensors: tuple[str, ...]
    asked: tuple[str, ...]
    lists: tuple[str, ...]
    optional: frozenset[str]
    literals: tuple[tuple[str, program.InputLiteral], ...]
    columns: tuple[Column, ...]

    @property
    def has_lists(self) -> bool:
        """It looks into the inputs of a variadic operator."""
        return any(match.operator.is_variadic for match in self.matches)

    @cached_property
    def numbers(self) -> tuple[tuple[str, int | float], ...]:
        """The literals that are numbers, with their variables."""
        values = ((name, _number(literal.value)) for name, literal in self.literals)
        return tuple((name, value) for name, value in values if value is not None)

    @cached_property
    def reading(self) -> Reading:
        """Where a question holds what."""
        return Reading(
            self._places(ColumnKind.ATTRIBUTES, lambda column: (column.index, column.mapped)),
            self._places(ColumnKind.ANALYSIS, lambda column: column.name),
            self._places(ColumnKind.ANALYSES, lambda column: column.name),
            self._places(ColumnKind.INT, lambda column: column.name),
        )

    def _places(self, kind: ColumnKind, name: Callable[[Column], N]) -> tuple[tuple[int, N], ...]:
        places = enumerate(self.columns)
        return tuple((place, name(column)) for place, column in places if column.kind is kind)

    @cached_property
    def inputs_first(self) -> tuple[int, ...]:
        """The numbers of the matches, each after those that make its inputs."""
        known = set(self.asked)
        order: list[int] = []
        while ready := [
            i for i, m in enumerate(self.matches) if i not in order and reads(m) <= known
        ]:
            order += ready
            known.update(output for index in ready for output in self.matches[index].outputs)
        return tuple(order)


def _number(expr: ast.Expr) -> int | float | None:
    """What a number with or without a sign is."""
    match expr:
        case ast.Number(value):
            return value
        case ast.Unary("-", ast.Number(value)):
            return -value
        case _:
            return None


def reads(match: program.Match) -> set[str]:
    """The variables of single tensors among the inputs of a match."""
    return {item.name for item in match.inputs if isinstance(item, program.InputVariable)}


@dataclass(frozen=True)
class RulePlan:
    """A rule with its number (from 1), left side, and a recipe for each presence choice."""

    number: int
    rule: program.Rule
    left: MatchPlan
    recipes: tuple[Recipe, ...]


def plan_rule(number: int, rule: program.Rule) -> RulePlan:
    """Plan one rule."""
    recipes = tuple(make_recipe(rule, absent) for absent in presence_choices(rule))
    sorts = dict(rule.sorts)
    read = [n for f in rule.facts if not f.is_weight for n in f.arguments]
    bound = tuple(n for n in read if sorts.get(n) is program.Sort.TENSOR)
    ints = tuple(n for n in read if sorts.get(n) is program.Sort.VALUE)
    # A root that no match makes is a left side that is a bare variable.
    return RulePlan(number, rule, plan_matches(rule.matches, (*bound, *rule.roots), ints), recipes)


def plan_matches(
    matches: Sequence[program.Match], more_tensors: Sequence[str] = (), ints: Sequence[str] = ()
) -> MatchPlan:
    """Name every input, and lay out the columns of the question.

    `more_tensors` and `ints` are variables that no match need bind.
    """
    planner = _Planner()
    named = tuple(planner.match(index, match) for index, match in enumerate(matches))
    planner.tensors.update(dict.fromkeys(more_tensors))
    implied = {o for m in matches if m.operator.kind is OperatorKind.ONNX for o in m.outputs}
    tensors, lists = tuple(planner.tensors), tuple(planner.lists)
    asked = tuple(name for name in tensors if name not in implied)
    columns = (
        *planner.columns,
        *[Column(ColumnKind.ANALYSIS, name) for name in asked],
        *[Column(ColumnKind.ANALYSES, name) for name in lists],
        *[Column(ColumnKind.INT, name) for name in dict.fromkeys(ints)],
    )
    optional = frozenset(planner.optional - planner.required)
    return MatchPlan(named, tensors, asked, lists, optional, tuple(planner.literals), columns)


@dataclass
class _Planner:
    """Collects the variables of matches, in the order of the text, and columns of attributes."""

    tensors: dict[str, None] = field(default_factory=dict)
    lists: dict[str, None] = field(default_factory=dict)
    optional: set[str] = field(default_factory=set)
    required: set[str] = field(default_factory=set)
    literals: list[tuple[str, program.InputLiteral]] = field(default_factory=list)
    columns: list[Column] = field(default_factory=list)

    def match(self, index: int, match: program.Match) -> program.Match:
        """The match with a variable for every input that is one tensor."""
        self.columns.append(Column(ColumnKind.ATTRIBUTES, index=index))
        inputs = tuple(self._input(index, place, i) for place, i in enumerate(match.inputs))
        self.tensors.update(dict.fromkeys(match.outputs))
        return replace(match, inputs=inputs)

    def _input(self, index: int, place: int, item: program.MatchInput) -> program.MatchInput:
        match item:
            case program.InputWildcard():
                return self._variable(program.InputVariable(f"%w{index}_{place}", optional=True))
            case program.InputLiteral():
                variable = program.InputVariable(f"%l{index}_{place}")
                self.literals.append((variable.name, item))
                self.tensors[variable.name] = None
                return variable
            case program.InputVariable():
                return self._variable(item)
            case program.InputStar(name):
                self.lists[name] = None
            case program.InputMap():
                self.columns.append(Column(ColumnKind.ATTRIBUTES, index=index, mapped=True))
                self._mapped(item)
            case program.InputAbsent():
                pass
        return item

    def _variable(self, item: program.InputVariable) -> program.InputVariable:
        self.tensors[item.name] = None
        (self.optional if item.optional else self.required).add(item.name)
        return item

    def _mapped(self, item: program.InputMap) -> None:
        for inner in item.inputs:
            if isinstance(inner, program.InputStar):
                self.lists[inner.name] = None
            elif isinstance(inner, program.InputVariable):
                self.tensors[inner.name] = None
