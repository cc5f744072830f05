"""Reductions of rules, rulesets and declarations to syntax tree nodes.

Enters: the children of each reduction.  Leaves: `ast` items with spans and documentation.
"""

from __future__ import annotations

from typing import Any, TypeVar

from lark import Token

from tensat_dl.syntax import ast
from tensat_dl.syntax.expressions import (
    Children,
    ExpressionBuilder,
    Part,
    start_of,
    without_tokens,
)

_T = TypeVar("_T")


def of_kind(children: Children, *kinds: type[_T]) -> tuple[_T, ...]:
    """The children of some classes."""
    return tuple(c for c in children if isinstance(c, kinds))


def values_of(children: Children, kind: str) -> tuple[Any, ...]:
    """What the parts of one kind hold, in order."""
    parts = of_kind(children, Part)
    return tuple(v for part in parts if part.kind == kind for v in part.values)


def has_token(children: Children, kind: str) -> bool:
    """True when a token of this type is among the children."""
    return any(isinstance(c, Token) and c.type == kind for c in children)


class ItemBuilder(ExpressionBuilder):
    """Adds rules and declarations."""

    def doc(self, children: Children) -> str:
        """The `##` lines before an item, or between its annotations and its first word."""
        starts = (start_of(c) for c in children if isinstance(c, ast.Annotation | Token))
        return self.documentation.take(*starts)

    def defined(self, children: Children) -> ast.Name:
        """The first name among the children, introduced by this item."""
        return self.definition(of_kind(children, ast.Name)[0])

    # --- rules ------------------------------------------------------------------------------

    def annotation(self, children: Children) -> ast.Annotation:
        """`@rounds(2)`."""
        return ast.Annotation(str(children[1]), without_tokens(children), self.span(children))

    def for_class(self, children: Children) -> ast.ForClass:
        """`for F in Pointwise`."""
        return ast.ForClass(self.definition(children[1]), children[3], self.span(children))

    def where(self, children: Children) -> Part:
        """`where a, b`."""
        return Part("where", without_tokens(children), self.span(children))

    def let(self, children: Children) -> ast.Let:
        """`let k = dim(x, 1)`."""
        return ast.Let(self.definition(children[1]), children[3], self.span(children))

    def rewrite(self, children: Children) -> ast.Rewrite:
        """`rewrite name: left => right where ... let ...`."""
        colon = next(i for i, c in enumerate(children) if is_token(c, "COLON"))
        left, arrow, right = children[colon + 1 : colon + 4]
        return ast.Rewrite(
            name=self.defined(children[:colon]),
            for_class=next(iter(of_kind(children, ast.ForClass)), None),
            left=left,
            right=right,
            both_ways=arrow.type == "BOTH_WAYS",
            where=values_of(children, "where"),
            lets=of_kind(children, ast.Let),
            annotations=of_kind(children, ast.Annotation),
            doc=self.doc(children[:colon]),
            span=self.span(children),
        )

    def rule(self, children: Children) -> ast.Rule:
        """`rule name { match {..} where .. emit {..} }`."""
        match = list(values_of(children, "match"))
        return ast.Rule(
            name=self.defined(children),
            for_class=next(iter(of_kind(children, ast.ForClass)), None),
            each=next(iter(of_kind(match, ast.Each)), None),
            match=of_kind(match, ast.Statement),
            where=values_of(children, "where"),
            lets=of_kind(children, ast.Let),
            emit=values_of(children, "emit"),
            annotations=of_kind(children, ast.Annotation),
            doc=self.doc(children),
            span=self.span(children),
        )

    def match(self, children: Children) -> Part:
        """`match each (..) by (..) { .. }`; holds the `each` and the statements."""
        values = of_kind(children, ast.Each, ast.Statement)
        return Part("match", values, self.span(children))

    def each(self, children: Children) -> ast.Each:
        """`each (y, w) by (x)`."""
        by = next(i for i, c in enumerate(children) if is_token(c, "BY"))
        members = of_kind(children[:by], ast.Name)
        key = of_kind(children[by:], ast.Name)
        return ast.Each(members, key, self.span(children))

    def emit(self, children: Children) -> Part:
        """`emit { .. }`."""
        return Part("emit", of_kind(children, ast.Statement), self.span(children))

    def statement(self, children: Children) -> ast.Statement:
        """`y1, y2 = Split(..)`."""
        targets = tuple(self.definition(n) for n in of_kind(children[:-1], ast.Name))
        return ast.Statement(targets, False, children[-1], self.span(children))

    def condition_statement(self, children: Children) -> ast.Statement:
        """`y = Relu(x)` among the conditions of `derive`."""
        return self.statement(children)

    def starred_statement(self, children: Children) -> ast.Statement:
        """`*y = Split(..)`."""
        target = self.definition(children[1])
        return ast.Statement((target,), True, children[-1], self.span(children))

    def ruleset(self, children: Children) -> ast.Ruleset:
        """`ruleset name { include ..  rewrite .. }`."""
        return ast.Ruleset(
            name=self.defined(children),
            members=tuple(
                c for c in children if isinstance(c, ast.Include | ast.Rewrite | ast.Rule)
            ),
            annotations=of_kind(children, ast.Annotation),
            doc=self.doc(children),
            span=self.span(children),
        )

    def include(self, children: Children) -> ast.Include:
        """`include a, b`."""
        return ast.Include(of_kind(children, ast.Name), self.span(children))

    # --- declarations -----------------------------------------------------------------------

    def class_(self, children: Children) -> ast.OperatorClass:
        """`class Pointwise = Relu | Tanh`."""
        members = of_kind(children, ast.Name)[1:]
        return ast.OperatorClass(
            self.defined(children), members, self.doc(children), self.span(children)
        )

    def parameter(self, children: Children) -> ast.Parameter:
        """`x: Tensor?`, `*xs: Tensor`, `k: int = 1`."""
        has_default = has_token(children, "EQUAL")
        sort = next(c for c in children if is_token(c, "NAME"))
        return ast.Parameter(
            name=self.defined(children),
            sort=str(sort),
            optional=has_token(children, "QUESTION"),
            variadic=has_token(children, "STAR"),
            default=children[-1] if has_default else None,
            span=self.span(children),
        )

    def attributes_of(self, children: Children) -> Part:
        """`**Conv` among the parameters of an operator."""
        return Part("attributes_of", (children[1],), self.span(children))

    def relation(self, children: Children) -> ast.Relation:
        """`relation rowwise(y: Tensor, x: Tensor)`."""
        self._no_attributes_of(children, "relation")
        return ast.Relation(
            self.defined(children),
            of_kind(children, ast.Parameter),
            self.doc(children),
            self.span(children),
        )

    def derive(self, children: Children) -> ast.Derive:
        """`derive rowwise(y, x) if y = Relu(x), ..`."""
        head, *body = without_tokens(children)
        return ast.Derive(head, tuple(body), self.span(children), self.doc(children))

    def function(self, children: Children) -> ast.Function:
        """`fn half(k: int) -> int = k // 2`."""
        self._no_attributes_of(children, "function")
        result = next(c for c in children if is_token(c, "NAME"))
        return ast.Function(
            self.defined(children),
            of_kind(children, ast.Parameter),
            str(result),
            children[-1],
            self.doc(children),
            self.span(children),
        )

    def _no_attributes_of(self, children: Children, what: str) -> None:
        for part in of_kind(children, Part):
            if part.kind == "attributes_of":
                self.diagnostics.error(
                    "E0115",
                    f"a {what} takes no `**` parameter",
                    part.span,
                    help="only `op` takes over the attributes of another operator",
                )


def is_token(child: Any, kind: str) -> bool:
    """Is this child of a reduction a token of that kind?"""
    return isinstance(child, Token) and child.type == kind
