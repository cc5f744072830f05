"""The canonical layout of a rule file.

Enters: a :class:`SourceFile`.  Leaves: its text with white space, line breaks and the commas and
bars that nothing follows chosen anew; every other character, comments included, is the author's.
A text with syntax errors yields None and their diagnostics.
"""

from __future__ import annotations

import threading
from functools import cache

from lark import Lark

from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.syntax.comments import pieces
from tensat_dl.syntax.grammar import Watch, make_parser
from tensat_dl.syntax.layout.document import WIDTH, render
from tensat_dl.syntax.layout.files import FileLayout
from tensat_dl.syntax.layout.pieces import Piece
from tensat_dl.syntax.layout.remarks import read_remarks
from tensat_dl.syntax.parse import parse

_LOCK = threading.Lock()  # the builder holds the text it works on


def format_source(source: SourceFile, diagnostics: Diagnostics) -> str | None:
    """The file in canonical layout, or None when it has syntax errors (E01xx)."""
    if parse(source, diagnostics) is None:
        return None
    laid_out = lay_out(source.text)
    if _content(laid_out) != _content(source.text):
        raise RuntimeError(f"the layout of {source.name} would change more than white space")
    return laid_out


def lay_out(text: str) -> str:
    """A text without syntax errors in canonical layout, ending in one line break."""
    with _LOCK:
        layout, parser = _parser()
        layout.begin(read_remarks(text), len(text))
        piece = parser.parse(text)
    assert isinstance(piece, Piece)
    laid_out = render(piece.doc, WIDTH).strip("\n")
    return laid_out + "\n" if laid_out else ""


def _content(text: str) -> tuple[str, list[str]]:
    """What layout keeps: the code without white space, commas and bars, and the comments."""
    found = [piece.group() for piece in pieces(text)]
    comments = [piece.rstrip() for piece in found if piece.startswith("#")]
    code = "".join(piece for piece in found if not piece.startswith("#"))
    return code.replace(",", "").replace("|", ""), comments


@cache
def _parser() -> tuple[FileLayout, Lark]:
    layout = FileLayout()
    return layout, make_parser(layout, Watch())
