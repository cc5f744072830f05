"""What the encoder needs to know of a rule beyond its text: its variables and its columns.

Enters: a checked rule or derivation.  Leaves: a :class:`MatchPlan` (the left side as a query) and
for rules a :class:`RulePlan`.  The order of columns fixed here is read by the query writer, the
action writer and the answerer, which must agree.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from tensat_dl.egraph.build import Recipe, make_recipe, presence_choices
from tensat_dl.language import program
from tensat_dl.vocabulary.operators import OperatorKind


@dataclass(frozen=True)
class Column:
    """One column of a question.

    `kind`: "attributes" (of match number `index`, or of the map in its inputs when `mapped`),
    "analysis" of the tensor `name`, "analyses" of the list `name`, or the "int" `name`.
    """

    kind: str
    name: str = ""
    index: int = -1
    mapped: bool = False


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
    tensors: dict[str, None] = {}
    lists: dict[str, None] = {}
    optional: set[str] = set()
    required: set[str] = set()
    literals: list[tuple[str, program.InputLiteral]] = []
    named: list[program.Match] = []
    columns: list[Column] = []
    for index, match in enumerate(matches):
        inputs: list[program.MatchInput] = []
        columns.append(Column("attributes", index=index))
        for place, item in enumerate(match.inputs):
            match item:
                case program.InputVariable(name, is_optional):
                    tensors[name] = None
                    (optional if is_optional else required).add(name)
                case program.InputWildcard():
                    item = program.InputVariable(f"%w{index}_{place}", optional=True)
                    tensors[item.name] = None
                    optional.add(item.name)
                case program.InputLiteral():
                    variable = program.InputVariable(f"%l{index}_{place}")
                    literals.append((variable.name, item))
                    tensors[variable.name] = None
                    item = variable
                case program.InputStar(name):
                    lists[name] = None
                case program.InputMap():
                    columns.append(Column("attributes", index=index, mapped=True))
                    for inner in item.inputs:
                        if isinstance(inner, program.InputStar):
                            lists[inner.name] = None
                        elif isinstance(inner, program.InputVariable):
                            tensors[inner.name] = None
                case program.InputAbsent():
                    pass
            inputs.append(item)
        tensors.update(dict.fromkeys(match.outputs))
        named.append(
            program.Match(
                match.operator,
                match.attributes,
                tuple(inputs),
                match.outputs,
                match.exact_outputs,
                match.span,
            )
        )
    tensors.update(dict.fromkeys(more_tensors))
    implied = {
        output
        for match in matches
        for output in match.outputs
        if match.operator.kind is OperatorKind.ONNX
    }
    asked = tuple(name for name in tensors if name not in implied)
    columns += [Column("analysis", name) for name in asked]
    columns += [Column("analyses", name) for name in lists]
    columns += [Column("int", name) for name in dict.fromkeys(ints)]
    return MatchPlan(
        tuple(named),
        tuple(tensors),
        asked,
        tuple(lists),
        frozenset(optional - required),
        tuple(literals),
        tuple(columns),
    )
