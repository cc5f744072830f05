"""Expressions over attributes, dims and types: every name bound, every call well-formed.

Enters: an expression in the place of a value or a condition.  Leaves: what it gives, and the
expression with function names resolved.  Reports E0208, E0211, E0311, E0312, E0320, E0404, E0409 to
E0412.
"""

from __future__ import annotations

import itertools

from tensat_dl.diagnostics import Span
from tensat_dl.language import walk
from tensat_dl.language.builtins import BUILTINS, Gives, Takes
from tensat_dl.language.check.names import Kind, Symbol, report_other_kind
from tensat_dl.language.check.report import Reporter, source_text
from tensat_dl.language.check.unbound import PRESENCE, elsewhere, report_member, report_unbound
from tensat_dl.language.check.variables import Context
from tensat_dl.language.program import Sort
from tensat_dl.suggest import closest, did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import catalog, dtypes

_TENSORS = (Sort.TENSOR, Sort.TENSORS)

#: Sorts of a function's parameters; `Tensor` is the only one that takes a tensor.
PARAMETER_SORTS = ("Tensor", "int", "float", "bool", "string", "ints", "floats", "strings", "dtype")

#: Operations in one evaluation.
MAX_SIZE = 10_000

_USES = "an e-class has no stable users: whoever reads a tensor may be rewritten; let cost decide"
_OUTPUTS = "which tensors are graph outputs, and their names, are not part of what they mean"

#: What authors of other rule systems ask for, and why there is no such condition here.
INEXPRESSIBLE = {
    **dict.fromkeys(
        ("used_once", "single_use", "single_user", "one_use", "has_one_use", "hasOneUse"), _USES
    ),
    **dict.fromkeys(("uses", "users", "num_uses", "num_users", "consumers", "fanout"), _USES),
    **dict.fromkeys(("is_output", "graph_output", "is_graph_output", "output"), _OUTPUTS),
    **dict.fromkeys(("name", "node_name", "tensor_name"), _OUTPUTS),
}


def check_value(expr: ast.Expr, context: Context) -> ast.Expr:
    """Check an expression in the place of a value."""
    _check(expr, context)
    return resolve_functions(expr, context)


def check_condition(expr: ast.Expr, context: Context) -> ast.Expr:
    """Check an expression in the place of a condition (E0313 where it gives something else)."""
    _check_holds(expr, context)
    return resolve_functions(expr, context)


def _check_holds(expr: ast.Expr, context: Context) -> None:
    gives = _check(expr, context)
    if gives in (Gives.VALUE, Gives.TYPE):
        context.report.error(
            "E0313",
            "this is not a condition",
            expr.span,
            label=f"gives {gives.value}",
            help="each part is a condition of its own, as in `a == 1 or a == 2`"
            if isinstance(expr, ast.Number | ast.String | ast.ListExpr)
            else f"compare it, for example `{source_text(expr.span)} == 1`",
        )


def resolve_functions(expr: ast.Expr, context: Context) -> ast.Expr:
    """`expr` with user functions under their names in the program."""

    def rename(name: str) -> str:
        symbol = None if name in BUILTINS else context.scope.find(name)
        return symbol.name if symbol is not None and symbol.kind is Kind.FUNCTION else name

    return walk.rename_calls(expr, rename)


def _check(expr: ast.Expr, context: Context) -> Gives | None:
    """Check one expression; what it gives, None where that is open."""
    match expr:
        case ast.Name():
            return _check_name(expr, context, starred=False)
        case ast.Call():
            return _check_call(expr, context)
        case ast.ListExpr():
            return _check_items(expr.items, context)
        case ast.Compare():
            _check_comparison(expr, context)
            return Gives.CONDITION
        case ast.Unary() | ast.Binary():
            return _check_operator(expr, context)
        case ast.IfExpr():
            return _check_if(expr, context)
        case ast.Boolean():
            return Gives.CONDITION
        case ast.Number() | ast.String() | ast.Index() | ast.Slice():
            _check_all(expr, context)
            return None if isinstance(expr, ast.Index) else Gives.VALUE
    context.report.error(
        "E0320",
        f"`{source_text(expr.span)}` cannot stand in an expression",
        expr.span,
        help=_instead(expr),
    )
    return None


def _instead(expr: ast.Expr) -> str:
    """What to write for something that is no value."""
    match expr:
        case ast.Wildcard():
            return "`_` matches anything, and has no value"
        case ast.Maybe(operand=ast.Name(text=name)):
            return PRESENCE.format(name)
    return ""


