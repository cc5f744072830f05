"""What may be exchanged in a rule without changing what it says.

Enters: a rule.  Leaves: pairs of roots that a transposition of the pattern exchanges (the encoder
orders such roots by key, so that an unordered set of outputs matches once), and the orders of
commutative operands that make a difference.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from tensat_dl.diagnostics import Span
from tensat_dl.egraph.plan import MatchPlan
from tensat_dl.egraph.query import swappable
from tensat_dl.language import program
from tensat_dl.syntax import ast


def symmetric_pairs(rule: program.Rule) -> tuple[tuple[str, str], ...]:
    """Pairs (earlier, later) of roots that can be exchanged."""
    roots = rule.roots
    return tuple(
        (a, b) for i, a in enumerate(roots) for b in roots[i + 1 :] if _exchangeable(rule, a, b)
    )


def _exchangeable(rule: program.Rule, a: str, b: str) -> bool:
    by_output = {m.outputs[0]: m for m in rule.matches if len(m.outputs) == 1}
    mapping: dict[str, str] = {}
    if not _pair(a, b, by_output, mapping):
        return False
    swap = {**mapping, **{v: k for k, v in mapping.items()}}
    return _shape(rule, {}) == _shape(rule, swap)


def _pair(a: str, b: str, by_output: Mapping[str, program.Match], mapping: dict[str, str]) -> bool:
    """Pair the variables of the two sub-patterns below `a` and `b`."""
    if a == b:
        return mapping.setdefault(a, b) == b
    if mapping.get(a, b) != b or mapping.get(b, a) != a:
        return False
    mapping[a] = b
    left, right = by_output.get(a), by_output.get(b)
    if left is None and right is None:
        return True
    if left is None or right is None or left.operator != right.operator:
        return False
    names_left, names_right = _names(left), _names(right)
    if len(names_left) != len(names_right):
        return False
    for x, y in zip(names_left, names_right, strict=True):
        if x != y and not _pair(x, y, by_output, mapping):
            return False
    return True


def _names(match: program.Match) -> list[str]:
    """Every variable a match mentions below its outputs, in order of writing."""
    found: list[str] = []

    def visit(value: Any) -> None:
        match value:
            case program.InputVariable(name) | program.InputStar(name):
                found.append(name)
            case program.AttributePattern(bound, required, rest):
                found.extend(variable for _, variable in bound)
                visit([expr for _, expr in required])
                found.extend([rest] if rest else [])
            case ast.Name(text):
                found.append(text)
            case list() | tuple():
                for item in value:
                    visit(item)
            case program.InputMap():
                visit(value.attributes)
                visit(value.inputs)
            case _ if dataclasses.is_dataclass(value) and not isinstance(value, Span):
                for field in dataclasses.fields(value):
                    visit(getattr(value, field.name))

    visit(match.attributes)
    visit(match.inputs)
    return found


def _shape(rule: program.Rule, names: Mapping[str, str]) -> tuple[frozenset[Any], ...]:
    """The left side with variables renamed, without order and places."""
    swapped_dims = _dim_names(rule, names)
    renaming = {**swapped_dims, **names}
    return (
        frozenset(_rename(m, renaming) for m in rule.matches),
        frozenset(_rename(a, renaming) for a in rule.ascriptions),
        frozenset(_rename(f, renaming) for f in rule.facts),
        frozenset(_rename(c, renaming) for c in rule.conditions),
    )


def _dim_names(rule: program.Rule, names: Mapping[str, str]) -> dict[str, str]:
    """Exchange the dim and element-type variables of exchanged tensors' ascriptions."""
    by_variable = {a.variable: a.type for a in rule.ascriptions}
    renaming: dict[str, str] = {}
    for a, b in names.items():
        left, right = by_variable.get(a), by_variable.get(b)
        if a == b or left is None or right is None:
            continue
        found_left, found_right = _type_names(left), _type_names(right)
        if len(found_left) == len(found_right):
            renaming.update(zip(found_left, found_right, strict=True))
    return renaming


def _type_names(expr: ast.TypeExpr) -> list[str]:
    found = [expr.dtype]

    def visit(item: Any) -> None:
        if isinstance(item, ast.Name):
            found.append(item.text)
        elif isinstance(item, ast.Star):
            visit(item.operand)

    for dim in expr.dims or ():
        visit(dim)
    return found


def _rename(value: Any, names: Mapping[str, str]) -> Any:
    match value:
        case str():
            return names.get(value, value)
        case tuple():
            return tuple(_rename(v, names) for v in value)
        case Span():
            return None
        case _ if dataclasses.is_dataclass(value) and not isinstance(value, type):
            fields = [
                _rename(getattr(value, f.name), names)
                for f in dataclasses.fields(value)
                if f.name != "operator"
            ]
            operator = getattr(value, "operator", None)
            return (type(value).__name__, operator, *fields)
        case _:
            return value


def symmetric_operands(rule: program.Rule, left: MatchPlan) -> frozenset[int]:
    """The numbers of the matches whose operands may be swapped without changing what is said.

    To swap them is to exchange the two variables in all that the rule says else, where they stand
    nowhere else on the left: nothing changes when what remains is equal up to the order of
    operands on the right, which the engine sorts anyway.
    """
    return frozenset(
        index
        for index, match in enumerate(left.matches)
        if swappable(match)
        and (pair := _exchanged(match, left)) is not None
        and _meaning(rule, left, dict([pair, pair[::-1]])) == _meaning(rule, left, {})
    )


def _exchanged(match: program.Match, left: MatchPlan) -> tuple[str, str] | None:
    """The two variables of a match, where each stands at one place of the left side only."""
    first, second = match.inputs
    if not (isinstance(first, program.InputVariable) and isinstance(second, program.InputVariable)):
        return None
    places = [name for m in left.matches for name in (*_names(m), *m.outputs)]
    once = all(places.count(variable.name) == 1 for variable in (first, second))
    return (first.name, second.name) if once else None


def _meaning(rule: program.Rule, left: MatchPlan, names: Mapping[str, str]) -> object:
    """All that a rule says beside its matches, with variables renamed."""
    return (
        frozenset(_rename(a, names) for a in rule.ascriptions),
        frozenset(_rename(f, names) for f in rule.facts),
        frozenset(_rename(c, names) for c in rule.conditions),
        frozenset(_rename(literal, names) for literal in left.literals),
        frozenset(_rename(name, names) for name in left.optional),
        _rename(rule.lets, names),
        tuple(
            (emit.targets, emit.starred, _rename(_sorted(emit.term, names), names))
            for emit in rule.emits
        ),
    )


def _sorted(term: program.EmitTerm, names: Mapping[str, str]) -> program.EmitTerm:
    """The term with the operands of commutative operators in one order."""
    match term:
        case program.EmitNode():
            inputs = tuple(_sorted(i, names) for i in term.inputs)
            if term.operator.commutative and len(inputs) == 2:
                inputs = tuple(sorted(inputs, key=lambda i: repr(_rename(i, names))))
            return dataclasses.replace(term, inputs=inputs)
        case program.EmitMaybe(inner):
            return program.EmitMaybe(_sorted(inner, names))
        case _:
            return term
