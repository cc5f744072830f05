"""Lays out rules and declarations: one method for each rule of the grammar that has a node.

Enters: the children of each reduction, as pieces.  Leaves: a piece.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from tensat_dl.syntax.comments import is_documentation
from tensat_dl.syntax.layout.document import INDENT, WIDTH, Hard, Line
from tensat_dl.syntax.layout.expressions import Children, ExpressionLayout, Pieces
from tensat_dl.syntax.layout.pieces import (
    SPACE,
    Piece,
    block,
    filled,
    glued,
    grouped,
    joined,
    listed,
    nested,
    separated,
    spaced,
)


class ItemLayout(ExpressionLayout):
    """Adds rules and declarations."""

    def _spaced(self, children: Children) -> Piece:
        return spaced("", self.pieces(children))

    for_class = _spaced

    # --- what several items have ------------------------------------------------------------

    def braced(self, kind: str, parts: Pieces, *, flat: bool) -> Piece:
        """A head, a block that may (`flat`) stand on one line, and a tail."""
        opening = next(i for i, p in enumerate(parts) if p.kind == "LBRACE")
        closing = max(i for i, p in enumerate(parts) if p.kind == "RBRACE")
        entries = parts[opening + 1 : closing]
        body = block(parts[opening], entries, parts[closing], flat=flat)
        return spaced(kind, [*parts[:opening], body, *parts[closing + 1 :]])

    def small_block(self, kind: str, parts: Pieces) -> Piece:
        """One entry stands on the line of its braces, several on lines of their own."""
        opening = next(i for i, p in enumerate(parts) if p.kind == "LBRACE")
        closing = next(i for i, p in enumerate(parts) if p.kind == "RBRACE")
        return self.braced(kind, parts, flat=closing - opening == 2)

    def annotated(self, kind: str, parts: Pieces, body: Piece) -> Piece:
        """Annotations on a line of their own, in front."""
        annotations = [part for part in parts if part.kind == "annotation"]
        if not annotations:
            return body
        return joined(kind, [filled(annotations), Hard(), body])

    def names(self, word: Sequence[Piece], parts: Pieces) -> Piece:
        """`include a, b`."""
        return joined("", [spaced("", word), SPACE, nested([filled(listed(parts))])])

    # --- rules ------------------------------------------------------------------------------

    def annotation(self, children: Children) -> Piece:
        """`@rounds(2)`."""
        sign, *rest = self.pieces(children)
        return glued("annotation", [sign, self.applied(rest)])

    def where(self, children: Children) -> Piece:
        """`where a, b`, or one condition on each line."""
        word, *conditions = self.pieces(children)
        inner = nested(separated(listed(conditions), Line()))
        return joined("where", [word, SPACE, grouped(inner)])

    def let(self, children: Children) -> Piece:
        """`let k = dim(x, 1)`."""
        return spaced("let", self.pieces(children))

    def rewrite(self, children: Children) -> Piece:
        """`rewrite name: left => right where ... let ...`."""
        parts = self.pieces(children)
        plain = [part for part in parts if part.kind != "annotation"]
        colon = next(i for i, p in enumerate(plain) if p.kind == "COLON")
        title = glued("", [spaced("", plain[:colon]), plain[colon]])
        left, arrow, right, *clauses = plain[colon + 1 :]
        sides = grouped(joined("", [left, nested([Line(), arrow, SPACE, right])]))
        body = grouped(joined("", [title, nested([Line(), sides])]))
        behind = [nested([Hard(), clause]) for clause in clauses]
        return self.annotated("rewrite", parts, joined("rewrite", [body, *behind]))

    def rule(self, children: Children) -> Piece:
        """`rule name { match {..} where .. emit {..} }`."""
        parts = self.pieces(children)
        plain = [part for part in parts if part.kind != "annotation"]
        return self.annotated("rule", parts, self.braced("rule", plain, flat=False))

    def match(self, children: Children) -> Piece:
        """`match each (..) by (..) { .. }`."""
        return self.small_block("", self.pieces(children))

    def emit(self, children: Children) -> Piece:
        """`emit { .. }`."""
        return self.small_block("", self.pieces(children))

    def each(self, children: Children) -> Piece:
        """`each (y, w) by (x)`."""
        parts = self.pieces(children)
        by = next(i for i, p in enumerate(parts) if p.kind == "BY")
        members, key = self.in_brackets(parts[1:by]), self.in_brackets(parts[by + 1 :])
        return spaced("", [parts[0], members, parts[by], key])

    def statement(self, children: Children) -> Piece:
        """`y1, y2 = Split(..)`."""
        *targets, equal, value = self.pieces(children)
        return spaced("", [*listed(targets), equal, value])

    condition_statement = statement

    def starred_statement(self, children: Children) -> Piece:
        """`*y = Split(..)`."""
        star, target, equal, value = self.pieces(children)
        return spaced("", [glued("", [star, target]), equal, value])

    def ruleset(self, children: Children) -> Piece:
        """`ruleset name { include ..  rewrite .. }`."""
        parts = self.pieces(children)
        plain = [part for part in parts if part.kind != "annotation"]
        opening = next(i for i, p in enumerate(plain) if p.kind == "LBRACE")
        members = apart(plain[opening + 1 : -1], depth=1)
        only_include = [member.kind for member in members] == ["include"]
        whole = [*plain[: opening + 1], *members, plain[-1]]
        return self.annotated("ruleset", parts, self.braced("ruleset", whole, flat=only_include))

    def include(self, children: Children) -> Piece:
        """`include a, b`."""
        word, *names = self.pieces(children)
        return replace(self.names([word], names), kind="include")

    # --- declarations -----------------------------------------------------------------------

    def class_(self, children: Children) -> Piece:
        """`class Pointwise = Relu | Tanh`."""
        parts = self.pieces(children)
        head, members = spaced("", parts[:3]), parts[3:]
        if members[0].kind == "BAR":
            moved = (*members[0].before, *members[0].behind, *members[1].before)
            members = [replace(members[1], before=moved), *members[2:]]
        body = nested([Line(), filled(listed(members, "BAR", " "))])
        return replace(grouped(joined("", [head, body])), kind="class")

    def parameter(self, children: Children) -> Piece:
        """`x: Tensor?`, `*xs: Tensor`, `k: int = 1`."""
        parts = self.pieces(children)
        if any(part.kind == "QUESTION" for part in parts):
            mark = next(i for i, p in enumerate(parts) if p.kind == "QUESTION")
            parts[mark - 1 : mark + 1] = [glued("", parts[mark - 1 : mark + 1])]
        return self.typed(parts)

    def relation(self, children: Children) -> Piece:
        """`relation rowwise(y: Tensor, x: Tensor)`."""
        word, *rest = self.pieces(children)
        return spaced("relation", [word, self.applied(rest)])

    def derive(self, children: Children) -> Piece:
        """`derive rowwise(y, x) if y = Relu(x), ..`."""
        parts = self.pieces(children)
        body = nested([Line(), *separated(listed(parts[3:]), Line())])
        return replace(grouped(joined("", [spaced("", parts[:3]), body])), kind="derive")

    def function(self, children: Children) -> Piece:
        """`fn half(k: int) -> int = k // 2`."""
        parts = self.pieces(children)
        arrow = next(i for i, p in enumerate(parts) if p.kind == "YIELDS")
        head = spaced("", [parts[0], self.applied(parts[1:arrow]), *parts[arrow:-1]])
        body = nested([Line(), parts[-1]])
        return replace(grouped(joined("", [head, body])), kind="fn")


def apart(members: Pieces, depth: int) -> Pieces:
    """Items of a file or a ruleset, each told whether an empty line stands in front of it.

    Between two items of one line each it stands where the author left one, else always.
    """
    found: Pieces = []
    for member in members:
        free = found and _is_short(found[-1], depth) and _is_short(member, depth)
        forced = not free or any(is_documentation(remark.text) for remark in member.before)
        found.append(replace(member, spaced=member.spaced or forced))
    return found


def _is_short(member: Piece, depth: int) -> bool:
    return member.doc.flat + INDENT * depth <= WIDTH
