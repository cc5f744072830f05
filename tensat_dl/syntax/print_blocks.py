"""Prints operators, schedules, cost models and tests.

Enters: the item.  Leaves: its text; the white space is chosen by the layout.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensat_dl.syntax import ast
from tensat_dl.syntax.print_expressions import (
    format_expr,
    format_number,
    format_plain,
    format_string,
    format_type,
)


def statement(item: ast.Statement) -> str:
    """`y1, y2 = Split(..)`."""
    star = "*" if item.starred else ""
    targets = ", ".join(target.text for target in item.targets)
    return f"{star}{targets} = {format_expr(item.value)}"


def statements(items: Iterable[ast.Statement]) -> str:
    """A block of statements."""
    return _braces(map(statement, items))


def _braces(entries: Iterable[str]) -> str:
    return "{" + "".join(f"\n{entry}" for entry in entries) + "\n}"


def parameters(items: Iterable[ast.Parameter]) -> str:
    """`x: Tensor, b: Tensor?`, without the parentheses."""
    return ", ".join(_parameter(item) for item in items)


def _parameter(item: ast.Parameter) -> str:
    star = "*" if item.variadic else ""
    optional = "?" if item.optional else ""
    default = f" = {format_plain(item.default)}" if item.default is not None else ""
    return f"{star}{item.name.text}: {item.sort}{optional}{default}"


# --- operators ------------------------------------------------------------------------------


def operator(item: ast.Operator) -> str:
    """An `op` declaration; `since` is shown where it says something."""
    domain = "" if item.domain is None else f"{format_string(item.domain)}::"
    formal = [_parameter(p) for p in item.parameters]
    if item.attributes_of is not None:
        formal.append(f"**{item.attributes_of.text}")
    body: list[str] = []
    if item.infer or item.since != 1:
        body.append(f"since {item.since}")
    body += _clause("infer", [_inferred(s) for s in item.infer])
    if item.cost is not None:
        body.append(f"cost {format_plain(item.cost)}")
    body += _clause("lower", [statement(s) for s in item.lower])
    head = f"op {domain}{item.name.text}({', '.join(formal)}) -> {parameters(item.outputs)}"
    return f"{head} {_braces(body)}"


def _clause(word: str, entries: list[str]) -> list[str]:
    """One statement beside the word, several in braces."""
    if len(entries) <= 1:
        return [f"{word} {entry}" for entry in entries]
    return [f"{word} {_braces(entries)}"]


def _inferred(item: ast.Statement) -> str:
    """`y = like(x)`, or `y: f32[M]`, which the tree holds as `y = (y: f32[M])`."""
    match item.targets, item.value:
        case (ast.Name(text=target),), ast.Ascribed(operand=ast.Name(text=text), type=type_):
            if target == text:
                return f"{target}: {format_type(type_)}"
    return statement(item)


# --- schedules and cost models --------------------------------------------------------------


def schedule(item: ast.Schedule) -> str:
    """A `schedule`."""
    return f"schedule {item.name.text} {_braces(map(_step, item.body))}"


def _step(step: ast.Step) -> str:
    match step:
        case ast.Run(name=name):
            return f"run {name.text}"
        case ast.Prune():
            return "prune cycles"
        case ast.Saturate(body=(ast.Run(name=name),), limit=limit):
            return f"saturate {name.text}{_limit(limit)}"
        case ast.Saturate(body=body, limit=limit):
            return f"saturate {_braces(map(_step, body))}{_limit(limit)}"
        case ast.Repeat(count=count, body=body, limit=limit):
            return f"repeat {count} {_braces(map(_step, body))}{_limit(limit)}"


def _limit(limit: ast.Limit | None) -> str:
    if limit is None:
        return ""
    bounds = {"iters": limit.iters, "enodes": limit.enodes, "seconds": limit.seconds}
    shown = [f"{name}={format_number(v)}" for name, v in bounds.items() if v is not None]
    return f" limit({', '.join(shown)})"


def cost_model(item: ast.CostModel) -> str:
    """A `cost model`."""
    rows = (f"{row.operator.text} = {format_plain(row.value)}" for row in item.rows)
    return f"cost model {item.name.text} {_braces(rows)}"


# --- tests ----------------------------------------------------------------------------------


def test(item: ast.Test) -> str:
    """A `test`."""
    using = f" using {', '.join(n.text for n in item.using)}" if item.using else ""
    return f"test {format_string(item.title)}{using} {_braces(map(_test_line, item.body))}"


def _test_line(line: ast.TestInput | ast.TestGiven | ast.TestExpect) -> str:
    match line:
        case ast.TestInput(kind=kind, values=values):
            return f"{kind} {', '.join(f'{n.text}: {format_type(t)}' for n, t in values)}"
        case ast.TestGiven(statement=given):
            return f"given {statement(given)}"
        case ast.TestExpect():
            return "expect " + _expectation(line)


def _expectation(line: ast.TestExpect) -> str:
    negation = "not " if line.negated else ""
    names = ", ".join(name.text for name in line.names)
    if line.kind is ast.ExpectKind.FIRES:
        return f"{negation}fires {names}"
    if line.kind is ast.ExpectKind.ERROR:
        return f"error {names}"
    if line.kind is ast.ExpectKind.BEST and line.statement is not None:
        under = f"under {line.under.text} " if line.under else ""
        return f"best {under}{statement(line.statement)}"
    left, right = line.terms
    return f"{negation}{equality(left, right)}"


def equality(left: ast.Expr, right: ast.Expr) -> str:
    """`a == b`, with parentheses where the sides need them."""
    compared = ast.Compare(left, (("==", right),), left.span)
    return format_plain(compared)
