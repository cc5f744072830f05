"""Walking and rewriting expressions of the syntax tree."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from tensat_dl.syntax import ast


def children(expr: ast.Expr) -> tuple[ast.Expr, ...]:
    """The expressions directly inside, in the order of the text."""
    match expr:
        case ast.ListExpr():
            return expr.items
        case ast.Star() | ast.Maybe() | ast.Ascribed() | ast.Unary():
            return (expr.operand,)
        case ast.Call():
            return expr.args + tuple(keyword.value for keyword in expr.keywords)
        case ast.Binary():
            return (expr.left, expr.right)
        case ast.Compare():
            return (expr.first, *(side for _, side in expr.rest))
        case ast.IfExpr():
            return (expr.condition, expr.then, expr.otherwise)
        case ast.Index():
            return (expr.operand, expr.index)
        case ast.Slice():
            bounds = tuple(bound for bound in (expr.start, expr.stop) if bound is not None)
            return (expr.operand, *bounds)
    return ()


def walk(expr: ast.Expr) -> Iterator[ast.Expr]:
    """`expr` and every expression inside, outermost first."""
    yield expr
    for child in children(expr):
        yield from walk(child)


def size(expr: ast.Expr, sizes: Mapping[str, int]) -> int:
    """Nodes in `expr` once names and functions of `sizes` are written out."""
    total = 1 + sum(size(child, sizes) for child in children(expr))
    if isinstance(expr, ast.Name):
        return sizes.get(expr.text, 1)
    return total + (sizes.get(expr.function, 0) if isinstance(expr, ast.Call) else 0)


def types_in(expr: ast.Expr) -> Iterator[ast.TypeExpr]:
    """The types ascribed anywhere inside."""
    for part in walk(expr):
        if isinstance(part, ast.Ascribed):
            yield part.type


def names_in(expr: ast.Expr) -> Iterator[ast.Name]:
    """The names inside, but those after `**`."""
    for part in walk(expr):
        if isinstance(part, ast.Name):
            yield part


def rename_calls(expr: ast.Expr, rename: Callable[[str], str]) -> ast.Expr:
    """`expr` with the function of every call renamed; the same object where nothing changes."""
    again = [rename_calls(child, rename) for child in children(expr)]
    changed = any(new is not old for new, old in zip(again, children(expr), strict=True))
    rebuilt = _with_children(expr, again) if changed else expr
    if isinstance(rebuilt, ast.Call) and rename(rebuilt.function) != rebuilt.function:
        return replace(rebuilt, function=rename(rebuilt.function))
    return rebuilt


def replace_names(expr: ast.Expr, values: Mapping[str, ast.Expr]) -> ast.Expr:
    """`expr` with names replaced by expressions; the same object where nothing changes."""
    if isinstance(expr, ast.Name):
        return values.get(expr.text, expr)
    again = [replace_names(child, values) for child in children(expr)]
    changed = any(new is not old for new, old in zip(again, children(expr), strict=True))
    return _with_children(expr, again) if changed else expr


def _with_children(expr: ast.Expr, new: list[ast.Expr]) -> ast.Expr:
    match expr:
        case ast.ListExpr():
            return replace(expr, items=tuple(new))
        case ast.Star() | ast.Maybe() | ast.Ascribed() | ast.Unary():
            return replace(expr, operand=new[0])
        case ast.Call():
            return _call_with_children(expr, new)
        case ast.Binary():
            return replace(expr, left=new[0], right=new[1])
        case ast.Compare():
            operators = [operator for operator, _ in expr.rest]
            return replace(expr, first=new[0], rest=tuple(zip(operators, new[1:], strict=True)))
        case ast.IfExpr():
            return replace(expr, condition=new[0], then=new[1], otherwise=new[2])
        case ast.Index():
            return replace(expr, operand=new[0], index=new[1])
        case ast.Slice():
            bounds = iter(new[1:])
            start = None if expr.start is None else next(bounds)
            stop = None if expr.stop is None else next(bounds)
            return replace(expr, operand=new[0], start=start, stop=stop)
    return expr


def _call_with_children(expr: ast.Call, new: list[ast.Expr]) -> ast.Call:
    args, values = new[: len(expr.args)], new[len(expr.args) :]
    keywords = tuple(
        replace(keyword, value=value) for keyword, value in zip(expr.keywords, values, strict=True)
    )
    return replace(expr, args=tuple(args), keywords=keywords)
