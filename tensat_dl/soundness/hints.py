"""What a rule asks of values, so that the search gives values where they are asked for.

Enters: a rule.  Leaves: the tensors whose value conditions or attributes look at.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tensat_dl.language import walk
from tensat_dl.language.program import (
    Emit,
    EmitConstant,
    EmitMap,
    EmitMaybe,
    EmitNode,
    EmitTerm,
    Function,
    InputStar,
    InputVariable,
    Rule,
)
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.dtypes import DType

_OF_VALUES = frozenset(("value", "known", "const"))


@dataclass(frozen=True)
class Hints:
    """`valued`: tensors whose value is asked for; `dtypes`: element types that are named."""

    valued: frozenset[str]
    dtypes: tuple[DType, ...]


def hints_of(rule: Rule, functions: Mapping[str, Function]) -> Hints:
    """Read the expressions of a rule."""
    asking = _asking_functions(functions)
    names: set[str] = set()
    for expr in _expressions(rule):
        for part in walk.walk(expr):
            if isinstance(part, ast.Call) and part.function in asking:
                names |= {name.text for name in walk.names_in(part)}
    written = (name.text for expr in _expressions(rule) for name in walk.names_in(expr))
    ascribed = (ascription.type.dtype for ascription in rule.ascriptions)
    named = sorted({*written, *ascribed} & set(dtypes.names()))
    found = (dtypes.from_name(name) for name in named)
    return Hints(frozenset(_with_inputs(rule, names)), tuple(d for d in found if d is not None))


def _with_inputs(rule: Rule, names: set[str]) -> set[str]:
    """A value is known where those that it is made from are."""
    for _ in rule.matches:
        for match in rule.matches:
            if names & set(match.outputs):
                names |= {i.name for i in match.inputs if isinstance(i, InputVariable | InputStar)}
    return names


def _asking_functions(functions: Mapping[str, Function]) -> frozenset[str]:
    """Functions that look at values, those that call others that do included."""
    asking = set(_OF_VALUES)
    for _ in functions:
        for function in functions.values():
            calls = {p.function for p in walk.walk(function.body) if isinstance(p, ast.Call)}
            if calls & asking:
                asking.add(function.name)
    return frozenset(asking)


def _expressions(rule: Rule) -> Iterator[ast.Expr]:
    yield from rule.conditions
    yield from (value for _, value in rule.lets)
    for match in rule.matches:
        yield from (expr for _, expr in match.attributes.required)
    for emit in rule.emits:
        yield from _emitted(emit)


def _emitted(emit: Emit) -> Iterator[ast.Expr]:
    yield from _in_term(emit.term)


def _in_term(term: EmitTerm) -> Iterator[ast.Expr]:
    match term:
        case EmitConstant():
            yield term.value
        case EmitMaybe(inner):
            yield from _in_term(inner)
        case EmitNode() | EmitMap():
            yield from (expr for _, expr in term.attributes.values)
            for item in term.inputs:
                yield from _in_term(item)
        case _:
            return
