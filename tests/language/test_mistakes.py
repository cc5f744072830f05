"""What people really write, one mistake in each file, and what they read then.

`tests/cases/errors/NAME.tsat` has one mistake; `NAME.expected` is what `check` says of it.  A
message names the place, says what is wrong there, and what to do.  `pytest --update` writes the
expectations.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tensat_dl.cli.render import render
from tensat_dl.diagnostics import Diagnostics, Severity
from tensat_dl.language.load import load_program

CASES = Path(__file__).parents[1] / "cases" / "errors"
FILES = sorted(CASES.glob("*.tsat"))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_mistake(path: Path, request: pytest.FixtureRequest) -> None:
    diagnostics = Diagnostics()
    program = load_program([str(path)], diagnostics)
    assert len({diagnostic.code for diagnostic in diagnostics}) == 1
    assert (program is None) == diagnostics.has_errors
    text = "".join(render(diagnostic) + "\n\n" for diagnostic in diagnostics)
    text = text.replace(f"{path.parent}/", "")
    expected = path.with_suffix(".expected")
    if request.config.getoption("--update"):
        expected.write_text(text, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == text


def test_there_are_many_and_each_is_expected() -> None:
    assert len(FILES) >= 80
    assert {path.stem for path in CASES.glob("*.expected")} == {path.stem for path in FILES}


#: Where a label says what to do.
NO_HELP = {"brace_missing", "bracket_missing", "relation_too_few_columns"}


def test_no_message_shows_what_lies_below() -> None:
    for path in CASES.glob("*.expected"):
        text = path.read_text(encoding="utf-8")
        assert not re.search(r"lark|egglog|traceback|terminal|__|\btoken|\$\d", text, re.IGNORECASE)


def test_almost_every_message_says_what_to_do() -> None:
    without = {
        path.stem
        for path in CASES.glob("*.expected")
        if "\nhelp: " not in path.read_text(encoding="utf-8")
    }
    assert without == NO_HELP


def test_warnings_do_not_stop_a_run() -> None:
    for path in FILES:
        diagnostics = Diagnostics()
        load_program([str(path)], diagnostics)
        for found in diagnostics:
            assert (found.severity is Severity.WARNING) == found.code.startswith("W")
