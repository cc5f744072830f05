"""Brackets and item starts in raw text: what error messages and recovery need of its shape.

Enters: a range of the text.  Leaves: the brackets open at its end, and where items start.  Knows
strings and comments, nothing else of the grammar, so that it works on text that does not parse.
"""

from __future__ import annotations

import re

from tensat_dl.diagnostics import SourceFile, Span

CLOSING = {"(": ")", "[": "]", "{": "}"}

_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"?|#[^\n]*|[()\[\]{}]')

_ITEM = re.compile(
    r"^[ \t]*(?=(?:@[A-Za-z]|(?:rewrite|rule|ruleset|class|relation|derive|fn|op|schedule|test"
    r"|import)(?![A-Za-z0-9_.])|(?:cost\s+model|default\s+cost)(?![A-Za-z0-9_.])))",
    re.MULTILINE,
)


def open_brackets(file: SourceFile, start: int, end: int) -> list[Span]:
    """The brackets opened in `[start, end)` and not closed there, outermost first.

    A closing bracket closes the nearest one of its kind; what stood open inside is given up.
    """
    stack: list[Span] = []
    for piece in _PIECE.finditer(file.text, start, end):
        text = piece.group()
        if text in CLOSING:
            stack.append(Span(file, piece.start(), piece.end()))
        elif text in CLOSING.values():
            _close(stack, text)
    return stack


def _close(stack: list[Span], closing: str) -> None:
    for depth in range(len(stack) - 1, -1, -1):
        bracket = stack[depth]
        if CLOSING[bracket.file.text[bracket.start]] == closing:
            del stack[depth:]
            return


def next_item(text: str, offset: int) -> int | None:
    """Where the next item starts: a word that only starts items, first on its line.

    `offset` may be that very place.
    """
    line = text.rfind("\n", 0, offset) + 1
    for found in _ITEM.finditer(text, line):
        if found.end() >= offset:
            return found.end()
    return None


def item_before(text: str, offset: int) -> int:
    """Where the item starts that stands at `offset`: at 0 where none does."""
    start = 0
    for found in _ITEM.finditer(text, 0, offset):
        start = found.end()
    return start
