"""Any text parses or is explained; any tree prints to text that parses back to it."""

from __future__ import annotations

import re
import time
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings, strategies as st
from trees import EXPRESSIONS

from tensat_dl.cli.render import render, render_json
from tensat_dl.diagnostics import Diagnostics, SourceFile
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


@pytest.mark.slow
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


@pytest.mark.slow
@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(left=EXPRESSIONS, right=EXPRESSIONS)
def test_expressions_print_and_parse_back(
    left: ast.Expr, right: ast.Expr, parsed: Any, bare: Any
) -> None:
    text = f"rewrite r: {format_expr(left)} => {format_expr(right)}"
    rewrite = parsed(text).items[0]
    assert bare(rewrite.left) == bare(left)
    assert bare(rewrite.right) == bare(right)
