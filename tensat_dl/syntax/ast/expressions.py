"""Terms and expressions as they are written.

Enters: nothing (data only).  Terms (tensors) and expressions (numbers, lists, conditions) share one
type, :data:`Expr`; the language stage tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.diagnostics import Span


@dataclass(frozen=True)
class Name:
    """`x`, `N1`, `linear.squeeze` (dotted names keep their dots)."""

    text: str
    span: Span


@dataclass(frozen=True)
class Wildcard:
    """`_`: anything, bound to nothing."""

    span: Span


@dataclass(frozen=True)
class Number:
    """`3`, `1e-5`, `50_000`: an int or a float, never a bool."""

    value: int | float
    span: Span


@dataclass(frozen=True)
class String:
    """`"same_upper"`, unescaped."""

    value: str
    span: Span


@dataclass(frozen=True)
class Boolean:
    """`true` or `false`."""

    value: bool
    span: Span


@dataclass(frozen=True)
class ListExpr:
    """`[a, *b, 1]`."""

    items: tuple[Expr, ...]
    span: Span


@dataclass(frozen=True)
class Star:
    """`*xs`, `*F(xs)`: spliced."""

    operand: Expr
    span: Span


@dataclass(frozen=True)
class Maybe:
    """`b?`, `Mul(b, c)?`: present or absent."""

    operand: Expr
    span: Span


@dataclass(frozen=True)
class Keyword:
    """`axis=1` in a call."""

    name: str
    value: Expr
    span: Span


@dataclass(frozen=True)
class Call:
    """`Op(args, attr=value, **attrs)`, also `weight(x)`, `i64([..])`, `F(xs)`.

    `domain` is set for `"com.acme"::Op(...)`; `splats` are the names after `**`.
    """

    function: str
    args: tuple[Expr, ...]
    keywords: tuple[Keyword, ...]
    splats: tuple[Name, ...]
    span: Span
    function_span: Span
    domain: str | None = None


@dataclass(frozen=True)
class TypeExpr:
    """`f32[M, K]`, `T[*B, M, K]`, `T`, `f32[]`; `dims` is None where none are written.

    Each dim is a Name, Number, Wildcard, `Star(Name)`, `Star(Wildcard)` or an arithmetic
    expression over names.
    """

    dtype: str
    dims: tuple[Expr, ...] | None
    span: Span


@dataclass(frozen=True)
class Ascribed:
    """`x: f32[M, K]`."""

    operand: Expr
    type: TypeExpr
    span: Span


@dataclass(frozen=True)
class Unary:
    """`-x`, `not c`."""

    operator: str
    operand: Expr
    span: Span


@dataclass(frozen=True)
class Binary:
    """`+ - * / // % **`, `and`, `or`."""

    operator: str
    left: Expr
    right: Expr
    span: Span


@dataclass(frozen=True)
class Compare:
    """A chain as in Python: `0 <= a < b`; operators `== != < <= > >= in not in`."""

    first: Expr
    rest: tuple[tuple[str, Expr], ...]
    span: Span


@dataclass(frozen=True)
class IfExpr:
    """`if c then a else b`."""

    condition: Expr
    then: Expr
    otherwise: Expr
    span: Span


@dataclass(frozen=True)
class Index:
    """`p[0]`, `p[-1]`."""

    operand: Expr
    index: Expr
    span: Span


@dataclass(frozen=True)
class Slice:
    """`p[1:]`, `p[:-1]`, `p[a:b]`."""

    operand: Expr
    start: Expr | None
    stop: Expr | None
    span: Span


Expr = (
    Name
    | Wildcard
    | Number
    | String
    | Boolean
    | ListExpr
    | Star
    | Maybe
    | Call
    | Ascribed
    | Unary
    | Binary
    | Compare
    | IfExpr
    | Index
    | Slice
)
