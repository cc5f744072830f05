"""Reductions of operators, schedules, cost models, tests and the whole file.

Enters: the children of each reduction.  Leaves: `ast` items and the :class:`ast.Module`.
"""

from __future__ import annotations

from typing import Any

from lark import Token

from tensat_dl.diagnostics import Label, Span
from tensat_dl.syntax import ast
from tensat_dl.syntax.expressions import Children, Part, without_tokens
from tensat_dl.syntax.items import ItemBuilder, has_token, of_kind, values_of
from tensat_dl.syntax.literals import string_value

LANGUAGE = 1
"""The version of the language; a file that names none is read as version 1."""

_LIMITS = ("iters", "enodes", "seconds")


class Builder(ItemBuilder):
    """The complete set of reductions."""

    # --- operators --------------------------------------------------------------------------

    def operator(self, children: Children) -> ast.Operator:
        """`op domain::Name(..) -> y: Tensor { .. }`."""
        arrow = next(i for i, c in enumerate(children) if _is(c, "YIELDS"))
        clauses = self._clauses(children[arrow:])
        taken_over = self._taken_over(children[:arrow])
        return ast.Operator(
            domain=next(iter(values_of(children, "domain")), None),
            name=self.defined(children),
            parameters=of_kind(children[:arrow], ast.Parameter),
            attributes_of=taken_over,
            outputs=of_kind(children[arrow:], ast.Parameter),
            since=next(iter(clauses.get("since", ())), 1),
            infer=clauses.get("infer", ()),
            cost=next(iter(clauses.get("cost", ())), None),
            lower=clauses.get("lower", ()),
            doc=self.doc(children),
            span=self.span(children),
        )

    def _clauses(self, children: Children) -> dict[str, tuple[Any, ...]]:
        """The clauses of an operator by name; each stands once."""
        found: dict[str, Part] = {}
        for part in of_kind(children, Part):
            if part.kind in found:
                first = Label(found[part.kind].span, "first here")
                message = f"`{part.kind}` stands twice in one operator"
                self.diagnostics.error("E0113", message, part.span, related=(first,))
            found.setdefault(part.kind, part)
        return {kind: part.values for kind, part in found.items()}

    def _taken_over(self, children: Children) -> ast.Name | None:
        parts = [p for p in of_kind(children, Part) if p.kind == "attributes_of"]
        for extra in parts[1:]:
            message = "an operator takes over the attributes of one other operator"
            self.diagnostics.error("E0113", message, extra.span, label="a second `**`")
        return parts[0].values[0] if parts else None

    def since(self, children: Children) -> Part:
        """`since 1`."""
        version = self.whole_number(children[1], "a version")
        return Part("since", (version,), self.span(children))

    def infer(self, children: Children) -> Part:
        """`infer y = like(x)`."""
        return Part("infer", of_kind(children, ast.Statement), self.span(children))

    def typed_output(self, children: Children) -> ast.Statement:
        """`infer y: f32[M]`: the type as an ascription of the output to itself."""
        output = children[0]
        value = ast.Ascribed(output, children[2], self.span(children))
        return ast.Statement((output,), False, value, value.span)

    def cost(self, children: Children) -> Part:
        """`cost 4 * numel(y)`."""
        return Part("cost", (children[1],), self.span(children))

    def lower(self, children: Children) -> Part:
        """`lower y = Relu(..)`."""
        return Part("lower", of_kind(children, ast.Statement), self.span(children))

    def whole_number(self, token: Token, what: str) -> int:
        """A number token that must be an integer."""
        number = self.number([token])
        if isinstance(number.value, int):
            return number.value
        self.diagnostics.error("E0111", f"{what} is a whole number", number.span)
        return 1

    # --- schedules and cost models ----------------------------------------------------------

    def schedule(self, children: Children) -> ast.Schedule:
        """`schedule main { .. }`."""
        name, doc = self.defined(children), self.doc(children)
        return ast.Schedule(name, _steps(children), doc, self.span(children))

    def run(self, children: Children) -> ast.Run:
        """`run fusion`."""
        return ast.Run(children[1], self.span(children))

    def saturate(self, children: Children) -> ast.Saturate:
        """`saturate fusion`, `saturate { .. } limit(..)`."""
        body = _steps(children)
        for name in of_kind(children, ast.Name):
            body = (ast.Run(name, name.span),)
        return ast.Saturate(body, _limit(children), self.span(children))

    def repeat(self, children: Children) -> ast.Repeat:
        """`repeat 3 { .. }`."""
        count = self.whole_number(children[1], "a number of repetitions")
        body = _steps(children)
        return ast.Repeat(count, body, _limit(children), self.span(children))

    def prune(self, children: Children) -> ast.Prune:
        """`prune cycles`."""
        return ast.Prune(self.span(children))

    def limit(self, children: Children) -> ast.Limit:
        """`limit(iters=10, seconds=30)`."""
        values: dict[str, Any] = {}
        for keyword in of_kind(children, ast.Keyword):
            if self._is_limit(keyword, values):
                values[keyword.name] = keyword.value.value  # type: ignore[union-attr]
        return ast.Limit(**dict.fromkeys(_LIMITS) | values, span=self.span(children))

    def _is_limit(self, keyword: ast.Keyword, seen: dict[str, Any]) -> bool:
        number = keyword.value
        if keyword.name not in _LIMITS:
            message, help = (
                f"`limit` knows no `{keyword.name}`",
                "it takes `iters`, `enodes`, `seconds`",
            )
        elif keyword.name in seen:
            message, help = f"`{keyword.name}` stands twice in one limit", ""
        elif not isinstance(number, ast.Number):
            message, help = (
                f"the limit `{keyword.name}` is a number",
                "write for example `limit(iters=10)`",
            )
        elif keyword.name != "seconds" and not isinstance(number.value, int):
            message, help = f"the limit `{keyword.name}` is a whole number", ""
        else:
            return True
        self.diagnostics.error("E0113", message, keyword.span, help=help)
        return False

    def cost_model(self, children: Children) -> ast.CostModel:
        """`cost model mine { .. }`."""
        name, rows = self.defined(children), of_kind(children, ast.CostRow)
        return ast.CostModel(name, rows, self.doc(children), self.span(children))

    def cost_row(self, children: Children) -> ast.CostRow:
        """`MatMul = 2 * numel(y)`."""
        return ast.CostRow(children[0], children[2], self.span(children))

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


def _is(child: Any, kind: str) -> bool:
    return isinstance(child, Token) and child.type == kind


def _limit(children: Children) -> ast.Limit | None:
    return next(iter(of_kind(children, ast.Limit)), None)


def _steps(children: Children) -> tuple[ast.Step, ...]:
    steps: list[ast.Step] = [
        c for c in children if isinstance(c, ast.Run | ast.Saturate | ast.Repeat | ast.Prune)
    ]
    return tuple(steps)


def _test_lines(
    children: Children,
) -> tuple[ast.TestInput | ast.TestGiven | ast.TestExpect, ...]:
    kinds = ast.TestInput | ast.TestGiven | ast.TestExpect
    return tuple(c for c in children if isinstance(c, kinds))
