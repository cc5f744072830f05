"""Every file of `tests/cases/check`, against the text beside it.

`fail/CODE_name.tsat` yields that code and no other; `fail/*.expected` is what the user reads.
`pass/*.tsat` yields nothing; `pass/*.expected` is the checked program.  `pytest --update` writes
the expectations.  Files that begin with `_` are imported by others.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tensat_dl.cli.render import render
from tensat_dl.diagnostics import Diagnostics, Severity
from tensat_dl.language.codes import CODES
from tensat_dl.language.load import load_program
from tensat_dl.language.print_program import print_program

CASES = Path(__file__).parent.parent / "cases" / "check"
FAIL = sorted(path for path in (CASES / "fail").glob("*.tsat") if not path.stem.startswith("_"))
PASS = sorted(path for path in (CASES / "pass").glob("*.tsat") if not path.stem.startswith("_"))


def compare(path: Path, text: str, request: pytest.FixtureRequest) -> None:
    expected = path.with_suffix(".expected")
    if request.config.getoption("--update"):
        expected.write_text(text, encoding="utf-8")
    assert expected.read_text(encoding="utf-8") == text


@pytest.mark.parametrize("path", FAIL, ids=lambda path: path.stem)
def test_mistakes(path: Path, request: pytest.FixtureRequest) -> None:
    diagnostics = Diagnostics()
    program = load_program([str(path)], diagnostics)
    code = path.stem[:5]
    assert {diagnostic.code for diagnostic in diagnostics} == {code}
    assert (program is None) == code.startswith("E")
    assert all((d.severity is Severity.ERROR) == code.startswith("E") for d in diagnostics)
    text = "".join(render(diagnostic) + "\n\n" for diagnostic in diagnostics)
    compare(path, text.replace(f"{path.parent}/", ""), request)


@pytest.mark.parametrize("path", PASS, ids=lambda path: path.stem)
def test_programs(path: Path, request: pytest.FixtureRequest) -> None:
    diagnostics = Diagnostics()
    program = load_program([str(path)], diagnostics)
    assert [render(diagnostic) for diagnostic in diagnostics] == []
    assert program is not None
    compare(path, print_program(program), request)


def test_no_expectation_is_left_over() -> None:
    expected = {path.with_suffix(".expected") for path in (*FAIL, *PASS)}
    assert set(CASES.rglob("*.expected")) == expected


def test_every_code_has_a_title_and_a_file() -> None:
    package = Path(__file__).parents[2] / "tensat_dl" / "language"
    sources = "".join(path.read_text() for path in package.rglob("*.py") if path.stem != "codes")
    raised = set(re.findall(r'"([EW]0[0-9]{3})"', sources))
    assert raised == set(CODES)
    assert {path.stem[:5] for path in FAIL} == set(CODES)


def test_no_message_shows_what_lies_below() -> None:
    texts = [path.read_text() for path in (CASES / "fail").glob("*.expected")]
    assert texts
    assert not any(re.search(r"lark|egglog|Traceback|\$\d", text, re.I) for text in texts)
