"""Strategies that draw syntax trees of any shape."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tensat_dl.diagnostics import SourceFile, Span
from tensat_dl.syntax import ast
from tensat_dl.syntax.grammar import RESERVED

HERE = Span(SourceFile("", ""), 0, 0)
WORDS = st.from_regex(r"\A[A-Za-z][A-Za-z0-9_]{0,3}(\.[a-z]{1,2})?\Z").filter(
    lambda text: text not in RESERVED
)
PLAIN = WORDS.map(lambda text: text.replace(".", "_")).filter(lambda text: text not in RESERVED)
NAMES = WORDS.map(lambda text: ast.Name(text, HERE))
NUMBERS = st.one_of(
    st.integers(0, 10**12), st.floats(0, allow_infinity=False, allow_nan=False)
).map(lambda value: ast.Number(value, HERE))
STRINGS = st.text(st.characters(exclude_categories=["Cs"]), max_size=5).map(
    lambda text: ast.String(text, HERE)
)
LEAVES = st.one_of(
    NAMES,
    NUMBERS,
    STRINGS,
    st.booleans().map(lambda value: ast.Boolean(value, HERE)),
    st.just(ast.Wildcard(HERE)),
)
BINARY = ["+", "-", "*", "/", "//", "%", "**", "and", "or"]
COMPARE = ["==", "!=", "<", "<=", ">", ">=", "in", "not in"]


def tuples(items: st.SearchStrategy[Any], least: int = 0) -> st.SearchStrategy[Any]:
    return st.lists(items, min_size=least, max_size=3).map(tuple)


def types(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    dims = st.one_of(inner.filter(is_sum), NAMES.map(lambda name: ast.Star(name, HERE)))
    return st.builds(ast.TypeExpr, PLAIN, st.none() | tuples(dims), st.just(HERE))


def is_sum(expr: ast.Expr) -> bool:
    return not isinstance(expr, ast.Ascribed)


def starred(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return inner.map(lambda operand: ast.Star(operand, HERE))


def calls(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    ascribed = st.builds(ast.Ascribed, inner | starred(inner), types(inner), st.just(HERE))
    return st.builds(
        ast.Call,
        WORDS,
        tuples(st.one_of(inner, starred(inner), ascribed)),
        tuples(st.builds(ast.Keyword, PLAIN, inner, st.just(HERE))),
        tuples(NAMES),
        st.just(HERE),
        st.just(HERE),
        st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    )


def compound(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    here = st.just(HERE)
    comparison = tuples(st.tuples(st.sampled_from(COMPARE), inner), least=1)
    bound = st.none() | inner
    return st.one_of(
        calls(inner),
        st.builds(ast.ListExpr, tuples(inner | starred(inner)), here),
        st.builds(ast.Maybe, inner, here),
        st.builds(ast.Unary, st.sampled_from(["-", "not"]), inner, here),
        st.builds(ast.Binary, st.sampled_from(BINARY), inner, inner, here),
        st.builds(ast.Compare, inner, comparison, here),
        st.builds(ast.IfExpr, inner, inner, inner, here),
        st.builds(ast.Index, inner, inner, here),
        st.builds(ast.Slice, inner, bound, bound, here),
        st.builds(ast.Ascribed, inner, types(inner), here),
    )


EXPRESSIONS = st.recursive(LEAVES, compound, max_leaves=12)


# --- items ----------------------------------------------------------------------------------

DOCS = st.sampled_from(["", "Why.", "Why.\n\nHow."])
CONDITIONS = EXPRESSIONS.filter(is_sum)


def here(kind: Any, *fields: Any) -> st.SearchStrategy[Any]:
    """A node of these fields, its span last."""
    return st.builds(kind, *fields, st.just(HERE))


PLAIN_NAMES = here(ast.Name, PLAIN)
LETS = tuples(here(ast.Let, PLAIN_NAMES, CONDITIONS))
ANNOTATIONS = tuples(here(ast.Annotation, PLAIN, tuples(CONDITIONS)))
FOR_CLASS = st.none() | here(ast.ForClass, PLAIN_NAMES, NAMES)
STATEMENTS = here(ast.Statement, tuples(PLAIN_NAMES, 1), st.just(False), EXPRESSIONS)
STARRED = here(ast.Statement, st.tuples(PLAIN_NAMES), st.just(True), EXPRESSIONS)
EACH = st.none() | here(ast.Each, tuples(PLAIN_NAMES, 1), tuples(PLAIN_NAMES, 1))
REWRITES = here(
    ast.Rewrite,
    PLAIN_NAMES,
    FOR_CLASS,
    EXPRESSIONS,
    EXPRESSIONS,
    st.booleans(),
    tuples(CONDITIONS),
    LETS,
    ANNOTATIONS,
    DOCS,
)
RULES = here(
    ast.Rule,
    PLAIN_NAMES,
    FOR_CLASS,
    EACH,
    tuples(STATEMENTS),
    tuples(CONDITIONS),
    LETS,
    tuples(STATEMENTS | STARRED),
    ANNOTATIONS,
    DOCS,
)
INCLUDES = here(ast.Include, tuples(NAMES, 1))
PARAMETERS = here(
    ast.Parameter, PLAIN_NAMES, PLAIN, st.booleans(), st.booleans(), st.none() | CONDITIONS
)
RUNS = here(ast.Run, NAMES) | here(ast.Prune)
LIMITS = st.none() | here(
    ast.Limit, st.none() | st.integers(1, 99), st.integers(1, 10**6), st.floats(0.5, 99)
)
STEPS = st.recursive(
    RUNS,
    lambda inner: (
        here(ast.Saturate, tuples(inner), LIMITS)
        | here(ast.Repeat, st.integers(1, 9), tuples(inner), LIMITS)
    ),
    max_leaves=5,
)
ROWS = tuples(here(ast.CostRow, PLAIN_NAMES, CONDITIONS))
CALLS = EXPRESSIONS.filter(lambda expr: isinstance(expr, ast.Call))
ITEMS = st.one_of(
    REWRITES,
    RULES,
    here(ast.Ruleset, PLAIN_NAMES, tuples(INCLUDES | REWRITES | RULES), ANNOTATIONS, DOCS),
    here(ast.OperatorClass, PLAIN_NAMES, tuples(NAMES, 1), DOCS),
    here(ast.Relation, PLAIN_NAMES, tuples(PARAMETERS), DOCS),
    here(ast.Function, PLAIN_NAMES, tuples(PARAMETERS), PLAIN, CONDITIONS, DOCS),
    here(ast.Schedule, PLAIN_NAMES, tuples(STEPS), DOCS),
    here(ast.CostModel, PLAIN_NAMES, ROWS, DOCS),
    here(ast.DefaultCost, NAMES, DOCS),
)
MODULES = here(ast.Module, DOCS, st.just(1), st.just(()), tuples(ITEMS))
