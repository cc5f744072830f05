"""The parts of a left side that Python decides: attributes, written types, literals, weights.

Enters: what a question says of one match.  Leaves: yes or no for each part, and the variables that
attributes and written types bind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.egraph.interning import ABSENT_ANALYSIS, Analysis
from tensat_dl.egraph.plan import MatchPlan
from tensat_dl.egraph.typing import Scope
from tensat_dl.language import program
from tensat_dl.language.evaluate import UNKNOWN, Environment, evaluate, match_type
from tensat_dl.language.values import Value, as_attribute, as_dtype, equal
from tensat_dl.syntax import ast
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.canonical import (
    canonical_attributes,
    default_of,
    has_other_spellings,
    normalise,
)
from tensat_dl.vocabulary.dtypes import DType, from_name
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import AbsentType, TensorType, Type

#: (number of the match, is it the mapped operator's) -> attributes and number of outputs.
AttributeRows = dict[tuple[int, bool], tuple[Attributes, int]]


def all_present(left: MatchPlan, scope: Scope) -> bool:
    """Only optional inputs are absent."""
    return all(
        name in left.optional or not isinstance(analysis.type, AbsentType)
        for name, analysis in scope.tensors.items()
    )


def varying_list(item: program.InputMap) -> str:
    """The list over which a mapped run varies."""
    return next(i.name for i in item.inputs if isinstance(i, program.InputStar))


def mapped_inputs(item: program.InputMap, place: int, scope: Scope) -> tuple[Analysis, ...]:
    """The inputs of one element of a mapped run."""
    found: list[Analysis] = []
    for inner in item.inputs:
        match inner:
            case program.InputStar(name):
                found.append(scope.lists[name][place])
            case program.InputVariable(name):
                found.append(scope.tensors[name])
            case _:
                found.append(ABSENT_ANALYSIS)
    return tuple(found)


@dataclass(frozen=True)
class Applied:
    """One attribute pattern with the node's attributes and input types."""

    operator: Operator
    pattern: program.AttributePattern
    actual: Mapping[str, AttributeValue]
    inputs: tuple[Type, ...]


def applied_patterns(
    left: MatchPlan,
    attributes: AttributeRows,
    inputs: Sequence[tuple[Analysis, ...]],
    scope: Scope,
) -> Sequence[Applied]:
    """The attribute patterns of a left side beside the nodes they stand for."""
    found: list[Applied] = []
    for index, match in enumerate(left.matches):
        actual = attributes[index, False][0].as_dict()
        types = tuple([a.type for a in inputs[index]])
        found.append(Applied(match.operator, match.attributes, actual, types))
        for item in match.inputs:
            if isinstance(item, program.InputMap):
                actual = attributes[index, True][0].as_dict()
                types = tuple(a.type for a in mapped_inputs(item, 0, scope))
                found.append(Applied(item.operator, item.attributes, actual, types))
    return found


def attributes_fit(
    left: MatchPlan,
    attributes: AttributeRows,
    applied: Sequence[Applied],
    names: dict[str, Value],
) -> bool:
    """Bind attribute variables; unmentioned attributes must have their defaults."""
    for index, match in enumerate(left.matches):
        if match.exact_outputs and attributes[index, False][1] != len(match.outputs):
            return False
    return all(bind_attributes(one, names) for one in applied)


def bind_attributes(applied: Applied, names: dict[str, Value]) -> bool:
    """Bind the attribute variables of one pattern in `names`; does the node fit so far?"""
    pattern, actual = applied.pattern, applied.actual
    for name, variable in pattern.bound:
        if name not in actual:
            if variable.startswith("$"):  # `attr=_`: whatever it is, absent included
                continue
            return False
        if variable in names and equal(names[variable], actual[name]) is not True:
            return False
        names[variable] = actual[name]
    others = {n: v for n, v in actual.items() if n not in pattern.mentioned}
    if pattern.rest is not None:
        captured = Attributes.of(others)
        return names.setdefault(pattern.rest, captured) == captured
    return has_other_spellings(applied.operator) or _has_defaults(applied)


def _has_defaults(applied: Applied) -> bool:
    """Every attribute that the pattern does not mention equals its default."""
    pattern = applied.pattern
    return pattern.rest is not None or all(
        applied.actual.get(f.name) == default_of(applied.operator, f.name, applied.inputs)
        for f in applied.operator.attributes
        if f.name not in pattern.mentioned and not f.implied
    )


