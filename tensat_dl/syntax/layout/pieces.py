"""Pieces of a laid-out text: a document with the comments at its two ends.

The comments at the ends stay outside of the groups made of a piece, so that a comment behind a
call does not break the call.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from tensat_dl.syntax.layout.document import (
    Cat,
    Doc,
    Fill,
    Group,
    Hard,
    Line,
    Nest,
    Remark,
    Text,
    cat,
)

SPACE = Text(" ")
SOFT = Line("")


@dataclass(frozen=True)
class Piece:
    """`kind`: the rule of the grammar or the type of the token.

    `spaced`: the author left an empty line in front.
    """

    kind: str
    doc: Doc
    before: tuple[Remark, ...] = ()
    behind: tuple[Remark, ...] = ()
    spaced: bool = False

    def whole(self) -> Doc:
        """The document with its comments."""
        return cat((*self.before, self.doc, *self.behind))

    def with_doc(self, doc: Doc) -> Piece:
        """The same comments around another document."""
        return replace(self, doc=doc)


def joined(kind: str, parts: Iterable[Piece | Doc]) -> Piece:
    """One after the other; the comments at the ends stay outside where pieces are at the ends."""
    found = list(parts)
    last = len(found) - 1
    docs: list[Doc] = []
    for position, part in enumerate(found):
        if isinstance(part, Piece):
            docs += [*(part.before if position else ()), part.doc]
            docs += part.behind if position < last else ()
        else:
            docs.append(part)
    ends = Piece(kind, cat(docs))
    if isinstance(found[0], Piece):
        ends = replace(ends, before=found[0].before, spaced=found[0].spaced)
    if isinstance(found[-1], Piece):
        ends = replace(ends, behind=found[-1].behind)
    return ends


def glued(kind: str, parts: Iterable[Piece]) -> Piece:
    """Without space."""
    return joined(kind, parts)


def spaced(kind: str, parts: Iterable[Piece]) -> Piece:
    """With a space between two."""
    return joined(kind, separated(parts, SPACE))


def separated(parts: Iterable[Piece], separator: Doc) -> list[Piece | Doc]:
    """The pieces with a separator between two."""
    found: list[Piece | Doc] = []
    for part in parts:
        found += [separator, part] if found else [part]
    return found


def grouped(piece: Piece) -> Piece:
    """On one line where that fits; the comments at its ends do not count."""
    return piece.with_doc(Group(piece.doc))


def nested(parts: Iterable[Piece | Doc]) -> Piece:
    """One after the other; lines that start in them are moved in."""
    piece = joined("", parts)
    return piece.with_doc(Nest(piece.doc))


def filled(items: Sequence[Piece]) -> Piece:
    """As many on a line as fit."""
    last = len(items) - 1
    docs = tuple(
        cat(
            (
                *(item.before if position else ()),
                item.doc,
                *(item.behind if position < last else ()),
            )
        )
        for position, item in enumerate(items)
    )
    return Piece("", Fill(docs), items[0].before, items[-1].behind, items[0].spaced)


def listed(parts: Sequence[Piece], separator: str = "COMMA", gap: str = "") -> list[Piece]:
    """Items, each with the separator behind it; one that nothing follows is dropped."""
    items: list[Piece] = []
    for position, part in enumerate(parts):
        if part.kind != separator:
            items.append(part)
        elif position == len(parts) - 1:
            dropped = (*items[-1].behind, *part.before, *part.behind)
            items[-1] = replace(items[-1], behind=dropped)
        else:
            items[-1] = joined(items[-1].kind, [items[-1], Text(gap), part])
    return items


def bracketed(opening: Piece, inner: Piece | None, closing: Piece) -> Piece:
    """A list in brackets, on one line or with the brackets around its lines."""
    if inner is None and not opening.behind and not closing.before:
        return glued("", [opening, closing])
    inside = [inner.whole()] if inner else []
    body = Nest(cat((SOFT, *inside, *without_gap(closing.before))))
    doc = Group(Cat((opening.doc, *opening.behind, body, SOFT, closing.doc)))
    return Piece("", doc, opening.before, closing.behind, opening.spaced)


def block(opening: Piece, entries: Sequence[Piece], closing: Piece, *, flat: bool) -> Piece:
    """Entries in braces, one on each line, or (`flat`) all on the line of the braces."""
    if not entries and not opening.behind and not closing.before:
        return glued("", [opening, closing])
    between: Doc = Line() if flat else Hard()
    inner: list[Doc] = []
    for position, entry in enumerate(entries):
        inner.append(Hard(True) if position and entry.spaced and not flat else between)
        inner.append(entry.whole())
    if closing.before:
        inner += [Hard(bool(entries) and closing.spaced), *without_gap(closing.before)]
    lines = (*opening.behind, Nest(cat(inner)), between)
    doc = Group(Cat((opening.doc, *lines, closing.doc)))
    return Piece("", doc, opening.before, closing.behind, opening.spaced)


def without_gap(remarks: tuple[Remark, ...]) -> tuple[Remark, ...]:
    """Comments in front of a closing bracket, without an empty line behind the last."""
    return (*remarks[:-1], replace(remarks[-1], blank=False)) if remarks else ()
