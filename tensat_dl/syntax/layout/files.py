"""Lays out operators, schedules, cost models, tests, and the whole file.

Enters: the children of each reduction, as pieces.  Leaves: a piece.
"""

from __future__ import annotations

from tensat_dl.syntax.layout.document import Doc, Hard, cat
from tensat_dl.syntax.layout.expressions import Children
from tensat_dl.syntax.layout.items import ItemLayout, apart
from tensat_dl.syntax.layout.pieces import Piece, block, filled, listed, spaced, without_gap


class FileLayout(ItemLayout):
    """The complete set of reductions."""

    # --- operators --------------------------------------------------------------------------

    def operator(self, children: Children) -> Piece:
        """`op domain::Name(..) -> y: Tensor { .. }`."""
        word, *parts = self.pieces(children)
        arrow = next(i for i, p in enumerate(parts) if p.kind == "YIELDS")
        opening = next(i for i, p in enumerate(parts) if p.kind == "LBRACE")
        outputs = listed(parts[arrow + 1 : opening])
        head = [word, self.applied(parts[:arrow]), parts[arrow], *outputs]
        return self.small_block("op", [*head, *parts[opening:]])

    def infer(self, children: Children) -> Piece:
        """`infer y = like(x)`, or several in braces."""
        parts = self.pieces(children)
        return self.small_block("", parts) if parts[1].kind == "LBRACE" else spaced("", parts)

    lower = infer

    def typed_output(self, children: Children) -> Piece:
        """`y: f32[M]`."""
        return self.typed(self.pieces(children))

    since = cost = ItemLayout._spaced

    # --- schedules and cost models ----------------------------------------------------------

    def schedule(self, children: Children) -> Piece:
        """`schedule main { .. }`."""
        return self.braced("schedule", self.pieces(children), flat=False)

    def run(self, children: Children) -> Piece:
        """`run name`."""
        return spaced("run", self.pieces(children))

    prune = ItemLayout._spaced

    def saturate(self, children: Children) -> Piece:
        """`saturate { .. } limit(..)`; nothing but `run`s stand on one line."""
        parts = self.pieces(children)
        if all(part.kind != "LBRACE" for part in parts):
            return spaced("", parts)
        closing = max(i for i, p in enumerate(parts) if p.kind == "RBRACE")
        steps = [part.kind for part in parts[:closing] if part.kind not in _AROUND_STEPS]
        return self.braced("", parts, flat=set(steps) <= {"run"})

    repeat = saturate

    def limit(self, children: Children) -> Piece:
        """`limit(iters=10)`."""
        return self.applied(self.pieces(children))

    def cost_model(self, children: Children) -> Piece:
        """`cost model name { .. }`."""
        return self.small_block("cost", self.pieces(children))

    cost_row = default_cost = ItemLayout._spaced

    # --- tests ------------------------------------------------------------------------------

    def test(self, children: Children) -> Piece:
        """`test "title" using fusion { .. }`."""
        return self.braced("test", self.pieces(children), flat=False)

    def using(self, children: Children) -> Piece:
        """`using fusion, cleanup`."""
        word, *names = self.pieces(children)
        return self.names([word], names)

    def test_input(self, children: Children) -> Piece:
        """`input x: f32[8]`."""
        return self.using(children)

    def typed_name(self, children: Children) -> Piece:
        """`x: f32[8]`."""
        return self.typed(self.pieces(children))

    def expect_fires(self, children: Children) -> Piece:
        """`expect not fires a, b`."""
        parts = self.pieces(children)
        fires = next(i for i, p in enumerate(parts) if p.kind == "FIRES") + 1
        return self.names(parts[:fires], parts[fires:])

    test_given = expect_best = expect_error = expect_equal = ItemLayout._spaced

    # --- the file ---------------------------------------------------------------------------

    def language(self, children: Children) -> Piece:
        """`language 1`."""
        return spaced("language", self.pieces(children))

    def import_(self, children: Children) -> Piece:
        """`import "path" as alias`, `import "path" { a, b }`."""
        parts = self.pieces(children)
        if all(part.kind != "LBRACE" for part in parts):
            return spaced("import", parts)
        word, path, opening, *names, closing = parts
        body = block(opening, [filled(listed(names))], closing, flat=True)
        return spaced("import", [word, path, body])

    def start(self, children: Children) -> Piece:
        """The whole file."""
        entries = apart(self.pieces(children), depth=0)
        rows: list[Doc] = []
        for position, entry in enumerate(entries):
            rows += [Hard(entry.spaced)] if position else []
            rows.append(entry.whole())
        end = without_gap(self.remarks.before.get(self.end, ()))
        if end:
            rows += [Hard(self.end in self.remarks.spaced)] if rows else []
            rows += end
        return Piece("", cat(rows))


_AROUND_STEPS = ("SATURATE", "REPEAT", "NUMBER", "LBRACE")
