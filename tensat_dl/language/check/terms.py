"""Questions that both sides of a rule ask of the terms in them.  Reports E0309, E0320, E0418."""

from __future__ import annotations

from tensat_dl.diagnostics import Label
from tensat_dl.language.check.calls import Application
from tensat_dl.language.check.report import source_text
from tensat_dl.language.check.variables import Context, Variable, is_upper
from tensat_dl.language.program import Sort
from tensat_dl.syntax import ast


def check_one_run(application: Application, context: Context) -> None:
    """E0309: two starred inputs of one operator, on the left, cannot be told apart."""
    operands = [split_ascription(expr)[0] for expr in application.inputs if expr is not None]
    stars = [operand for operand in operands if isinstance(operand, ast.Star)]
    for extra in stars[1:]:
        context.report.error(
            "E0309",
            f"a pattern of `{application.operator.name}` holds at most one starred input",
            extra.span,
            related=(Label(stars[0].span, "the first one"),),
            help="nothing says where one of them ends: write single inputs instead of it",
        )


def split_ascription(expr: ast.Expr) -> tuple[ast.Expr, ast.TypeExpr | None]:
    """`x: T[M]` as `x` and `T[M]`."""
    return (expr.operand, expr.type) if isinstance(expr, ast.Ascribed) else (expr, None)


def check_varying(application: Application, context: Context) -> ast.Expr | None:
    """The one input of `*F(..)` that varies from element to element (E0418)."""
    given = [expr for expr in application.inputs if expr is not None]
    starred = [expr for expr in given if isinstance(split_ascription(expr)[0], ast.Star)]
    lists = starred or (given if len(given) == 1 else _known_lists(given, context))
    if len(lists) == 1 and isinstance(unstarred(lists[0]), ast.Name | ast.Wildcard):
        return lists[0]
    context.report.error(
        "E0418",
        "exactly one input of `*F(..)` is a list",
        application.call.span,
        label="which input varies?" if not lists else "more than a name varies",
        help=f"star it: `*{application.call.function}(*xs, ..)`",
    )
    return None


def _known_lists(given: list[ast.Expr], context: Context) -> list[ast.Expr]:
    return [expr for expr in given if isinstance(expr, ast.Name) and expr.text in context.starred]


def unstarred(expr: ast.Expr) -> ast.Expr:
    """`x` of `x`, `*x`, `x: T` and `*x: T`."""
    operand = split_ascription(expr)[0]
    return operand.operand if isinstance(operand, ast.Star) else operand


def reject_list_of_inputs(expr: ast.Expr, operator: str, context: Context) -> bool:
    """E0320: `Concat([a, b])`, where the inputs were put into a list; True where that is so."""
    if not isinstance(expr, ast.ListExpr):
        return False
    items = [split_ascription(item)[0] for item in expr.items]
    if not any(_is_tensor(item, context) for item in items):
        return False
    for item in items:
        if isinstance(item, ast.Name):
            context.variables.setdefault(item.text, Variable(Sort.TENSOR, item.span))
    context.report.error(
        "E0320",
        f"`{source_text(expr.span)}` is no tensor: inputs stand one by one",
        expr.span,
        help=f"write `{operator}({', '.join(source_text(item.span) for item in expr.items)}, ..)`",
    )
    return True


def _is_tensor(item: ast.Expr, context: Context) -> bool:
    """A name that is no value of the rule, or an operator of something."""
    if isinstance(item, ast.Call):
        return is_upper(item.function)
    known = context.variables.get(item.text) if isinstance(item, ast.Name) else None
    unknown = isinstance(item, ast.Name) and known is None and not is_upper(item.text)
    return unknown or (known is not None and known.sort is Sort.TENSOR)


def reject_arithmetic(expr: ast.Expr, context: Context) -> None:
    """E0320: an expression where a tensor is needed."""
    operators = {"+": "Add", "-": "Sub", "*": "Mul", "/": "Div", "**": "Pow"}
    help = ""
    if isinstance(expr, ast.Binary) and expr.operator in operators:
        sides = f"{source_text(expr.left.span)}, {source_text(expr.right.span)}"
        help = f"write `{operators[expr.operator]}({sides})`"
    elif isinstance(expr, ast.Binary) and expr.operator == "//":
        help = "a remark begins with `#`"
    context.report.error(
        "E0320",
        f"`{source_text(expr.span)}` is no tensor: tensors are built by operators",
        expr.span,
        help=help,
    )
