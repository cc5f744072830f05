"""Reductions of operators, schedules and cost models.

Enters: the children of each reduction.  Leaves: `ast` items.
"""

from __future__ import annotations

from typing import Any

from lark import Token

from tensat_dl.diagnostics import Label
from tensat_dl.syntax import ast
from tensat_dl.syntax.expressions import Children, Part
from tensat_dl.syntax.items import ItemBuilder, is_token, of_kind, values_of

_LIMITS = ("iters", "enodes", "seconds")


class BlockBuilder(ItemBuilder):
    """Adds the items that hold clauses, steps or rows."""

    # --- operators --------------------------------------------------------------------------

    def operator(self, children: Children) -> ast.Operator:
        """`op domain::Name(..) -> y: Tensor { .. }`."""
        arrow = next(i for i, c in enumerate(children) if is_token(c, "YIELDS"))
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

    def default_cost(self, children: Children) -> ast.DefaultCost:
        """`default cost measured`."""
        return ast.DefaultCost(children[2], self.doc(children), self.span(children))


def _limit(children: Children) -> ast.Limit | None:
    return next(iter(of_kind(children, ast.Limit)), None)


def _steps(children: Children) -> tuple[ast.Step, ...]:
    steps: list[ast.Step] = [
        c for c in children if isinstance(c, ast.Run | ast.Saturate | ast.Repeat | ast.Prune)
    ]
    return tuple(steps)
