"""Draws diagnostics: the code, the source lines, carets under the exact span, and the help.

Enters: a :class:`Diagnostic`.  Leaves: text without a final newline, or a dict for JSON.  The form
is fixed by tests; colours are ANSI sequences around parts of the same text.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

from tensat_dl.diagnostics import Diagnostic, Severity, Span

_TAB = 4
_MAX_LINES = 6  # a longer span shows its first and last lines
_MAX_WIDTH = 160  # columns of a source line that are shown
_UNSEEN = "\N{REPLACEMENT CHARACTER}"

_BOLD = "\x1b[1m"
_BLUE = "\x1b[1;34m"
_CYAN = "\x1b[1;36m"
_RED = "\x1b[1;31m"
_YELLOW = "\x1b[1;33m"
_RESET = "\x1b[0m"


@dataclass(frozen=True)
class _Style:
    """Wraps text in a colour, or leaves it alone."""

    color: bool
    severity: Severity

    def paint(self, text: str, code: str) -> str:
        return f"{code}{text}{_RESET}" if self.color and text else text

    def loud(self, text: str) -> str:
        return self.paint(text, _RED if self.severity is Severity.ERROR else _YELLOW)

    def quiet(self, text: str) -> str:
        return self.paint(text, _BLUE)


def render(diagnostic: Diagnostic, *, color: bool = False) -> str:
    """The diagnostic as a person reads it, in the form that the language reference shows."""
    style = _Style(color, diagnostic.severity)
    head = style.loud(f"{diagnostic.severity.value}[{diagnostic.code}]")
    lines = [head + style.paint(f": {_seen(diagnostic.message)}", _BOLD)]
    places = [(r.span, r.text) for r in diagnostic.related]
    gutter = _gutter([diagnostic.span, *(span for span, _ in places)])
    if diagnostic.span is not None:
        lines += _place(diagnostic.span, diagnostic.label, gutter, style, main=True)
    for span, text in places:
        lines += _place(span, text, gutter, style, main=False)
    for note in diagnostic.notes:
        lines += _hanging(" " * gutter + style.quiet(" = "), " " * (gutter + 3), note)
    if diagnostic.help:
        lines += _hanging(style.paint("help", _CYAN) + ": ", " " * 6, diagnostic.help)
    return "\n".join(lines)


def render_json(diagnostic: Diagnostic) -> dict[str, object]:
    """The diagnostic as data: lines, columns and offsets, from 1 and from 0 respectively."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        "message": diagnostic.message,
        "label": diagnostic.label,
        "span": _span_json(diagnostic.span),
        "related": [{"span": _span_json(r.span), "text": r.text} for r in diagnostic.related],
        "notes": list(diagnostic.notes),
        "help": diagnostic.help,
    }


# --- one place ------------------------------------------------------------------------------


def _place(span: Span, label: str, gutter: int, style: _Style, *, main: bool) -> list[str]:
    """The arrow with file, line and column, then the source with carets."""
    line, column = span.position()
    arrow = "-->" if main else ":::"
    lines = [f"{' ' * gutter}{style.quiet(arrow)} {_seen(span.file.name)}:{line}:{column}"]
    lines.append(style.quiet(" " * gutter + " |"))
    mark = "^" if main else "-"
    rows = _rows(span)
    for position, row in enumerate(rows):
        if row is None:
            lines.append(style.quiet("..."))
            continue
        text, caret_text = _drawn(row, mark)
        lines.append(style.quiet(f"{row.number:>{gutter}} |") + (f" {text}" if text else ""))
        caret = style.loud(caret_text.lstrip()) if main else style.quiet(caret_text.lstrip())
        indent = caret_text[: len(caret_text) - len(caret_text.lstrip())]
        is_last = position == len(rows) - 1
        tail = f" {_seen(label)}" if label and is_last else ""
        painted = style.loud(tail) if main else style.quiet(tail)
        lines.append(style.quiet(" " * gutter + " |") + f" {indent}{caret}{painted}")
    return lines


