"""Reductions of the grammar's expressions and types to syntax tree nodes.

Enters: the children of each reduction, tokens included.  Leaves: `ast` expressions with exact
spans.  The methods bear the names of the grammar's rules; Lark calls them as it parses, so that
no tree has to be walked and depth costs no recursion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from lark import Token

from tensat_dl.diagnostics import Diagnostics, SourceFile, Span
from tensat_dl.syntax import ast
from tensat_dl.syntax.comments import Documentation
from tensat_dl.syntax.literals import number_value, string_value

Children = list[Any]


@dataclass(frozen=True)
class Part:
    """Something that is no node of the tree: a clause, a bound, a list in brackets."""

    kind: str
    values: tuple[Any, ...]
    span: Span


@dataclass(frozen=True)
class Splat:
    """`**attrs` in a call."""

    name: ast.Name
    span: Span


class ExpressionBuilder:
    """Holds the file being parsed; one parse at a time."""

    def __init__(self) -> None:
        """Belongs to no file until :meth:`begin`."""
        self.begin(SourceFile("", ""), Diagnostics(), Documentation())

    def begin(
        self, file: SourceFile, diagnostics: Diagnostics, documentation: Documentation
    ) -> None:
        """Set what the next reductions belong to."""
        self.file = file
        self.diagnostics = diagnostics
        self.documentation = documentation

    # --- spans and pieces -------------------------------------------------------------------

    def span(self, children: Children) -> Span:
        """From the first child to the last."""
        return Span(self.file, start_of(children[0]), end_of(children[-1]))

    def word(self, token: Token) -> ast.Name:
        """A token as a name."""
        return ast.Name(str(token), self.span([token]))

    def definition(self, name: ast.Name) -> ast.Name:
        """A name where it is introduced: it has no dots."""
        if "." in name.text:
            self.diagnostics.error(
                "E0115",
                f"a name that is introduced here has no dot: `{name.text}`",
                name.span,
                label="dots lead into an imported file",
                help=f"write `{name.text.replace('.', '_')}`",
            )
        return name

    def name(self, children: Children) -> ast.Name:
        """`x`."""
        return self.word(children[0])

    # --- atoms ------------------------------------------------------------------------------

    def variable(self, children: Children) -> ast.Expr:
        """`x`, or `_`."""
        name = self.word(children[0])
        return ast.Wildcard(name.span) if name.text == "_" else name

    def number(self, children: Children) -> ast.Number:
        """`1e-5`."""
        span = self.span(children)
        return ast.Number(number_value(str(children[0]), span, self.diagnostics), span)

    def string(self, children: Children) -> ast.String:
        """`"valid"`."""
        span = self.span(children)
        return ast.String(string_value(str(children[0]), span, self.diagnostics), span)

    def boolean(self, children: Children) -> ast.Boolean:
        """`true`."""
        return ast.Boolean(children[0].type == "TRUE", self.span(children))

    def list(self, children: Children) -> ast.ListExpr:
        """`[a, *b]`."""
        return ast.ListExpr(without_tokens(children), self.span(children))

    def parenthesised(self, children: Children) -> ast.Expr:
        """`(a + b)`: the inner expression, its span with the parentheses."""
        inner: ast.Expr = children[1]
        return replace(inner, span=self.span(children))

    def star(self, children: Children) -> ast.Star:
        """`*xs`."""
        return ast.Star(children[1], self.span(children))

    # --- calls ------------------------------------------------------------------------------

    def keyword(self, children: Children) -> ast.Keyword:
        """`axis=1`."""
        name = self.definition(self.word(children[0]))
        return ast.Keyword(name.text, children[2], self.span(children))

    def splat(self, children: Children) -> Splat:
        """`**attrs`."""
        return Splat(self.word(children[1]), self.span(children))

    def domain(self, children: Children) -> Part:
        """`"com.acme"::`."""
        span = self.span(children)
        text = string_value(str(children[0]), self.span(children[:1]), self.diagnostics)
        return Part("domain", (text,), span)

    def call(self, children: Children) -> ast.Call:
        """`Op(x, axis=1, **attrs)`."""
        domain = children[0].values[0] if isinstance(children[0], Part) else None
        function = next(c for c in children if isinstance(c, Token))
        values = without_tokens(children[1:])
        self._check_order(values)
        return ast.Call(
            function=str(function),
            args=tuple(v for v in values if not isinstance(v, ast.Keyword | Splat)),
            keywords=tuple(v for v in values if isinstance(v, ast.Keyword)),
            splats=tuple(v.name for v in values if isinstance(v, Splat)),
            span=self.span(children),
            function_span=self.span([function]),
            domain=domain,
        )

    def _check_order(self, values: tuple[Any, ...]) -> None:
        """Tensors stand before attributes, as in Python."""
        named: Span | None = None
        for value in values:
            if isinstance(value, ast.Keyword | Splat):
                named = value.span
            elif named is not None:
                self.diagnostics.error(
                    "E0112",
                    "an input stands after an attribute",
                    value.span,
                    help="write the inputs first, then `name=value`, then `**attrs`",
                )
                return

    # --- operators --------------------------------------------------------------------------

    def maybe(self, children: Children) -> ast.Maybe:
        """`b?`."""
        return ast.Maybe(children[0], self.span(children))

    def index(self, children: Children) -> ast.Index:
        """`p[0]`."""
        return ast.Index(children[0], children[2], self.span(children))

    def slice(self, children: Children) -> ast.Slice:
        """`p[1:]`."""
        start, stop = children[2], children[4]
        return ast.Slice(children[0], start, stop, self.span(children))

    def bound(self, children: Children) -> ast.Expr | None:
        """One end of a slice."""
        return children[0] if children else None

    def unary(self, children: Children) -> ast.Unary:
        """`-x`, `not c`."""
        return ast.Unary(str(children[0]), children[1], self.span(children))

    def binary(self, children: Children) -> ast.Binary:
        """`a * b`."""
        left, operator, right = children
        return ast.Binary(str(operator), left, right, self.span(children))

    def comparator(self, children: Children) -> str:
        """`<`, `not in`."""
        return " ".join(str(token) for token in children)

    def compare(self, children: Children) -> ast.Compare:
        """`0 <= a < b`."""
        rest = tuple(zip(children[1::2], children[2::2], strict=True))
        return ast.Compare(children[0], rest, self.span(children))

    def if_expr(self, children: Children) -> ast.IfExpr:
        """`if c then a else b`."""
        return ast.IfExpr(children[1], children[3], children[5], self.span(children))

    # --- types ------------------------------------------------------------------------------

    def type(self, children: Children) -> ast.TypeExpr:
        """`T[*B, M]`."""
        dims = without_tokens(children) if len(children) > 1 else None
        return ast.TypeExpr(str(children[0]), dims, self.span(children))

    def ascribed(self, children: Children) -> ast.Ascribed:
        """`x: f32[M]`."""
        return ast.Ascribed(children[0], children[2], self.span(children))


def start_of(child: Any) -> int:
    """The offset at which a token, node or part starts."""
    return int(child.start_pos or 0) if isinstance(child, Token) else int(child.span.start)


def end_of(child: Any) -> int:
    """The offset behind a token, node or part."""
    return int(child.end_pos or 0) if isinstance(child, Token) else int(child.span.end)


def without_tokens(children: Children) -> tuple[Any, ...]:
    """The nodes and parts among the children."""
    return tuple(c for c in children if not isinstance(c, Token))
