"""Facts of user relations spelled out: the matches and conditions of a derivation in their place.

Enters: a rule and the derivations of its program.  Leaves: rules without such facts, one for each
way of deriving them, the shorter ways first; a relation that is derived from itself is followed a
few steps deep.  A fact that nothing derives leaves no way.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import count, islice

from tensat_dl.language import walk
from tensat_dl.language.program import (
    Ascription,
    AttributePattern,
    Derivation,
    Fact,
    InputMap,
    InputStar,
    InputVariable,
    Match,
    MatchInput,
    Rule,
)
from tensat_dl.syntax import ast

#: Derivations in a row.
_DEPTH = 3
#: Ways of one rule that are looked at.
_MOST = 40


def ways(rule: Rule, derivations: Sequence[Derivation]) -> tuple[Rule, ...]:
    """The rule without facts of user relations, in every way up to a depth."""
    found: list[Rule] = []
    for depth in range(1, _DEPTH + 1):
        for way in islice(_expanded(rule, derivations, depth, count()), _MOST):
            if way not in found:
                found.append(way)
    return tuple(found[:_MOST])


def _expanded(
    rule: Rule, derivations: Sequence[Derivation], depth: int, numbers: Iterator[int]
) -> Iterator[Rule]:
    fact = next((fact for fact in rule.facts if not fact.is_weight), None)
    if fact is None:
        yield rule
        return
    if depth == 0:
        return
    for derivation in derivations:
        distinct = len(set(derivation.arguments)) == len(derivation.arguments)
        if derivation.relation == fact.relation and distinct:
            once = _applied(rule, fact, derivation, next(numbers))
            yield from _expanded(once, derivations, depth - 1, numbers)


def _applied(rule: Rule, fact: Fact, derivation: Derivation, number: int) -> Rule:
    """The rule with the body of a derivation in place of one fact."""
    names = {name: f"{name}'{number}" for name, _ in derivation.sorts}
    names.update(zip(derivation.arguments, fact.arguments, strict=True))
    facts = tuple(
        replace(f, arguments=tuple(names.get(a, a) for a in f.arguments)) for f in derivation.facts
    )
    sorts = dict(rule.sorts)
    sorts.update({names.get(n, n): s for n, s in derivation.sorts if names.get(n, n) not in sorts})
    return replace(
        rule,
        matches=(*rule.matches, *(_match(m, names) for m in derivation.matches)),
        ascriptions=(*rule.ascriptions, *(_ascription(a, names) for a in derivation.ascriptions)),
        facts=(*(f for f in rule.facts if f is not fact), *facts),
        conditions=(*rule.conditions, *(_expr(c, names) for c in derivation.conditions)),
        sorts=tuple(sorts.items()),
    )


def _match(match: Match, names: Mapping[str, str]) -> Match:
    return replace(
        match,
        attributes=_attributes(match.attributes, names),
        inputs=tuple(_input(item, names) for item in match.inputs),
        outputs=tuple(names.get(name, name) for name in match.outputs),
    )


def _input(item: MatchInput, names: Mapping[str, str]) -> MatchInput:
    match item:
        case InputVariable(name) | InputStar(name):
            return replace(item, name=names.get(name, name))
        case InputMap():
            return replace(
                item,
                attributes=_attributes(item.attributes, names),
                inputs=tuple(_input(inner, names) for inner in item.inputs),
            )
    return item


def _attributes(pattern: AttributePattern, names: Mapping[str, str]) -> AttributePattern:
    rest = pattern.rest
    return AttributePattern(
        tuple((attribute, names.get(name, name)) for attribute, name in pattern.bound),
        tuple((attribute, _expr(value, names)) for attribute, value in pattern.required),
        None if rest is None else names.get(rest, rest),
    )


def _ascription(ascription: Ascription, names: Mapping[str, str]) -> Ascription:
    written = ascription.type
    dims = None if written.dims is None else tuple(_expr(dim, names) for dim in written.dims)
    renamed = replace(written, dtype=names.get(written.dtype, written.dtype), dims=dims)
    return Ascription(names.get(ascription.variable, ascription.variable), renamed)


def _expr(expr: ast.Expr, names: Mapping[str, str]) -> ast.Expr:
    renamed: dict[str, ast.Expr] = {
        name.text: ast.Name(names[name.text], name.span)
        for name in walk.names_in(expr)
        if name.text in names
    }
    return walk.replace_names(expr, renamed) if renamed else expr