def required_fit(applied: Sequence[Applied], env: Environment) -> bool:
    """Attributes that must have a value have it, as they stand or in another spelling."""
    return all(_fits(one, env) for one in applied)


def _fits(applied: Applied, env: Environment) -> bool:
    equal_each = all(_equals(applied, name, expr, env) for name, expr in applied.pattern.required)
    if not has_other_spellings(applied.operator):
        return equal_each
    return (equal_each and _has_defaults(applied)) or _is_the_same_node(applied, env)


def _is_the_same_node(applied: Applied, env: Environment) -> bool:
    """The node that the pattern writes down, `auto_pad` and the like, is this one."""
    wanted = written_attributes(applied, env)
    actual = canonical_attributes(applied.operator, applied.actual, applied.inputs)
    return wanted is not None and wanted == actual


def written_attributes(applied: Applied, env: Environment) -> Attributes | None:
    """The canonical attributes of a node as the pattern writes it, with those of the actual one
    where the pattern takes any; None where one cannot be computed."""
    pattern, operator = applied.pattern, applied.operator
    required = {name: _written(applied, name, expr, env) for name, expr in pattern.required}
    bound = {name for name, _ in pattern.bound}
    taken = {
        name: value
        for name, value in applied.actual.items()
        if name in bound or (pattern.rest is not None and name not in required)
    }
    known = {name: value for name, value in required.items() if value is not None}
    if len(known) < len(required):
        return None
    return canonical_attributes(operator, taken | known, applied.inputs)


def _written(
    applied: Applied, name: str, expr: ast.Expr, env: Environment
) -> AttributeValue | None:
    formal = applied.operator.attribute(name)
    return None if formal is None else as_attribute(evaluate(expr, env), formal.kind)


def _equals(applied: Applied, name: str, expr: ast.Expr, env: Environment) -> bool:
    written = _written(applied, name, expr, env)
    if written is None:
        return False
    wanted = normalise(applied.operator, name, written, applied.inputs)
    actual = applied.actual.get(name, default_of(applied.operator, name, applied.inputs))
    return actual is not None and equal(wanted, actual) is True


def ascriptions_hold(
    ascriptions: Sequence[program.Ascription],
    scope: Scope,
    names: dict[str, Value],
    functions: Mapping[str, program.Function],
) -> bool:
    """Every written type is the actual one; binds dims and element types."""
    for ascription in ascriptions:
        if ascription.variable in scope.lists:
            types = [a.type for a in scope.lists[ascription.variable]]
        else:
            types = [scope.tensors[ascription.variable].type]
        if not all(match_type(ascription.type, t, names, functions) is True for t in types):
            return False
    return True


def is_hopeless(left: MatchPlan, facts: Sequence[program.Fact], scope: Scope) -> bool:
    """Does what the question says of single tensors rule the match out, before anything is
    inferred?  Most questions about a constant end here."""
    for fact in facts:
        known = scope.tensors.get(fact.arguments[0]) if fact.is_weight else None
        if known is not None and not known.weight:
            return True
    for name, number in left.numbers:
        type_ = scope.tensors[name].type
        if not isinstance(type_, TensorType) or not _has_value(type_, number):
            return True
    return False


def literals_fit(left: MatchPlan, scope: Scope, env: Environment) -> bool:
    """Constants that were written have their value and element type."""
    for name, literal in left.literals:
        type_ = scope.tensors[name].type
        wanted = evaluate(literal.value, env)
        if not isinstance(type_, TensorType):
            return False
        if literal.dtype is not None and type_.dtype is not _dtype(literal.dtype, env):
            return False
        if not _has_value(type_, wanted):
            return False
    return True


def _has_value(type_: TensorType, wanted: Value) -> bool:
    """The constant is what was written: a number for all its elements, or each of them."""
    if type_.value is None:
        return type_.fill is not None and equal(type_.fill, wanted) is True
    elements = wanted if isinstance(wanted, tuple) else (wanted,) * len(type_.value)
    return bool(type_.value) and equal(tuple(type_.value), elements) is True


def _dtype(name: str, env: Environment) -> DType | None:
    return as_dtype(env.names.get(name, UNKNOWN)) or from_name(name)


def weights_fit(facts: Sequence[program.Fact], scope: Scope) -> bool:
    """What must be a weight is one; lists element by element."""
    for fact in facts:
        if not fact.is_weight:
            continue
        name = fact.arguments[0]
        analyses = scope.lists[name] if name in scope.lists else (scope.tensors[name],)
        if not all(a.weight for a in analyses):
            return False
    return True
