"""Prints expressions in canonical form, with no more parentheses than the grammar needs.

Enters: an expression or a type.  Leaves: one line of text that parses to an equal tree.
"""

from __future__ import annotations

import re
from decimal import Decimal
from enum import IntEnum

from tensat_dl.syntax import ast


class _Level(IntEnum):
    """How tightly an expression binds; the grammar's rules from the loosest."""

    TERM = 0
    EXPR = 1
    OR = 2
    AND = 3
    NOT = 4
    COMPARE = 5
    SUM = 6
    PRODUCT = 7
    SIGNED = 8
    POWER = 9
    POSTFIX = 10
    ATOM = 11


_BINARY = {
    "or": (_Level.OR, _Level.AND),
    "and": (_Level.AND, _Level.NOT),
    "+": (_Level.SUM, _Level.PRODUCT),
    "-": (_Level.SUM, _Level.PRODUCT),
    "*": (_Level.PRODUCT, _Level.SIGNED),
    "/": (_Level.PRODUCT, _Level.SIGNED),
    "//": (_Level.PRODUCT, _Level.SIGNED),
    "%": (_Level.PRODUCT, _Level.SIGNED),
    "**": (_Level.POSTFIX, _Level.SIGNED),
}
"""Levels of the left and the right operand."""

_ESCAPES = {"\\": r"\\", '"': r"\"", "\n": r"\n", "\r": r"\r", "\t": r"\t"}


def format_expr(expr: ast.Expr) -> str:
    """An expression or term, as it stands in a rule."""
    return _at(expr, _Level.TERM)


def format_type(type_: ast.TypeExpr) -> str:
    """`T[*B, M]`."""
    if type_.dims is None:
        return type_.dtype
    return f"{type_.dtype}[{', '.join(_item(d, _Level.SUM) for d in type_.dims)}]"


def format_number(value: int | float) -> str:
    """`50_000`, `1e-5`."""
    if isinstance(value, int):
        return f"{value:_}" if abs(value) >= 10_000 else str(value)
    text = repr(value)
    if abs(value) >= 1e6 and "e" not in text:
        short = str(Decimal(text).normalize()).lower()
        text = short if "e" in short else text
    return re.sub(r"e\+?(-?)0*", r"e\1", text)


def format_string(value: str) -> str:
    """A string in double quotes."""
    return '"' + "".join(_escaped(character) for character in value) + '"'


def format_plain(expr: ast.Expr) -> str:
    """An expression where no type may be ascribed: a condition, the value of a `let`."""
    return _at(expr, _Level.EXPR)


def _escaped(character: str) -> str:
    if character in _ESCAPES:
        return _ESCAPES[character]
    if character.isprintable() or ord(character) > 0xFFFF:
        return character
    return f"\\u{ord(character):04x}"


def _at(expr: ast.Expr, level: _Level) -> str:
    """The text of `expr`, in parentheses where it binds less tightly than `level`."""
    text, own = _text(expr)
    return text if own >= level else f"({text})"


def _item(expr: ast.Expr, level: _Level) -> str:
    """Like `_at`, in a list where a star may stand."""
    if isinstance(expr, ast.Star):
        return f"*{_at(expr.operand, _Level.SUM)}"
    return _at(expr, level)


def _text(expr: ast.Expr) -> tuple[str, _Level]:
    match expr:
        case ast.Name() | ast.Wildcard() | ast.String() | ast.Boolean() | ast.Number():
            return _literal(expr)
        case ast.ListExpr(items=items):
            return f"[{', '.join(_item(i, _Level.EXPR) for i in items)}]", _Level.ATOM
        case ast.Call():
            return _call(expr), _Level.ATOM
        case ast.Star(operand=operand):
            return f"*{_at(operand, _Level.SUM)}", _Level.TERM
        case ast.Ascribed(operand=operand, type=type_):
            return f"{_item(operand, _Level.EXPR)}: {format_type(type_)}", _Level.TERM
        case ast.IfExpr(condition=condition, then=then, otherwise=otherwise):
            parts = [_at(e, _Level.EXPR) for e in (condition, then, otherwise)]
            return "if {} then {} else {}".format(*parts), _Level.EXPR
        case ast.Maybe() | ast.Index() | ast.Slice():
            return _postfix(expr), _Level.POSTFIX
        case ast.Unary() | ast.Binary() | ast.Compare():
            return _operation(expr)


def _literal(
    expr: ast.Name | ast.Wildcard | ast.String | ast.Boolean | ast.Number,
) -> tuple[str, _Level]:
    match expr:
        case ast.Name(text=text):
            return text, _Level.ATOM
        case ast.Wildcard():
            return "_", _Level.ATOM
        case ast.String(value=text):
            return format_string(text), _Level.ATOM
        case ast.Boolean(value=flag):
            return "true" if flag else "false", _Level.ATOM
        case ast.Number(value=number):
            level = _Level.SIGNED if number < 0 else _Level.ATOM
            return format_number(number), level


def _call(call: ast.Call) -> str:
    domain = "" if call.domain is None else f"{format_string(call.domain)}::"
    arguments = [_item(a, _Level.TERM) for a in call.args]
    arguments += [f"{k.name}={_at(k.value, _Level.EXPR)}" for k in call.keywords]
    arguments += [f"**{name.text}" for name in call.splats]
    return f"{domain}{call.function}({', '.join(arguments)})"


def _postfix(expr: ast.Maybe | ast.Index | ast.Slice) -> str:
    operand = _at(expr.operand, _Level.POSTFIX)
    match expr:
        case ast.Maybe():
            return f"{operand}?"
        case ast.Index(index=index):
            return f"{operand}[{_at(index, _Level.EXPR)}]"
        case ast.Slice(start=start, stop=stop):
            bounds = ["" if b is None else _at(b, _Level.EXPR) for b in (start, stop)]
            return f"{operand}[{':'.join(bounds)}]"


def _operation(expr: ast.Unary | ast.Binary | ast.Compare) -> tuple[str, _Level]:
    match expr:
        case ast.Unary(operator="not", operand=operand):
            return f"not {_at(operand, _Level.NOT)}", _Level.NOT
        case ast.Unary(operator=operator, operand=operand):
            return f"{operator}{_at(operand, _Level.SIGNED)}", _Level.SIGNED
        case ast.Binary(operator=operator, left=left, right=right):
            left_level, right_level = _BINARY[operator]
            own = _Level.POWER if operator == "**" else left_level
            return f"{_at(left, left_level)} {operator} {_at(right, right_level)}", own
        case ast.Compare(first=first, rest=rest):
            tail = "".join(f" {op} {_at(e, _Level.SUM)}" for op, e in rest)
            return _at(first, _Level.SUM) + tail, _Level.COMPARE
