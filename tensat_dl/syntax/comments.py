"""Documentation comments of a rule file: `#!` for the file, `##` for the next item.

Enters: the text.  Leaves: :class:`Documentation`, from which the builder takes each item's text
by the offset at which the item starts.  The grammar ignores comments, hence this second, cheap
scan; it knows nothing of the grammar beyond strings and comments.  A line of three or more `#` is
a ruler, not documentation.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from tensat_dl.diagnostics import Diagnostics, SourceFile, Span

# A string, a comment, or a stretch of other text without white space.
_PIECE = re.compile(r'"(?:[^"\\\n]|\\.)*"?|#[^\n]*|[^\s#"]+')


@dataclass
class _Comment:
    """A run of `##` lines before one place."""

    lines: list[str]
    span: Span


@dataclass
class Documentation:
    """Comments that document something, by the offset of what follows them."""

    module: str = ""
    _items: dict[int, _Comment] = field(default_factory=dict)
    _stray: list[Span] = field(default_factory=list)
    _late: list[Span] = field(default_factory=list)

    def take(self, *offsets: int) -> str:
        """The text documenting what starts at one of `offsets`; each is taken once."""
        found = [self._items.pop(offset) for offset in offsets if offset in self._items]
        return "\n".join(line for comment in found for line in comment.lines).strip("\n")

    def report(self, diagnostics: Diagnostics) -> None:
        """Complain of every comment that documents nothing."""
        for span in self._stray + [comment.span for comment in self._items.values()]:
            diagnostics.error(
                "E0107",
                "this `##` comment documents nothing",
                span,
                label="no item starts after it",
                help="write `#` for a remark; `##` stands on a line of its own before a rule, "
                "ruleset or another item",
            )
        for span in self._late:
            diagnostics.error(
                "E0107",
                "a `#!` comment documents the file and stands at its top",
                span,
                label="comes after the first item",
                help="move it to the top of the file, or write `#` for a remark",
            )


def read_documentation(file: SourceFile) -> Documentation:
    """Collect the documentation comments of a file."""
    documentation = Documentation()
    module: list[str] = []
    pending: _Comment | None = None
    code_seen = False
    line_of_code = -1  # end of the last piece of code, to tell `code ## remark`
    for piece in pieces(file.text):
        text, span = piece.group(), Span(file, piece.start(), piece.end())
        if not text.startswith("#"):
            if pending is not None:
                documentation._items[span.start] = pending
            pending, code_seen, line_of_code = None, True, span.end
        elif text.startswith("#!"):
            (documentation._late if code_seen else []).append(span)
            module.append(_content(text))
        elif is_documentation(text):
            trailing = code_seen and "\n" not in file.text[line_of_code : span.start]
            if trailing:
                documentation._stray.append(span)
            else:
                pending = _extended(pending, text, span)
    if pending is not None:
        documentation._stray.append(pending.span)
    documentation.module = "\n".join(module).strip("\n")
    return documentation


def pieces(text: str) -> Iterator[re.Match[str]]:
    """Strings, comments, and stretches of other text without white space, in order."""
    return _PIECE.finditer(text)


def is_documentation(comment: str) -> bool:
    """Does it document the item that follows?  A ruler of three or more `#` does not."""
    return comment.startswith("##") and not comment.startswith("###")


def _content(comment: str) -> str:
    return comment[2:].removeprefix(" ").rstrip()


def _extended(comment: _Comment | None, text: str, span: Span) -> _Comment:
    if comment is None:
        return _Comment([_content(text)], span)
    comment.lines.append(_content(text))
    comment.span = Span(span.file, comment.span.start, span.end)
    return comment
