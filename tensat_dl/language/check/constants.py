"""Constants as they are written: `f32(0)`, `i64([0, -1])`, `T(1)`.

Enters: the call, or a bare literal that lacks its element type.  Reports E0312, E0321, and E0322
where a literal is none that the element type can hold; computed values are known when the rule
applies.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensat_dl.language.check.report import Reporter, source_text
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.dtypes import DType

_WHOLE = ("signed", "unsigned")


def check_constant(call: ast.Call, report: Reporter) -> bool:
    """Does the call have one value, of literals that its element type can hold?"""
    if len(call.args) != 1 or call.keywords or call.splats:
        report.error(
            "E0312",
            f"`{call.function}` takes one number or list",
            call.span,
            help=f"write `{call.function}([..])`",
        )
        return False
    dtype = dtypes.from_name(call.function)
    unfit = () if dtype is None else [e for e in _elements(call.args[0]) if not _holds(dtype, e)]
    for element in unfit:
        report.error(
            "E0322",
            f"`{call.function}` cannot hold `{source_text(element.span)}`",
            element.span,
            help=_other_types(element),
        )
    return not unfit


def reject_bare(expr: ast.Expr, report: Reporter) -> None:
    """Report a literal where a tensor is built."""
    shown = source_text(expr.span)
    elements = list(_elements(expr))
    candidates = [DType.I64, DType.F32]
    if elements and all(_number(element) is None for element in elements):
        candidates = [DType.BOOL, DType.STRING]
    fitting = [d.label for d in candidates if all(_holds(d, element) for element in elements)]
    report.error(
        "E0321",
        f"the constant `{shown}` needs an element type",
        expr.span,
        help=f"write {''.join(f'`{label}({shown})`, ' for label in fitting)}"
        f"or `T({shown})` where the left has `T`, as in `x: T`",
    )


def _elements(value: ast.Expr) -> Iterator[ast.Expr]:
    """The literals of a value; of numbers, with their sign."""
    if isinstance(value, ast.ListExpr):
        for item in value.items:
            yield from _elements(item)
    elif _number(value) is not None or isinstance(value, ast.Boolean | ast.String):
        yield value


def _number(value: ast.Expr) -> int | float | None:
    if isinstance(value, ast.Unary) and value.operator == "-":
        inner = _number(value.operand)
        return None if inner is None else -inner
    return value.value if isinstance(value, ast.Number) else None


def _holds(dtype: DType, element: ast.Expr) -> bool:
    if isinstance(element, ast.String) or dtype.family == "string":
        return isinstance(element, ast.String) and dtype.family == "string"
    number = _number(element)
    if number is None:
        return True  # a truth value is 0 or 1
    if dtype.family in _WHOLE:
        return isinstance(number, int) and _least(dtype) <= number <= _most(dtype)
    return dtype is not DType.BOOL or number in (0, 1)


def _least(dtype: DType) -> int:
    return -(1 << (dtype.bits - 1)) if dtype.family == "signed" else 0


def _most(dtype: DType) -> int:
    return (1 << (dtype.bits - (dtype.family == "signed"))) - 1


def _other_types(element: ast.Expr) -> str:
    shown = source_text(element.span)
    if isinstance(element, ast.String):
        return f"write `string({shown})`, or a number without quotes"
    whole = isinstance(_number(element), int)
    wide = whole and _holds(DType.I64, element)
    return f"write `{'i64' if wide else 'f32'}({shown})`, or another value"
