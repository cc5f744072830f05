"""Diagnostics as text and as data; the expected drawings are written by hand."""

from __future__ import annotations

import re

from tensat_dl.cli.render import render, render_json
from tensat_dl.diagnostics import Diagnostic, Label, Severity, SourceFile, Span


def spanned(text: str, mark: str, name: str = "fusion.tsat") -> Span:
    """The span of the first `mark` in the text."""
    start = text.index(mark)
    return Span(SourceFile(name, text), start, start + len(mark))


def test_the_form_of_the_reference() -> None:
    line = "    y1, y2 = Split(MatMul(x, Concat(w1, w2)), i64([N1, N2]), axis=-1)\n"
    text = "\n" * 13 + line
    diagnostic = Diagnostic(
        "E0301",
        "`Concat` needs the attribute `axis`",
        spanned(text, "Concat(w1, w2)"),
        label="no `axis=`",
        notes=("Concat(inputs: T+, *, axis: int)   (ai.onnx, since 13)",),
        help="write `Concat(w1, w2, axis=1)`",
    )
    assert render(diagnostic) == (
        "error[E0301]: `Concat` needs the attribute `axis`\n"
        "  --> fusion.tsat:14:30\n"
        "   |\n"
        "14 |     y1, y2 = Split(MatMul(x, Concat(w1, w2)), i64([N1, N2]), axis=-1)\n"
        "   |                              ^^^^^^^^^^^^^^ no `axis=`\n"
        "   = Concat(inputs: T+, *, axis: int)   (ai.onnx, since 13)\n"
        "help: write `Concat(w1, w2, axis=1)`"
    )


def test_without_a_place() -> None:
    diagnostic = Diagnostic("E0120", "the rule file `a` does not exist", None)
    assert render(diagnostic) == "error[E0120]: the rule file `a` does not exist"


def test_related_places_share_the_gutter_and_may_lie_in_other_files() -> None:
    near = "\n" * 98 + "rewrite a: x => y"
    far = Label(spanned("class A = B\nclass A = C", "A = C", "other.tsat"), "declared here")
    diagnostic = Diagnostic("E0203", "twice", spanned(near, "a:"), related=(far,))
    assert render(diagnostic) == (
        "error[E0203]: twice\n"
        "  --> fusion.tsat:99:9\n"
        "   |\n"
        "99 | rewrite a: x => y\n"
        "   |         ^^\n"
        "  ::: other.tsat:2:7\n"
        "   |\n"
        " 2 | class A = C\n"
        "   |       ----- declared here"
    )


def test_a_span_of_several_lines_is_drawn_line_by_line() -> None:
    text = "a = f(x,\n      y) + 1\n"
    diagnostic = Diagnostic("E0501", "changes", spanned(text, "f(x,\n      y)"), label="here")
    assert render(diagnostic) == (
        "error[E0501]: changes\n"
        " --> fusion.tsat:1:5\n"
        "  |\n"
        "1 | a = f(x,\n"
        "  |     ^^^^\n"
        "2 |       y) + 1\n"
        "  |       ^^ here"
    )


def test_a_long_span_shows_its_ends() -> None:
    text = "\n".join(f"line{n}" for n in range(1, 11))
    lines = render(Diagnostic("E0501", "long", spanned(text, text))).split("\n")
    assert [line for line in lines if "line" in line] == [
        " 1 | line1",
        " 2 | line2",
        " 3 | line3",
        " 4 | line4",
        "10 | line10",
    ]
    assert "..." in lines


def test_tabs_and_wide_characters_keep_the_carets_in_place() -> None:
    text = 'a\t"漢字" here'
    lines = render(Diagnostic("E0102", "wide", spanned(text, "here"))).split("\n")
    assert lines[-2] == '1 | a   "漢字" here'
    assert lines[-1] == "  |            ^^^^"


def test_invisible_characters_are_shown() -> None:
    text = "a\u200b\x1b[31mb"
    lines = render(Diagnostic("E0102", "bad \x1b[0m", spanned(text, "b"))).split("\n")
    assert lines[0] == "error[E0102]: bad \ufffd[0m"
    assert lines[-2] == "1 | a\ufffd\ufffd[31mb"
    assert lines[-1] == "  |        ^"


def test_the_end_of_the_file_has_a_caret() -> None:
    for text in ("abc", "abc\n", "", "\n\n"):
        file = SourceFile("a.tsat", text)
        drawn = render(Diagnostic("E0101", "end", Span(file, len(text), len(text))))
        assert drawn.count("^") == 1
    assert drawn.split("\n")[1] == " --> a.tsat:3:1"


def test_a_span_beyond_the_end_is_cut() -> None:
    file = SourceFile("a.tsat", "abc")
    assert render(Diagnostic("E0101", "end", Span(file, 1, 50))).endswith("1 | abc\n  |  ^^")


def test_windows_line_ends_are_not_drawn() -> None:
    drawn = render(Diagnostic("E0101", "m", spanned("ab\r\ncd\r\n", "ab\r\ncd")))
    assert "\r" not in drawn
    assert "\ufffd" not in drawn


def test_long_lines_are_cut_around_the_span() -> None:
    text = "x" * 5_000 + " HERE " + "y" * 5_000
    lines = render(Diagnostic("E0101", "m", spanned(text, "HERE"))).split("\n")
    column = lines[-2].index("HERE")
    assert lines[-1][column:] == "^^^^"
    assert max(map(len, lines)) < 250


def test_colour_adds_sequences_and_changes_no_text() -> None:
    for severity in Severity:
        diagnostic = Diagnostic(
            "E0101", "m", spanned("abc", "b"), label="l", notes=("n",), help="h", severity=severity
        )
        coloured = render(diagnostic, color=True)
        assert re.sub(r"\x1b\[[0-9;]*m", "", coloured) == render(diagnostic)
        assert coloured != render(diagnostic)


def test_warnings_say_so() -> None:
    diagnostic = Diagnostic("W0402", "same", None, severity=Severity.WARNING)
    assert render(diagnostic) == "warning[W0402]: same"


def test_json_holds_lines_columns_and_offsets() -> None:
    text = "ab\ncde\n"
    related = (Label(spanned(text, "ab"), "first"),)
    diagnostic = Diagnostic("E0101", "m", spanned(text, "de"), "l", related, ("n",), "h")
    data = render_json(diagnostic)
    assert data["span"] == {
        "file": "fusion.tsat",
        "start": 4,
        "end": 6,
        "line": 2,
        "column": 2,
        "end_line": 2,
        "end_column": 4,
    }
    assert (data["code"], data["severity"]) == ("E0101", "error")
    assert data["notes"] == ["n"]
    assert data["related"][0]["text"] == "first"  # type: ignore[index]
    assert render_json(Diagnostic("E0120", "m", None))["span"] is None
