"""Lays out expressions and types: one method for each rule of the grammar that has a node.

Enters: the children of each reduction, as pieces.  Leaves: a piece.
"""

from __future__ import annotations

from lark import Token

from tensat_dl.syntax.layout.document import Doc, Line, Text
from tensat_dl.syntax.layout.pieces import (
    SPACE,
    Piece,
    bracketed,
    filled,
    glued,
    grouped,
    joined,
    listed,
    nested,
    separated,
    spaced,
)
from tensat_dl.syntax.layout.remarks import Remarks

Child = Token | Piece
Children = list[Child]
Pieces = list[Piece]


class ExpressionLayout:
    """Holds the comments of the text being laid out; one text at a time."""

    def __init__(self) -> None:
        """Knows no comments until :meth:`begin`."""
        self.begin(Remarks(), 0)

    def begin(self, remarks: Remarks, end: int) -> None:
        """Set the comments of the next text, and its length."""
        self.remarks = remarks
        self.end = end

    def pieces(self, children: Children) -> Pieces:
        """Tokens as pieces, with their comments."""
        return [self._token(c) if isinstance(c, Token) else c for c in children]

    def _token(self, token: Token) -> Piece:
        start, end = int(token.start_pos or 0), int(token.end_pos or 0)
        before = self.remarks.before.get(start, ())
        behind = self.remarks.behind.get(end, ())
        spaced_before = start in self.remarks.spaced
        return Piece(token.type, Text(str(token)), before, behind, spaced_before)

    def _glued(self, children: Children) -> Piece:
        return glued("", self.pieces(children))

    # --- atoms ------------------------------------------------------------------------------

    name = variable = number = string = boolean = domain = _glued
    star = maybe = index = slice = attributes_of = _glued

    def comparator(self, children: Children) -> Piece:
        """`<`, `not in`."""
        return spaced("", self.pieces(children))

    def bound(self, children: Children) -> Piece:
        """One end of a slice."""
        return self._glued(children) if children else Piece("", Text(""))

    # --- brackets ---------------------------------------------------------------------------

    def list(self, children: Children) -> Piece:
        """`[a, *b]`."""
        return self.in_brackets(self.pieces(children))

    def parenthesised(self, children: Children) -> Piece:
        """`(a + b)`."""
        return self.in_brackets(self.pieces(children))

    def keyword(self, children: Children) -> Piece:
        """`axis=1`."""
        return glued("keyword", self.pieces(children))

    def splat(self, children: Children) -> Piece:
        """`**attrs`."""
        return glued("keyword", self.pieces(children))

    def call(self, children: Children) -> Piece:
        """`Op(x, axis=1, **attrs)`: inputs one a line where one line is too short for all."""
        return self.applied(self.pieces(children))

    def type(self, children: Children) -> Piece:
        """`T[*B, M]`."""
        return self.applied(self.pieces(children))

    def applied(self, parts: Pieces) -> Piece:
        """What stands before the first bracket, and what is in the brackets."""
        opening = next((i for i, p in enumerate(parts) if p.kind in ("LPAR", "LSQB")), len(parts))
        brackets = [self.in_brackets(parts[opening:])] if parts[opening:] else []
        return glued("", [*parts[:opening], *brackets])

    def in_brackets(self, parts: Pieces) -> Piece:
        """A list between the first and the last piece, which are brackets."""
        items = listed(parts[1:-1])
        inputs = [item for item in items if item.kind != "keyword"]
        if len(inputs) == len(items) and parts[0].kind != "LPAR":
            inner = filled(items) if items else None
        else:
            rows = [*inputs, *([filled(items[len(inputs) :])] if items[len(inputs) :] else [])]
            inner = grouped(joined("", separated(rows, Line()))) if rows else None
        return bracketed(parts[0], inner, parts[-1])

    # --- operators --------------------------------------------------------------------------

    def unary(self, children: Children) -> Piece:
        """`-x`, `not c`."""
        operator, operand = self.pieces(children)
        join = spaced if operator.kind == "NOT" else glued
        return join("", [operator, operand])

    def binary(self, children: Children) -> Piece:
        """`a * b`; a line that does not fit is broken before the operator."""
        return self.compare(children)

    def compare(self, children: Children) -> Piece:
        """`0 <= a < b`."""
        first, *rest = self.pieces(children)
        parts: list[Piece | Doc] = [first]
        for operator, operand in zip(rest[::2], rest[1::2], strict=True):
            parts.append(nested([Line(), operator, SPACE, operand]))
        return grouped(joined("", parts))

    def if_expr(self, children: Children) -> Piece:
        """`if c then a else b`."""
        parts = self.pieces(children)
        clauses = [spaced("", parts[i : i + 2]) for i in (0, 2, 4)]
        return grouped(joined("", [clauses[0], Line(), clauses[1], Line(), clauses[2]]))

    def ascribed(self, children: Children) -> Piece:
        """`x: f32[M]`."""
        return self.typed(self.pieces(children))

    def typed(self, parts: Pieces) -> Piece:
        """`x: T`, and what may stand behind, with spaces."""
        colon = next(i for i, p in enumerate(parts) if p.kind == "COLON") + 1
        return spaced("", [glued("", parts[:colon]), *parts[colon:]])