@dataclass(frozen=True)
class _Row:
    """One source line and the columns (from 0, in characters) that the span covers in it."""

    number: int
    text: str
    start: int
    end: int


def _rows(span: Span) -> list[_Row | None]:
    """The lines of the span; None stands for lines left out."""
    text = span.file.text
    start = min(span.start, len(text))
    end = max(start, min(span.end, len(text)))
    first_line, _ = Span(span.file, start, end).position()
    line_start = text.rfind("\n", 0, start) + 1
    rows: list[_Row | None] = []
    for number, content in enumerate(
        text[line_start : _line_end(text, end)].split("\n"), first_line
    ):
        covered_from, covered_to = start - line_start, min(end - line_start, len(content))
        rows.append(_row(number, content, covered_from, covered_to))
        line_start += len(content) + 1
    if len(rows) > _MAX_LINES:
        rows = [*rows[: _MAX_LINES - 2], None, rows[-1]]
    return rows


def _line_end(text: str, end: int) -> int:
    found = text.find("\n", max(end - 1, 0) if text[end - 1 : end] == "\n" else end)
    return len(text) if found < 0 else found


def _row(number: int, content: str, start: int, end: int) -> _Row:
    content = content.rstrip("\r")
    indent = len(content) - len(content.lstrip())
    start = indent if start < 0 else start
    return _Row(number, content, start, max(min(end, len(content.rstrip())), start))


def _drawn(row: _Row, mark: str) -> tuple[str, str]:
    """The line as shown (tabs and controls replaced, long lines cut) and the marks below it."""
    before = _expanded(row.text[: row.start], 0)
    inside = _expanded(row.text[row.start : row.end], _width(before))
    after = _expanded(row.text[row.end :], _width(before + inside))
    if _width(before) > _MAX_WIDTH:
        before = "..." + before[-20:]
    room = max(_MAX_WIDTH - _width(before), 20)
    if len(inside) > room:
        inside, after = inside[: room - 3] + "...", ""
    if len(after) > room:
        after = after[:room] + "..."
    marks = mark * max(_width(inside), 1)
    return (before + inside + after).rstrip(), " " * _width(before) + marks


def _expanded(text: str, column: int) -> str:
    """Tabs as spaces up to the next stop, control characters visible."""
    if text.isprintable():
        return text
    shown: list[str] = []
    for character in text:
        piece = character if character.isprintable() else _UNSEEN
        if character == "\t":
            piece = " " * (_TAB - column % _TAB)
        shown.append(piece)
        column += _width(piece)
    return "".join(shown)


def _width(text: str) -> int:
    """Columns that a terminal gives to text in which every character is seen."""
    if text.isascii():
        return len(text)
    return sum(_columns(character) for character in text)


def _columns(character: str) -> int:
    if unicodedata.category(character) in ("Mn", "Me"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1


# --- pieces ---------------------------------------------------------------------------------


def _gutter(spans: Iterable[Span | None]) -> int:
    """Columns for the line numbers of all places."""
    last = max((_last_line(span) for span in spans if span is not None), default=1)
    return len(str(last))


def _last_line(span: Span) -> int:
    return span.position()[0] + span.file.text.count("\n", span.start, span.end)


def _hanging(first: str, rest: str, text: str) -> list[str]:
    head, *tail = text.split("\n")
    return [first + _seen(head), *(rest + _seen(line) for line in tail)]


def _seen(text: str) -> str:
    """No control character of a rule file reaches the terminal."""
    return _expanded(text, 0)


def _span_json(span: Span | None) -> dict[str, object] | None:
    if span is None:
        return None
    line, column = span.position()
    end_line, end_column = Span(span.file, span.end, span.end).position()
    return {
        "file": span.file.name,
        "start": span.start,
        "end": span.end,
        "line": line,
        "column": column,
        "end_line": end_line,
        "end_column": end_column,
    }
