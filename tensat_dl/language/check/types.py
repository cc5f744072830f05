"""Types as rule authors write them: element types, dims, and what they bind.

Enters: the type expressions of one rule.  Leaves: bindings of dim and element type variables in
the context.  Reports E0315, E0316, E0503, and E0404 for a dim that is computed from unbound ones.
"""

from __future__ import annotations

from dataclasses import replace

from tensat_dl.diagnostics import Label, Span
from tensat_dl.language import walk
from tensat_dl.language.check.expressions import check_value, resolve_functions
from tensat_dl.language.check.variables import Context, is_upper
from tensat_dl.language.program import Ascription, Sort
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes

#: How ONNX, numpy and other frameworks call our element types.
_FOREIGN = {
    "float": "f32",
    "float32": "f32",
    "double": "f64",
    "float64": "f64",
    "float16": "f16",
    "half": "f16",
    "bfloat16": "bf16",
    "int": "i64",
    "long": "i64",
    **{f"int{bits}": f"i{bits}" for bits in (4, 8, 16, 32, 64)},
    **{f"uint{bits}": f"u{bits}" for bits in (4, 8, 16, 32, 64)},
    "str": "string",
}


def bind_type(type_expr: ast.TypeExpr, context: Context) -> None:
    """Bind the names of a type at its first or any later place."""
    _bind_dtype(type_expr, context)
    stars = [dim for dim in type_expr.dims or () if isinstance(dim, ast.Star)]
    for extra in stars[1:]:
        context.report.error(
            "E0316",
            "a type holds at most one starred run of dims",
            extra.span,
            help="two runs cannot be told apart",
        )
    for dim in type_expr.dims or ():
        _bind_dim(dim, context)


def check_computed_dims(type_expr: ast.TypeExpr, context: Context) -> None:
    """Check the dims that are computed; every name must be bound somewhere in the rule."""
    for dim in type_expr.dims or ():
        if not isinstance(dim, ast.Name | ast.Wildcard | ast.Star | ast.Number):
            check_value(dim, context)


def resolved(type_expr: ast.TypeExpr, context: Context) -> ast.TypeExpr:
    """The type with user functions in its dims under their names in the program."""
    if not type_expr.dims:
        return type_expr
    dims = tuple(resolve_functions(dim, context) for dim in type_expr.dims)
    return replace(type_expr, dims=dims)


def check_consistent(ascriptions: list[Ascription], context: Context) -> None:
    """E0503: two types of one tensor that exclude each other."""
    first: dict[str, ast.TypeExpr] = {}
    for ascription in ascriptions:
        earlier = first.setdefault(ascription.variable, ascription.type)
        reason = _clash(earlier, ascription.type)
        if reason:
            context.report.error(
                "E0503",
                f"`{ascription.variable}` cannot have both types: {reason}",
                ascription.type.span,
                related=(Label(earlier.span, "the other type"),),
                help="a name is one tensor: use two names, or one type",
            )


def _clash(left: ast.TypeExpr, right: ast.TypeExpr) -> str:
    concrete = [dtypes.from_name(side.dtype) for side in (left, right)]
    if None not in concrete and concrete[0] is not concrete[1]:
        return "the element types differ"
    if left.dims is None or right.dims is None:
        return ""
    if any(isinstance(dim, ast.Star) for dim in (*left.dims, *right.dims)):
        return ""
    if len(left.dims) != len(right.dims):
        return f"one has {len(left.dims)} dims, the other {len(right.dims)}"
    numbers = [
        (a.value, b.value)
        for a, b in zip(left.dims, right.dims, strict=True)
        if isinstance(a, ast.Number) and isinstance(b, ast.Number)
    ]
    return "a dim differs" if any(a != b for a, b in numbers) else ""


def ordered(ascriptions: list[Ascription]) -> tuple[Ascription, ...]:
    """Those with computed dims last, so that what they need is bound before."""
    unique = dict.fromkeys(ascriptions)
    return tuple(sorted(unique, key=lambda ascription: _is_computed(ascription.type)))


def _is_computed(type_expr: ast.TypeExpr) -> bool:
    simple = ast.Name | ast.Wildcard | ast.Star | ast.Number
    return not all(isinstance(dim, simple) for dim in type_expr.dims or ())


def _bind_dtype(type_expr: ast.TypeExpr, context: Context) -> None:
    name = type_expr.dtype
    if name == "_" or dtypes.from_name(name) is not None:
        return
    span = Span(type_expr.span.file, type_expr.span.start, type_expr.span.start + len(name))
    if is_upper(name):
        context.bind(name, Sort.DTYPE, span)
        return
    known = _FOREIGN.get(name)
    help = f"did you mean `{known}`?" if known else did_you_mean(name, dtypes.names())
    context.report.error(
        "E0315",
        f"unknown element type `{name}`",
        span,
        help=help or "an element type variable begins with a capital: `T`",
    )


def _bind_dim(dim: ast.Expr, context: Context) -> None:
    if isinstance(dim, ast.Star):
        _bind_run(dim, context)
    elif isinstance(dim, ast.Name):
        _bind_named(dim, Sort.VALUE, context)
    elif isinstance(dim, ast.Number) and not isinstance(dim.value, int):
        context.report.error("E0316", "a dim is a whole number", dim.span)
    elif not isinstance(dim, ast.Number | ast.Wildcard):
        _check_lower(dim, context)


def _bind_run(star: ast.Star, context: Context) -> None:
    if isinstance(star.operand, ast.Name):
        _bind_named(star.operand, Sort.DIMS, context)
    elif not isinstance(star.operand, ast.Wildcard):
        context.report.error("E0316", "a starred run of dims is a name, as in `*B`", star.span)


def _bind_named(name: ast.Name, sort: Sort, context: Context) -> None:
    if is_upper(name.text) or name.text in context.variables:
        context.bind(name.text, sort, name.span)
        return
    context.report.error(
        "E0316",
        f"a dim has an upper-case name, not `{name.text}`",
        name.span,
        help=f"write `{name.text.upper()}`, or `_` for any dim",
    )


def _check_lower(dim: ast.Expr, context: Context) -> None:
    if any(isinstance(part, ast.Star | ast.Maybe | ast.Ascribed) for part in walk.walk(dim)):
        context.report.error("E0316", "this cannot be a dim", dim.span)
