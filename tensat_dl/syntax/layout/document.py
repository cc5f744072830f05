"""Documents that know how they may be broken into lines, and the lines of a given width.

Enters: a :class:`Doc`.  Leaves: text.  Knows nothing of rule files.  The algebra is the one of
P. Wadler, "A prettier printer" (2003): a group stands on one line where it fits, and otherwise
breaks at each of its own lines.  A :class:`Fill` breaks only where the next item does not fit.  A
:class:`Remark` is a comment; it is never moved, and the text behind it starts a new line.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

INDENT = 2
WIDTH = 100


@dataclass(frozen=True)
class Doc:
    """`flat`: columns on one line, infinite where it cannot be one line.

    `head`: columns up to the first place where it can break; `breaks`: is there such a place?
    """

    flat: float = field(init=False, default=0)
    head: float = field(init=False, default=0)
    breaks: bool = field(init=False, default=False)

    def _measure(self, flat: float, head: float, breaks: bool) -> None:
        for name, value in (("flat", flat), ("head", head), ("breaks", breaks)):
            object.__setattr__(self, name, value)


@dataclass(frozen=True)
class Text(Doc):
    """Text without a line break."""

    text: str

    def __post_init__(self) -> None:
        self._measure(len(self.text), len(self.text), False)


@dataclass(frozen=True)
class Line(Doc):
    """A line break, or `flat_text` where its group stands on one line."""

    flat_text: str = " "

    def __post_init__(self) -> None:
        self._measure(len(self.flat_text), 0, True)


@dataclass(frozen=True)
class Hard(Doc):
    """A line break in any case; `blank` leaves an empty line."""

    blank: bool = False

    def __post_init__(self) -> None:
        self._measure(math.inf, 0, True)


@dataclass(frozen=True)
class Remark(Doc):
    """A comment, behind something or (`own`) on a line of its own.

    `blank` leaves an empty line between a comment of its own line and what follows.
    """

    text: str
    own: bool
    blank: bool = False

    def __post_init__(self) -> None:
        self._measure(math.inf, 0, True)


@dataclass(frozen=True)
class Cat(Doc):
    """One after the other."""

    parts: tuple[Doc, ...]

    def __post_init__(self) -> None:
        self._measure(sum(part.flat for part in self.parts), *_head(self.parts))


@dataclass(frozen=True)
class Nest(Doc):
    """Lines that start in it are moved in by one step."""

    inner: Doc

    def __post_init__(self) -> None:
        self._measure(self.inner.flat, self.inner.head, self.inner.breaks)


@dataclass(frozen=True)
class Group(Doc):
    """On one line where that fits."""

    inner: Doc

    def __post_init__(self) -> None:
        self._measure(self.inner.flat, self.inner.head, self.inner.breaks)


@dataclass(frozen=True)
class Fill(Doc):
    """Items with a line between two, broken only where the next does not fit."""

    items: tuple[Doc, ...]

    def __post_init__(self) -> None:
        flat = sum(item.flat for item in self.items) + max(len(self.items) - 1, 0)
        head, breaks = _head(self.items[:1])
        self._measure(flat, head, breaks or len(self.items) > 1)


def cat(parts: Iterable[Doc]) -> Doc:
    """One after the other, without a wrapper around a single one."""
    found = tuple(parts)
    return found[0] if len(found) == 1 else Cat(found)


def _head(parts: Sequence[Doc]) -> tuple[float, bool]:
    width = 0.0
    for part in parts:
        width += part.head
        if part.breaks:
            return width, True
    return width, False


def render(doc: Doc, width: int) -> str:
    """The document in lines of at most `width` columns, where they can be broken so."""
    page = _Page(width)
    todo: list[_Task] = [_Task(doc, 0, False, 0)]
    while todo:
        todo += reversed(page.place(todo.pop()))
    return "".join(page.out)


@dataclass(frozen=True)
class _Task:
    """A document to be placed; `after` columns follow it without a chance to break."""

    doc: Doc
    depth: int
    flat: bool
    after: float
    filled: bool = False  # a line between two items of a `Fill`: may be a space


class _Page:
    """What is written so far."""

    def __init__(self, width: int) -> None:
        self.width = width
        self.out: list[str] = []
        self.column = 0
        self.fresh = True  # nothing stands on this line yet
        self.owed: bool | None = None  # a break is due before the next text; True: a blank line

    def place(self, task: _Task) -> list[_Task]:
        """Write a piece, or take it apart: what is left of it, in order."""
        match task.doc:
            case Text(text=text):
                self._text(text, task.depth)
            case Line(flat_text=text):
                self._line(text, task)
            case Hard(blank=blank):
                self._break(task.depth, blank)
            case Remark():
                self._remark(task.doc, task.depth)
            case Cat(parts=parts):
                return _spread(parts, task)
            case Nest(inner=inner):
                return [_Task(inner, task.depth + 1, task.flat, task.after)]
            case Group(inner=inner):
                flat = task.flat or self._fits(task)
                return [_Task(inner, task.depth, flat, task.after)]
            case Fill(items=items):
                return self._fill(items, task)
            case _:
                raise AssertionError(task.doc)
        return []

    def _fits(self, task: _Task) -> bool:
        column = self.column if self.owed is None else task.depth * INDENT
        return column + task.doc.flat + task.after <= self.width

    def _text(self, text: str, depth: int) -> None:
        if not text:
            return
        if self.owed is not None:
            self._break(depth, self.owed)
        self.out.append(text)
        self.column += len(text)
        self.fresh = False

    def _line(self, text: str, task: _Task) -> None:
        """`task.after` of a line of a `Fill` is the width of the item that follows."""
        room = self.column + len(text) + task.after <= self.width
        if self.owed is None and (task.flat or (task.filled and room)):
            self._text(text, task.depth)
        else:
            self._break(task.depth, False)

    def _break(self, depth: int, blank: bool) -> None:
        blank = blank or bool(self.owed)
        self._trim()
        self.out.append("\n\n" if blank else "\n")
        self.out.append(" " * (depth * INDENT))
        self.column, self.fresh, self.owed = depth * INDENT, True, None

    def _trim(self) -> None:
        """No space stands at the end of a line, nor one too many in front of a comment."""
        if self.out:
            self.out[-1] = self.out[-1].rstrip(" ")

    def _remark(self, remark: Remark, depth: int) -> None:
        if self.owed is not None or (remark.own and not self.fresh):
            self._break(depth, False)
        elif not self.fresh:
            self._trim()
            self.out.append("  ")
        self.out.append(remark.text)
        self.fresh, self.owed = False, remark.blank

    def _fill(self, items: tuple[Doc, ...], task: _Task) -> list[_Task]:
        rest: list[_Task] = []
        for position, item in enumerate(items):
            last = position == len(items) - 1
            after = task.after if last else 0
            if position:
                tall = items[position - 1].flat > self.width - task.depth * INDENT
                room = math.inf if tall else item.flat + after
                rest.append(_Task(Line(), task.depth, task.flat, room, filled=True))
            rest.append(_Task(item, task.depth, task.flat, after))
        return rest


def _spread(parts: tuple[Doc, ...], task: _Task) -> list[_Task]:
    found: list[_Task] = []
    after = task.after
    for part in reversed(parts):
        found.append(_Task(part, task.depth, task.flat, after))
        after = part.head if part.breaks else part.head + after
    return found[::-1]
