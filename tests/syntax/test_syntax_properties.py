"""Any text parses or is explained; any tree prints to text that parses back to it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tensat_dl.cli.render import render, render_json
from tensat_dl.diagnostics import Diagnostics, SourceFile, Span
from tensat_dl.syntax import ast
from tensat_dl.syntax.codes import CODES
from tensat_dl.syntax.grammar import RESERVED, SOFT_WORDS
from tensat_dl.syntax.parse import parse, read_source
from tensat_dl.syntax.printer import format_expr, format_module

CASES = Path(__file__).parent.parent / "cases" / "syntax"
TEXTS = [path.read_bytes().decode("utf-8") for path in sorted(CASES.glob("*.tsat"))]
TOKENS = re.compile(r"\s+|\w+|.", re.DOTALL)
PIECES = sorted(
    {*RESERVED, *SOFT_WORDS}
    | {"x", "Relu", "T", "_", "a.b", "3", "1e9", "2.5", '"s"', '"', "\n", " ", "# r\n", "## d\n"}
    | set("()[]{}:,=|@*+-/%?<>.;'\\")
    | {"=>", "<=>", "->", "==", "**", "//", "::", "#! m\n", "cost model", "\n@real\n", "\nrule "}
)
QUICK = settings(
    max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


def check_outcome(text: str) -> None:
    """A module or errors; every span lies in the text; everything can be drawn."""
    diagnostics = Diagnostics()
    started = time.process_time()
    module = parse(SourceFile("any.tsat", text), diagnostics)
    assert time.process_time() - started < 1.0
    assert (module is None) == bool(diagnostics.found)
    for found in diagnostics:
        assert found.code in CODES
        assert found.span is not None
        assert 0 <= found.span.start <= found.span.end <= len(text)
        drawn = render(found, color=True)
        for foreign in ("lark", "Token(", "Unexpected", "__ANON", "$END", "RPAR"):
            assert foreign in text or foreign not in found.message + found.help
        assert found.code in drawn
        render_json(found)
    if module is not None:
        reparsed = parse(SourceFile("printed", format_module(module)), diagnostics)
        assert reparsed is not None


@QUICK
@given(st.text(max_size=200))
def test_any_text(text: str) -> None:
    check_outcome(text)


@QUICK
@given(st.lists(st.sampled_from(PIECES), max_size=60).map(" ".join))
def test_any_sequence_of_tokens(text: str) -> None:
    check_outcome(text)


@QUICK
@given(st.data())
def test_any_edit_of_a_rule_file(data: st.DataObject) -> None:
    tokens = TOKENS.findall(data.draw(st.sampled_from(TEXTS)))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(tokens)))
        removed = data.draw(st.integers(0, 3))
        tokens[place : place + removed] = data.draw(st.lists(st.sampled_from(PIECES), max_size=2))
    check_outcome("".join(tokens))


@QUICK
@given(st.binary(max_size=100))
def test_any_bytes(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "any.tsat"
    path.write_bytes(content)
    diagnostics = Diagnostics()
    source = read_source(path, diagnostics)
    assert (source is None) == bool(diagnostics.found)
    if source is not None:
        check_outcome(source.text)


# --- trees ----------------------------------------------------------------------------------

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


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(left=EXPRESSIONS, right=EXPRESSIONS)
def test_expressions_print_and_parse_back(
    left: ast.Expr, right: ast.Expr, parsed: Any, bare: Any
) -> None:
    text = f"rewrite r: {format_expr(left)} => {format_expr(right)}"
    rewrite = parsed(text).items[0]
    assert bare(rewrite.left) == bare(left)
    assert bare(rewrite.right) == bare(right)
