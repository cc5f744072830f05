"""Reductions of tests, imports and the whole file.

Enters: the children of each reduction.  Leaves: the :class:`ast.Module`.
"""

from __future__ import annotations

from typing import Any

from tensat_dl.diagnostics import Span
from tensat_dl.syntax import ast
from tensat_dl.syntax.blocks import BlockBuilder
from tensat_dl.syntax.expressions import Children, Part, without_tokens
from tensat_dl.syntax.items import has_token, of_kind, values_of
from tensat_dl.syntax.literals import string_value

LANGUAGE = 1
"""The version of the language; a file that names none is read as version 1."""


class Builder(BlockBuilder):
    """The complete set of reductions."""

    # --- tests ------------------------------------------------------------------------------

    def test(self, children: Children) -> ast.Test:
        """`test "title" using fusion { .. }`."""
        title = string_value(str(children[1]), self.span([children[1]]), self.diagnostics)
        body = _test_lines(children)
        using = values_of(children, "using")
        return ast.Test(title, using, body, self.span(children), self.doc(children))

    def using(self, children: Children) -> Part:
        """`using fusion, cleanup`."""
        return Part("using", of_kind(children, ast.Name), self.span(children))

    def test_input(self, children: Children) -> ast.TestInput:
        """`input x: f32[8]`."""
        values = values_of(children, "typed_name")
        return ast.TestInput(str(children[0]), values, self.span(children))

    def typed_name(self, children: Children) -> Part:
        """`x: f32[8]`."""
        pair = (self.definition(children[0]), children[2])
        return Part("typed_name", (pair,), self.span(children))

    def test_given(self, children: Children) -> ast.TestGiven:
        """`given q = MatMul(x, wq)`."""
        return ast.TestGiven(children[1], self.span(children))

    def expect_fires(self, children: Children) -> ast.TestExpect:
        """`expect not fires merge`."""
        names = of_kind(children, ast.Name)
        negated = has_token(children, "NOT")
        return self._claim(children, ast.ExpectKind.FIRES, names=names, negated=negated)

    def expect_best(self, children: Children) -> ast.TestExpect:
        """`expect best under nodes y = Relu(x)`."""
        under = next(iter(of_kind(children, ast.Name)), None)
        return self._claim(children, ast.ExpectKind.BEST, under=under, statement=children[-1])

    def expect_error(self, children: Children) -> ast.TestExpect:
        """`expect error E0402`."""
        names = (self.word(children[2]),)
        return self._claim(children, ast.ExpectKind.ERROR, names=names)

    def expect_equal(self, children: Children) -> ast.TestExpect:
        """`expect a == b`, `expect not a == b`."""
        claim = children[1]
        negated = isinstance(claim, ast.Unary) and claim.operator == "not"
        compared = claim.operand if negated else claim
        terms: tuple[ast.Expr, ...] = ()
        if isinstance(compared, ast.Compare) and [op for op, _ in compared.rest] == ["=="]:
            terms = (compared.first, compared.rest[0][1])
        else:
            self.diagnostics.error(
                "E0114",
                "a test expects `fires`, `best`, `error`, or that two terms are equal",
                claim.span,
                help="write `expect a == b`, `expect fires rule`, `expect best y = ..` or "
                "`expect error E0402`",
            )
        return self._claim(children, ast.ExpectKind.EQUAL, terms=terms, negated=negated)

    def _claim(self, children: Children, kind: ast.ExpectKind, **given: Any) -> ast.TestExpect:
        empty = {"names": (), "under": None, "statement": None, "terms": (), "negated": False}
        return ast.TestExpect(kind=kind, **{**empty, **given}, span=self.span(children))

    # --- the file ---------------------------------------------------------------------------

    def language(self, children: Children) -> Part:
        """`language 1`."""
        number = self.number(children[1:])
        span = self.span(children)
        if number.value != LANGUAGE:
            self.diagnostics.error(
                "E0108",
                f"this program reads language {LANGUAGE}, not {children[1]}",
                number.span,
                help=f"write `language {LANGUAGE}`, or install a newer tensat-dl",
            )
        return Part("language", (), span)

    def import_(self, children: Children) -> ast.Import:
        """`import "path" as alias`, `import "path" { a, b }`."""
        path = string_value(str(children[1]), self.span([children[1]]), self.diagnostics)
        names, span = of_kind(children, ast.Name), self.span(children)
        if has_token(children, "AS"):
            return ast.Import(path, self.definition(names[0]), (), span)
        if not names:
            self.diagnostics.error(
                "E0109",
                "this import says neither a name for the file nor what to take from it",
                span,
                help=f"write `import {children[1]} as name` or `import {children[1]} {{ a, b }}`",
            )
        return ast.Import(path, None, names, span)

    def start(self, children: Children) -> ast.Module:
        """The whole file."""
        entries = without_tokens(children)
        self._check_head(entries)
        return ast.Module(
            doc=self.documentation.module,
            language=LANGUAGE,
            imports=of_kind(children, ast.Import),
            items=tuple(e for e in entries if not isinstance(e, Part | ast.Import)),
            span=Span(self.file, 0, len(self.file.text)),
        )

    def _check_head(self, entries: tuple[Any, ...]) -> None:
        """`language` first, then the imports, then everything else."""
        for position, entry in enumerate(entries):
            if isinstance(entry, Part) and position > 0:
                message = "`language` stands once, before everything else"
                self.diagnostics.error("E0108", message, entry.span)
            if isinstance(entry, ast.Import) and _is_item(entries[position - 1 : position]):
                self.diagnostics.error(
                    "E0109",
                    "an import stands before the first item",
                    entry.span,
                    help="move it to the top of the file, after `language`",
                )


def _is_item(entries: tuple[Any, ...]) -> bool:
    return any(not isinstance(e, Part | ast.Import) for e in entries)


def _test_lines(
    children: Children,
) -> tuple[ast.TestInput | ast.TestGiven | ast.TestExpect, ...]:
    kinds = ast.TestInput | ast.TestGiven | ast.TestExpect
    return tuple(c for c in children if isinstance(c, kinds))
