"""`tensat-dl explain` shows the page of a code, or says which codes there are."""

from __future__ import annotations

import pytest

from tensat_dl.resources import data_directory


def test_a_page(tensat) -> None:
    done = tensat("explain", "e0305")
    assert (done.code, done.err) == (0, "")
    assert done.out.startswith("E0305: an attribute given by position\n\nPositional arguments are")
    assert "\nWrong\n\n    rewrite a: Transpose(" in done.out
    assert done.out.count("\nRight\n\n    rewrite a: Transpose(") == 1
    assert "```" not in done.out


def test_the_list_has_every_page(tensat) -> None:
    lines = tensat("explain").out.splitlines()
    pages = sorted(page.stem for page in data_directory("grammar").glob("errors/*.md"))
    assert [line[:5] for line in lines] == pages
    assert "E0120: a rule file that cannot be read" in lines


@pytest.mark.parametrize(
    ("subject", "message", "help"),
    [
        ("E0407", "there is no code `E0407`", "did you mean `E04"),
        ("E402", "there is no code `E402`", "did you mean `E0402`?"),
        ("w0301", "there is no code `w0301`", "did you mean `"),
        ("Concat", "`Concat` is no code", "a code looks like E0402"),
    ],
)
def test_an_unknown_code(tensat, subject: str, message: str, help: str) -> None:
    done = tensat("explain", subject)
    assert (done.code, done.out) == (2, "")
    assert message in done.err
    assert help in done.err
