"""Where a text stops to fit the grammar.

Knows tokens and the text around, never a tree, for there is none.
"""

from __future__ import annotations

from dataclasses import dataclass

from lark import Token

from tensat_dl.diagnostics import SourceFile, Span
from tensat_dl.syntax import wording
from tensat_dl.syntax.brackets import item_before


@dataclass(frozen=True)
class Place:
    """Where the text stops to fit: `kind` and `text` of the token, and the one before it.

    `accepted` holds the kinds of tokens that could stand there, `open` the brackets around.
    """

    file: SourceFile
    offset: int
    kind: str
    text: str
    previous: Token | None
    accepted: frozenset[str]
    open: tuple[Span, ...]

    @property
    def between_items(self) -> bool:
        """Was the previous item complete?"""
        return wording.between_items(self.accepted)

    @property
    def item(self) -> str:
        """The text of the item around, up to here."""
        return self.file.text[item_before(self.file.text, self.offset) : self.offset]

    @property
    def starts_line(self) -> bool:
        """Is it the first thing on its line?"""
        line = self.file.text.rfind("\n", 0, self.offset) + 1
        return not self.file.text[line : self.offset].strip()

    @property
    def bracket(self) -> str:
        """The innermost bracket that is open."""
        return self.file.text[self.open[-1].start] if self.open else ""

    def before(self, kind: str) -> bool:
        """Is the token before this one of that kind?"""
        return self.previous is not None and self.previous.type == kind
