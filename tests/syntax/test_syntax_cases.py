"""Every file of `tests/cases/syntax`, against the text beside it.

`NAME.tsat` is a rule file; `NAME.expected` its canonical form, or the diagnostics it yields.  A
file named after a code yields that code and no other.  `pytest --update` writes the expectations.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tensat_dl.cli.render import render
from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.syntax import ast
from tensat_dl.syntax.codes import CODES
from tensat_dl.syntax.parse import parse
from tensat_dl.syntax.printer import format_module

CASES = Path(__file__).parent.parent / "cases" / "syntax"
FILES = sorted(CASES.glob("*.tsat"))
GOOD = [path for path in FILES if not path.name.startswith("E")]


def read(path: Path) -> str:
    return path.read_bytes().decode("utf-8")


def outcome(path: Path) -> tuple[ast.Module | None, Diagnostics, str]:
    diagnostics = Diagnostics()
    module = parse(SourceFile(path.name, read(path)), diagnostics)
    if module is not None:
        return module, diagnostics, format_module(module)
    return None, diagnostics, "".join(render(d) + "\n\n" for d in diagnostics)


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_case(path: Path, request: pytest.FixtureRequest) -> None:
    expected = path.with_suffix(".expected")
    module, diagnostics, text = outcome(path)
    code = re.match(r"E\d+", path.name)
    assert {d.code for d in diagnostics} == ({code.group()} if code else set())
    assert (module is None) == (code is not None)
    if request.config.getoption("--update"):
        expected.write_text(text, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == text


def test_no_expectation_is_left_over() -> None:
    known = {path.with_suffix(".expected") for path in FILES}
    assert set(CASES.iterdir()) == known | set(FILES)


def test_every_code_has_a_case() -> None:
    elsewhere = {"E0110", "E0120"}  # made by test_parse.py: too deep, and unreadable files
    cases = {match.group() for path in FILES if (match := re.match(r"E\d+", path.name))}
    assert cases | elsewhere == set(CODES)


@pytest.mark.parametrize("path", GOOD, ids=lambda path: path.stem)
def test_treatments_agree(path: Path, parsed: Callable[[str], ast.Module], bare: Any) -> None:
    """As written, in canonical form, and with all white space squeezed: one tree."""
    tree = bare(parsed(read(path)))
    printed = format_module(parsed(read(path)))
    assert bare(parsed(printed)) == tree
    assert format_module(parsed(printed)) == printed
    without_docs = re.sub(r"^ *#.*\n", "", printed, flags=re.MULTILINE)
    squeezed = " ".join(without_docs.split("\n"))
    assert bare(parsed(squeezed)) == bare(parsed(without_docs))
