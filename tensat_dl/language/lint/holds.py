"""Whether the types and conditions of one rule follow from those of another.

Enters: a rule with a substitution into another rule.  Leaves: the substitution with the names of
dims and element types added; None where something would not be known.  When in doubt, None.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tensat_dl.language.lint.matching import Substitution, key
from tensat_dl.language.lint.sides import Absent, Constant, Term, Variable, variables
from tensat_dl.language.program import Fact, Rule
from tensat_dl.syntax import ast
from tensat_dl.syntax.print_expressions import format_expr

_WORD = re.compile(r"[A-Za-z_][\w.]*")


def implied_by(rule: Rule, found: Substitution, other: Rule) -> Substitution | None:
    """Add what the types of `rule` bind; None unless all it asks for is asked for by `other`."""
    known = _types(other)
    for ascription in rule.ascriptions:
        term = found.tensors.get(ascription.variable)
        types = known.get(term.name, []) if isinstance(term, Variable) else []
        extended = _match_type(ascription.type, term, types, found)
        if extended is None:
            return None
        found = extended
    for name, value in rule.lets:
        found = Substitution(found.tensors, {**found.texts, name: found.text(format_expr(value))})
    facts = {_fact_text(fact, Substitution()) for fact in other.facts}
    if not all(_has_fact(fact, found, facts) for fact in rule.facts):
        return None
    conditions = {format_expr(condition) for condition in other.conditions}
    wanted = {found.text(format_expr(condition)) for condition in rule.conditions}
    return found if wanted <= conditions else None


def _types(rule: Rule) -> Mapping[str, list[ast.TypeExpr]]:
    types: dict[str, list[ast.TypeExpr]] = {}
    for ascription in rule.ascriptions:
        types.setdefault(ascription.variable, []).append(ascription.type)
    return types


def _has_fact(fact: Fact, found: Substitution, facts: set[str]) -> bool:
    if _fact_text(fact, found) in facts:
        return True
    term = found.tensors.get(fact.arguments[0])
    return fact.is_weight and term is not None and _is_weight(term, facts)


def _is_weight(term: Term, facts: set[str]) -> bool:
    """Constants are weights, and so is what is built of weights."""
    if isinstance(term, Constant | Absent):
        return True
    return all(f"weight({name})" in facts for name in variables(term))


def _fact_text(fact: Fact, found: Substitution) -> str:
    arguments = [found.tensors.get(name, Variable(name)) for name in fact.arguments]
    return f"{fact.relation}({', '.join(key(term) for term in arguments)})"


# --- types ----------------------------------------------------------------------------------


def _match_type(
    wanted: ast.TypeExpr, term: Term | None, known: Sequence[ast.TypeExpr], found: Substitution
) -> Substitution | None:
    for given in known:
        extended = _match_one(wanted, given, found)
        if extended is not None:
            return extended
    return None if term is None or isinstance(term, Absent) else _match_any(wanted, term, found)


def _match_any(wanted: ast.TypeExpr, term: Term, found: Substitution) -> Substitution | None:
    """A type that every tensor has: `T`, `T[*S]`."""
    extended = _bind(wanted.dtype, f"dtype({key(term)})", found)
    if extended is None or wanted.dims is None:
        return extended
    match wanted.dims:
        case (ast.Star(operand=ast.Name(text=name)),):
            return _bind(name, f"shape({key(term)})", extended)
        case (ast.Star(operand=ast.Wildcard()),):
            return extended
    return None


def _match_one(
    wanted: ast.TypeExpr, given: ast.TypeExpr, found: Substitution
) -> Substitution | None:
    extended = _bind(wanted.dtype, given.dtype, found)
    if wanted.dims is None or extended is None:
        return extended
    if given.dims is None or len(wanted.dims) != len(given.dims):
        return None
    for dim, other in zip(wanted.dims, given.dims, strict=True):
        extended = None if extended is None else _match_dim(dim, other, extended)
    return extended


def _match_dim(wanted: ast.Expr, given: ast.Expr, found: Substitution) -> Substitution | None:
    if isinstance(wanted, ast.Star) or isinstance(given, ast.Star):
        if not (isinstance(wanted, ast.Star) and isinstance(given, ast.Star)):
            return None
        return _match_dim(wanted.operand, given.operand, found)
    if isinstance(wanted, ast.Wildcard):
        return found
    if isinstance(given, ast.Wildcard):
        return None
    if isinstance(wanted, ast.Name):
        return _bind(wanted.text, format_expr(given), found)
    return found if found.text(format_expr(wanted)) == format_expr(given) else None


def _bind(name: str, text: str, found: Substitution) -> Substitution | None:
    """A name with a capital stands for anything; any other says what it says."""
    if name == "_":
        return found
    return found.with_text(name, text) if name[:1].isupper() else (found if name == text else None)


def mentioned(rule: Rule) -> set[str]:
    """The names that the types and conditions of a rule ask about."""
    words = {word for c in rule.conditions for word in _WORD.findall(format_expr(c))}
    words |= {name for fact in rule.facts for name in fact.arguments}
    return words | {ascription.variable for ascription in rule.ascriptions}