def _check_all(expr: ast.Expr, context: Context) -> None:
    for child in walk.children(expr):
        _check(child, context)


def _check_comparison(expr: ast.Compare, context: Context) -> None:
    """E0315: an element type compared with a string, which it never equals."""
    _check_all(expr, context)
    sides = list(walk.children(expr))
    for first, second in [*itertools.pairwise(sides), *itertools.pairwise(sides[::-1])]:
        if _is_element_type(first, context) and isinstance(second, ast.String):
            near = closest(second.value, dtypes.names())
            context.report.error(
                "E0315",
                "an element type is no string",
                second.span,
                help=f"write `{near}`" if near else "write for example `f32`",
            )


def _is_element_type(expr: ast.Expr, context: Context) -> bool:
    if isinstance(expr, ast.Call):
        return expr.function == "dtype"
    known = context.variables.get(expr.text) if isinstance(expr, ast.Name) else None
    return known is not None and known.sort is Sort.DTYPE


def _check_items(items: tuple[ast.Expr, ...], context: Context) -> Gives:
    for item in items:
        if not isinstance(item, ast.Star):
            _check(item, context)
        elif isinstance(item.operand, ast.Name):
            _check_name(item.operand, context, starred=True)
        else:
            _check(item.operand, context)
    return Gives.VALUE


def _check_operator(expr: ast.Unary | ast.Binary, context: Context) -> Gives:
    negated_call = isinstance(expr, ast.Unary) and isinstance(expr.operand, ast.Call)
    if expr.operator == "not" and negated_call and _is_fact(expr.operand, context):  # type: ignore[union-attr]
        _report_negated(expr, context)
        return Gives.CONDITION
    if expr.operator not in ("not", "and", "or"):
        _check_all(expr, context)
        return Gives.VALUE
    for operand in walk.children(expr):
        _check_holds(operand, context)
    return Gives.CONDITION


def _check_if(expr: ast.IfExpr, context: Context) -> Gives | None:
    _check(expr.condition, context)
    then, otherwise = _check(expr.then, context), _check(expr.otherwise, context)
    return then if then is otherwise else None


# --- names ----------------------------------------------------------------------------------


def _check_name(expr: ast.Name, context: Context, *, starred: bool) -> Gives | None:
    variable = context.variables.get(expr.text)
    if variable is None:
        if dtypes.from_name(expr.text) is None:
            report_unbound(expr, context)
        return None
    variable.used = True
    if variable.sort in _TENSORS:
        _report_tensor(expr, context)
    elif expr.text in context.members and not starred:
        report_member(expr, context)
    return Gives.VALUE if variable.sort in (Sort.DIMS, Sort.DTYPE) else None


def report_size(name: str, span: Span, report: Reporter) -> None:
    """E0213: what a name stands for has more than `MAX_SIZE` nodes when it is written out."""
    report.error(
        "E0213",
        f"`{name}` grows beyond measure when it is written out",
        span,
        notes=(f"more than {MAX_SIZE:,} operations",),
    )


def _report_tensor(expr: ast.Name, context: Context) -> None:
    context.report.error(
        "E0311",
        f"`{expr.text}` is a tensor; a value is needed here",
        expr.span,
        help=f"write `value({expr.text})`, `shape({expr.text})`, `rank({expr.text})` ..",
    )


# --- calls ----------------------------------------------------------------------------------


def _check_call(call: ast.Call, context: Context) -> Gives | None:
    for keyword in call.keywords:
        context.report.error("E0312", "functions take arguments by position", keyword.span)
    if call.function in BUILTINS:
        return _check_builtin(call, context)
    if _is_fact(call, context):
        _report_fact(call, context)
        return Gives.CONDITION
    symbol = context.scope.find(call.function)
    if symbol is not None and symbol.kind is Kind.FUNCTION:
        return _check_user_function(call, symbol, context)
    _report_no_function(call, symbol, context)
    return None


def _is_fact(call: ast.Expr, context: Context) -> bool:
    return isinstance(call, ast.Call) and context.is_relation(call.function)


def _check_builtin(call: ast.Call, context: Context) -> Gives:
    builtin = BUILTINS[call.function]
    starred = any(isinstance(arg, ast.Star) for arg in call.args)
    if not builtin.accepts(len(call.args)) and not starred:
        _report_count(call, builtin.signature, context)
        return builtin.gives
    if call.function == "len":
        _check_length(call, context)
    takes = builtin.takes + (builtin.takes[-1],) * len(call.args)
    for arg, kind in zip(call.args, takes, strict=False):
        _check_argument(arg, kind, call, context)
    return builtin.gives


