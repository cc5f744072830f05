"""Attributes on the left: what they bind, what they must equal, what `**rest` captures.

Enters: an application.  Leaves: an :class:`AttributePattern` and the expressions to check once
everything is bound.  Reports E0306, E0307.
"""

from __future__ import annotations

from tensat_dl.language.check.calls import Application
from tensat_dl.language.check.expressions import resolve_functions
from tensat_dl.language.check.variables import Context, Variable, is_upper
from tensat_dl.language.program import AttributePattern, Sort
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.operators import AttributeKind, FormalAttribute
from tensat_dl.vocabulary.written import DTYPE_ATTRIBUTES


def attribute_pattern(application: Application, context: Context) -> AttributePattern:
    """Bind what the attributes bind; a name that is bound already is required."""
    bound: list[tuple[str, str]] = []
    required: list[tuple[str, ast.Expr]] = []
    for formal, keyword in application.attributes:
        name = _bound_name(formal, keyword.value, context)
        if name is not None:
            bound.append((formal.name, name))
            continue
        _check_required(formal, keyword.value, context)
        required.append((formal.name, resolve_functions(keyword.value, context)))
    return AttributePattern(tuple(bound), tuple(required), _rest(application, context))


def _bound_name(formal: FormalAttribute, value: ast.Expr, context: Context) -> str | None:
    """The variable that the attribute binds; None where it must equal something."""
    if isinstance(value, ast.Wildcard):
        return context.fresh(Sort.VALUE, value.span)
    if not isinstance(value, ast.Name) or value.text in context.variables:
        return None
    if dtypes.from_name(value.text) is not None:
        return None
    element_type = formal.name in DTYPE_ATTRIBUTES and is_upper(value.text)
    context.bind(value.text, Sort.DTYPE if element_type else Sort.VALUE, value.span)
    context.variables[value.text].attribute = formal
    return value.text


def _check_required(formal: FormalAttribute, value: ast.Expr, context: Context) -> None:
    if formal.kind is AttributeKind.OTHER and not isinstance(value, ast.Name):
        context.report.error(
            "E0306", f"the attribute `{formal.name}` can only be bound by a name", value.span
        )


def _rest(application: Application, context: Context) -> str | None:
    for extra in application.splats[1:]:
        context.report.error("E0307", "one `**` takes all the attributes not mentioned", extra.span)
        context.variables.setdefault(extra.text, Variable(Sort.ATTRIBUTES, extra.span))
    if not application.splats:
        return None
    splat = application.splats[0]
    mentioned = {formal.name for formal, _ in application.attributes}
    names = {formal.name for formal in application.operator.attributes if not formal.implied}
    if context.bind(splat.text, Sort.ATTRIBUTES, splat.span):
        variable = context.variables[splat.text]
        variable.captures = variable.captures | frozenset(names - mentioned)
    return splat.text
