"""Every code has a page, whose wrong file yields that code alone and whose right one nothing."""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from tensat_dl.api import verify_rules
from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.allowances import ALLOWABLE
from tensat_dl.language.load import load_program, load_text
from tensat_dl.resources import data_directory
from tensat_dl.rule_tests.run import run_tests
from tensat_dl.settings import Settings
from tensat_dl.soundness.findings import findings
from tensat_dl.syntax.format import lay_out

PACKAGE = Path(__file__).parents[2] / "tensat_dl"
PAGES = sorted(data_directory("grammar").glob("errors/*.md"))
UNREADABLE = "E0120"  # shown by a command: what cannot be read is no text
VERIFY = re.compile(r"[EW]10")  # found by `verify`
NOT_SHOWN = {"W1002"}  # what `verify` can compute may change


def all_codes() -> dict[str, str]:
    """Code -> title, of every stage that has codes."""
    found: dict[str, str] = {}
    for path in sorted(PACKAGE.rglob("codes.py")):
        name = ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts)
        codes: Mapping[str, str] = getattr(importlib.import_module(name), "CODES", {})
        assert not found.keys() & codes.keys()
        found.update(codes)
    return found


def examples(page: Path) -> tuple[str, str]:
    """The wrong and the right file."""
    blocks = re.findall(
        r"^```(?:tsat|sh)\n(.*?)^```$", page.read_text(encoding="utf-8"), re.M | re.S
    )
    wrong, right = blocks
    return wrong, right


def found_in(text: str) -> set[str]:
    """The codes that `check` and `test` report of a file called `mine.tsat`."""
    Path("mine.tsat").write_text(text, encoding="utf-8")
    diagnostics = Diagnostics()
    program = load_program(["mine.tsat"], diagnostics)
    found = {diagnostic.code for diagnostic in diagnostics}
    results = run_tests(program, Settings(), "") if program is not None and program.tests else ()
    return found | {failure.code for result in results for failure in result.failures}


def found_by_verify(text: str) -> set[str]:
    program = load_text(text, "mine.tsat", Diagnostics())
    assert program is not None
    verdicts = verify_rules(program, samples=10)
    return {found.code for found in findings(program, verdicts)}


def test_every_code_that_is_raised_has_a_title() -> None:
    sources = "".join(p.read_text() for p in PACKAGE.rglob("*.py") if p.name != "codes.py")
    assert set(re.findall(r'"([EW][0-9]{4})"', sources)) <= set(all_codes())


def test_every_warning_about_a_rule_can_be_allowed() -> None:
    schedule = {"W0601"}
    assert set(ALLOWABLE) == {code for code in all_codes() if code.startswith("W")} - schedule


def test_every_code_has_a_page_with_its_title() -> None:
    titles = {page.stem: page.read_text(encoding="utf-8").partition("\n")[0] for page in PAGES}
    assert titles == {code: f"# {code}: {title}" for code, title in all_codes().items()}


def test_the_reference_lists_every_code() -> None:
    text = (data_directory("grammar") / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| \[([EW]\d{4})\]\(errors/(.*?)\.md\) \| (.*) \|$", text, re.M)
    assert [code for code, _, _ in rows] == sorted(all_codes())
    assert [link for _, link, _ in rows] == [code for code, _, _ in rows]
    assert {code: title for code, _, title in rows} == all_codes()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_wrong_file_has_this_mistake_and_the_right_one_none(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    wrong, right = examples(page)
    assert found_in(right) == set()
    if VERIFY.match(page.stem):
        assert found_in(wrong) == set()
        assert found_by_verify(right) == set()
        assert page.stem in NOT_SHOWN or found_by_verify(wrong) == {page.stem}
        return
    assert lay_out(right) == right
    if page.stem == UNREADABLE:
        command, rules = wrong.rsplit(maxsplit=1)
        assert command == "tensat-dl check"
        diagnostics = Diagnostics()
        assert load_program([rules], diagnostics) is None
        assert [diagnostic.code for diagnostic in diagnostics] == [UNREADABLE]
    else:
        assert found_in(wrong) == {page.stem}


def test_pages_speak_of_nothing_that_lies_below() -> None:
    for page in PAGES:
        assert not re.search(r"lark|egglog|token|terminal", page.read_text(), re.IGNORECASE)