def _check_length(call: ast.Call, context: Context) -> None:
    """E0311: a list of tensors has a length, a tensor a rank and dims."""
    name = call.args[0]
    known = context.variables.get(name.text) if isinstance(name, ast.Name) else None
    if known is None or known.sort is not Sort.TENSOR or source_text(name.span) in context.members:
        return
    context.report.error(
        "E0311",
        f"`{source_text(name.span)}` is one tensor, and has no length",
        call.span,
        help=f"write `rank({source_text(name.span)})`, `dim({source_text(name.span)}, 0)` ..",
    )


def _check_user_function(call: ast.Call, symbol: Symbol, context: Context) -> Gives | None:
    function = symbol.item
    assert isinstance(function, ast.Function)
    if len(call.args) != len(function.parameters):
        _report_count(call, _signature(function), context)
    for arg, parameter in zip(call.args, function.parameters, strict=False):
        kind = Takes.TENSOR if parameter.sort == "Tensor" else Takes.VALUE
        _check_argument(arg, kind, call, context)
    return Gives.CONDITION if function.result == "bool" else Gives.VALUE


def _signature(function: ast.Function) -> str:
    parameters = ", ".join(f"{p.name.text}: {p.sort}" for p in function.parameters)
    return f"fn {function.name.text}({parameters}) -> {function.result}"


def _check_argument(arg: ast.Expr, kind: Takes, call: ast.Call, context: Context) -> None:
    variable = context.variables.get(arg.text) if isinstance(arg, ast.Name) else None
    if variable is not None and variable.sort in _TENSORS and kind is not Takes.VALUE:
        variable.used = True
        return
    if kind is not Takes.TENSOR:
        _check_items((arg,), context)
        return
    if isinstance(arg, ast.Name) and variable is None:
        report_unbound(arg, context)
        return
    context.report.error(
        "E0311",
        f"`{call.function}` takes a tensor here",
        arg.span,
        label="not the name of a tensor",
    )


def _report_count(call: ast.Call, signature: str, context: Context) -> None:
    context.report.error(
        "E0312",
        f"`{call.function}` does not take {len(call.args)} argument"
        + ("s" if len(call.args) != 1 else ""),
        call.span,
        notes=(signature,),
        help="write `dim(x, 0)` for one dim" if call.function == "shape" else "",
    )


def _report_no_function(call: ast.Call, symbol: Symbol | None, context: Context) -> None:
    name = call.function
    if name in INEXPRESSIBLE:
        context.report.error(
            "E0411",
            f"`{name}` cannot be asked of an e-graph",
            call.span,
            notes=(INEXPRESSIBLE[name],),
            help="leave the condition out",
        )
        return
    if dtypes.from_name(name) is not None or catalog.operator(name) is not None:
        help = "in an expression, write the number or list itself"
        if dtypes.from_name(name) is None:
            help = "conditions ask about types and values; match the operator in the pattern"
        context.report.error("E0311", f"`{name}(..)` is a tensor", call.span, help=help)
        return
    declared = (*context.scope.visible(Kind.FUNCTION, Kind.RELATION),)
    if symbol is not None:
        report_other_kind(symbol, "a function", call.function_span, context.report, declared)
        return
    candidates = (*BUILTINS, "weight", *declared)
    there_are = f"there are {', '.join(candidates)}"
    help = elsewhere(name, context) or did_you_mean(name, candidates) or there_are
    context.report.error("E0208", f"unknown function `{name}`", call.function_span, help=help)


def _report_fact(call: ast.Call, context: Context) -> None:
    context.report.error(
        "E0410",
        f"`{call.function}` is a relation and cannot be part of a condition",
        call.span,
        notes=("facts are derived as the exploration goes: only their presence means something",),
        help=f"let it stand by itself: `where {source_text(call.span)}, ..`; "
        "for `or`, write a rule for each case",
    )


def _report_negated(expr: ast.Unary | ast.Binary, context: Context) -> None:
    context.report.error(
        "E0409",
        "`not` cannot stand on a relation",
        expr.span,
        notes=("a fact that is absent now may be derived later: the answer would depend on when",),
        help="define a relation for the opposite, and derive that",
    )
