"""Applications of operators: which operator, which inputs, which attributes.

Enters: a call in the place of a tensor, on either side of a rule.  Leaves: an
:class:`Application` with inputs by position and attributes by name.  Reports E0202, E0301 to
E0305, E0307, E0309, E0314, and E0311 for a function where an operator is needed.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.diagnostics import Label, Span
from tensat_dl.language.builtins import BUILTINS
from tensat_dl.language.check.attributes import check_kind, example
from tensat_dl.language.check.names import Kind, Symbol, report_other_kind
from tensat_dl.language.check.report import source_text
from tensat_dl.language.check.variables import Context, is_upper
from tensat_dl.sentences import counted, listed
from tensat_dl.suggest import closest, did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.left_out import why_left_out
from tensat_dl.vocabulary.operators import Formal, FormalAttribute, Operator
from tensat_dl.vocabulary.signature import signature


@dataclass(frozen=True)
class Application:
    """A call as its operator sees it.

    `inputs`: by position, None where left out; starred and repeated ones at the end for a
    variadic operator.  `formals`: the formal input of each.
    """

    operator: Operator
    inputs: tuple[ast.Expr | None, ...]
    formals: tuple[Formal, ...]
    attributes: tuple[tuple[FormalAttribute, ast.Keyword], ...]
    splats: tuple[ast.Name, ...]
    call: ast.Call


def resolve(call: ast.Call, context: Context, *, elementwise: bool = False) -> Application | None:
    """Look the operator up and sort its arguments; None where that went wrong (reported).

    `elementwise`: the call stands in `*F(..)`, where a star marks the input that varies.
    """
    operator = find_operator(call, context)
    if operator is None:
        return None
    errors = context.report.errors
    attributes, named = _keywords(call, operator, context)
    by_position = _check_positions(call, operator, context)
    if not elementwise and _has_wrong_star(call, operator, context):
        return None
    inputs = _place_inputs(call, operator, named, context)
    if not by_position:
        _check_required(call, operator, attributes, context)
    if context.report.errors > errors:
        return None
    formals = tuple(operator.inputs[min(i, len(operator.inputs) - 1)] for i in range(len(inputs)))
    return Application(operator, inputs, formals, attributes, call.splats, call)


def find_operator(call: ast.Call, context: Context) -> Operator | None:
    """The operator that a call names; None after reporting why there is none."""
    if call.domain is None and call.function in context.operators:
        return context.operators[call.function]
    symbol = context.scope.find(call.function)
    if symbol is not None and (call.domain is None or _domain(symbol) == call.domain):
        custom = context.declared.operators.get(symbol)
        if custom is not None:
            return custom.operator
        if symbol.kind is not Kind.OPERATOR:
            _report_kind(call, symbol, context)
        return None
    operator = catalog.operator(call.function, call.domain or "")
    if operator is None:
        _report_unknown(call, context)
    return operator


def _domain(symbol: Symbol) -> str | None:
    return symbol.item.domain if isinstance(symbol.item, ast.Operator) else None


def _report_kind(call: ast.Call, symbol: Symbol, context: Context) -> None:
    names = context.scope.visible(Kind.OPERATOR)
    report_other_kind(symbol, "an operator", call.function_span, context.report, names)


def _report_unknown(call: ast.Call, context: Context) -> None:
    name = call.function
    if call.domain is None and (name in BUILTINS or context.is_relation(name)):
        context.report.error(
            "E0311",
            f"`{name}` does not give a tensor",
            call.function_span,
            label="an operator is needed here",
            help=f"conditions such as `{name}(..)` stand in `where`",
        )
        return
    if call.domain is None and is_upper(name) and _is_literal(call.args):
        context.report.error(
            "E0401",
            f"the element type `{name}` is not bound on the left",
            call.function_span,
            help=f"state it of an input, as in `x: {name}`, or write `f32(..)`, `i64(..)`",
        )
        return
    shown = name if call.domain is None else f'"{call.domain}"::{name}'
    candidates = [*context.operators, *context.scope.visible(Kind.OPERATOR)]
    reason = ""
    if call.domain is None:
        candidates += catalog.names()
        reason = why_left_out(name)
    help = reason or did_you_mean(name, candidates) or _declare_help(shown)
    context.report.error("E0202", f"unknown operator `{shown}`", call.function_span, help=help)


def _is_literal(args: tuple[ast.Expr, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], ast.Number | ast.ListExpr | ast.Unary)


def _declare_help(shown: str) -> str:
    if shown.startswith('"'):
        return f"declare it: `op {shown}(x: Tensor) -> y: Tensor {{ since 1  infer y = like(x) }}`"
    domain, dot, operator = shown.rpartition(".")
    if dot:
        written = f'"{domain}"::{operator}(..)'
        return f"an operator of another domain is declared, and written `{written}`"
    return "`tensat-dl ops` lists the operators"


def _keywords(
    call: ast.Call, operator: Operator, context: Context
) -> tuple[tuple[tuple[FormalAttribute, ast.Keyword], ...], dict[int, ast.Keyword]]:
    """Keywords that are attributes, and those that name an input, by its position."""
    attributes: list[tuple[FormalAttribute, ast.Keyword]] = []
    named: dict[int, ast.Keyword] = {}
    seen: dict[str, ast.Keyword] = {}
    for keyword in call.keywords:
        if keyword.name in seen:
            _report_twice(keyword, seen[keyword.name].span, context)
            continue
        seen[keyword.name] = keyword
        formal = operator.attribute(keyword.name)
        position = _input_position(operator, keyword.name)
        if formal is not None:
            attributes.append((formal, keyword))
            _check_attribute(keyword, formal, operator, context)
        elif position is not None:
            named[position] = keyword
        else:
            _report_attribute(keyword, operator, context)
    return tuple(attributes), named


def _input_position(operator: Operator, name: str) -> int | None:
    for position, formal in enumerate(operator.inputs):
        if formal.name.lower() == name and not formal.variadic:
            return position
    return None


def _report_twice(keyword: ast.Keyword, first: Span, context: Context) -> None:
    context.report.error(
        "E0307",
        f"`{keyword.name}` is given twice",
        keyword.span,
        related=(Label(first, "given here first"),),
    )


def _check_attribute(
    keyword: ast.Keyword, formal: FormalAttribute, operator: Operator, context: Context
) -> None:
    if not formal.implied:
        check_kind(keyword, formal, operator, context)
        return
    context.report.error(
        "E0314",
        f"`{formal.name}` of `{operator.name}` follows from its inputs and is no attribute here",
        keyword.span,
        help="state the shape instead, for example `w: T[_, _, 3, 3]`",
    )


def _report_attribute(keyword: ast.Keyword, operator: Operator, context: Context) -> None:
    names = [formal.name for formal in operator.attributes if not formal.implied]
    inputs = [formal.name.lower() for formal in operator.inputs if not formal.variadic]
    help = did_you_mean(keyword.name, (*names, *inputs))
    if not help:
        help = f"its attributes are {listed(names)}" if names else "it has no attributes"
    context.report.error(
        "E0302",
        f"`{operator.name}` has no attribute `{keyword.name}`",
        Span(keyword.span.file, keyword.span.start, keyword.span.start + len(keyword.name)),
        notes=(signature(operator),),
        help=help,
    )


def _check_positions(call: ast.Call, operator: Operator, context: Context) -> bool:
    """Report too many inputs; True where one of them was meant as an attribute."""
    extra = _beyond_inputs(call, operator)
    if extra is None:
        return False
    meant = _meant_attribute(extra, call, operator)
    if meant is not None:
        context.report.error(
            "E0305",
            f"attributes of `{operator.name}` are given by name",
            extra.span,
            label="an attribute, by position",
            notes=(signature(operator),),
            help=f"write `{meant}={source_text(extra.span)}`",
        )
        return True
    if operator.is_variadic:
        return False
    count = len(operator.inputs)
    context.report.error(
        "E0303",
        f"`{operator.name}` takes {_at_most(operator)}, not {len(call.args)}",
        extra.span,
        label=f"input {count + 1}",
        notes=(signature(operator),),
        help="remove it; `tensat-dl ops` shows what each operator takes",
    )
    return False


def _at_most(operator: Operator) -> str:
    count = len(operator.inputs)
    bound = "at most " if operator.min_inputs < count else ""
    return f"{bound}{counted(count, 'input')}"


def _beyond_inputs(call: ast.Call, operator: Operator) -> ast.Expr | None:
    """The first argument that no formal input takes, or the last literal of a variadic one."""
    if not operator.is_variadic:
        return call.args[len(operator.inputs)] if len(call.args) > len(operator.inputs) else None
    last = call.args[-1] if call.args else None
    return last if isinstance(last, ast.Number | ast.String | ast.ListExpr) else None


def _meant_attribute(extra: ast.Expr, call: ast.Call, operator: Operator) -> str | None:
    """The attribute that a literal beyond the inputs was meant for."""
    if not isinstance(extra, ast.Number | ast.String | ast.ListExpr | ast.Boolean | ast.Unary):
        return None
    given = {keyword.name for keyword in call.keywords}
    missing = [a for a in operator.attributes if a.name not in given and not a.implied]
    required = [a.name for a in missing if a.required]
    if required or operator.is_variadic:
        return required[0] if required else None
    return missing[0].name if missing else None


def _place_inputs(
    call: ast.Call, operator: Operator, named: dict[int, ast.Keyword], context: Context
) -> tuple[ast.Expr | None, ...]:
    formals = operator.inputs
    if operator.is_variadic:
        _check_variadic(call, operator, context)
        return call.args
    inputs: list[ast.Expr | None] = [*call.args[: len(formals)]]
    inputs += [None] * (len(formals) - len(inputs))
    for position, keyword in named.items():
        if inputs[position] is not None:
            _report_twice(keyword, call.args[position].span, context)
        inputs[position] = keyword.value
    pairs = zip(formals, inputs, strict=True)
    missing = tuple(f.name for f, given in pairs if given is None and not f.optional)
    if missing:
        _report_missing(call, operator, missing, context)
    return tuple(inputs)


def _check_variadic(call: ast.Call, operator: Operator, context: Context) -> None:
    required = [formal.name for formal in operator.inputs if not formal.optional]
    starred = any(isinstance(_bare(arg), ast.Star) for arg in call.args)
    missing = tuple(required[len(call.args) :])
    if missing and not starred:
        _report_missing(call, operator, missing, context)


def _has_wrong_star(call: ast.Call, operator: Operator, context: Context) -> bool:
    first = len(operator.inputs) - 1 if operator.is_variadic else len(call.args)
    wrong = [arg for arg in call.args[:first] if isinstance(_bare(arg), ast.Star)]
    for arg in wrong:
        context.report.error(
            "E0309",
            f"`{operator.name}` takes no list of inputs here",
            arg.span,
            label="starred",
            notes=(signature(operator),),
            help=_star_help(arg, call, operator) or "write its inputs one by one",
        )
    return bool(wrong)


def _star_help(arg: ast.Expr, call: ast.Call, operator: Operator) -> str:
    """`Conv(x, w, *attrs)` was meant to take all attributes."""
    if arg is not call.args[-1] or not operator.attributes or call.splats:
        return ""
    return f"all attributes are taken with two stars: `*{source_text(arg.span)}`"


def _bare(expr: ast.Expr) -> ast.Expr:
    return expr.operand if isinstance(expr, ast.Ascribed) else expr


def _report_missing(
    call: ast.Call, operator: Operator, missing: tuple[str, ...], context: Context
) -> None:
    plural = "s" if len(missing) > 1 else ""
    context.report.error(
        "E0304",
        f"`{operator.name}` needs the input{plural} {listed(missing)}",
        call.span,
        label=f"{len(call.args)} given",
        notes=(signature(operator),),
        help=f"add {listed(name.lower() for name in missing)}; `_` on the left matches any tensor",
    )


def _check_required(
    call: ast.Call,
    operator: Operator,
    attributes: tuple[tuple[FormalAttribute, ast.Keyword], ...],
    context: Context,
) -> None:
    given = {formal.name for formal, _ in attributes}
    missing = [a for a in operator.attributes if a.required and a.name not in given]
    if not missing or call.splats:
        return
    near = [closest(keyword.name, [a.name for a in missing]) for keyword in call.keywords]
    if any(name is not None for name in near):
        return  # a misspelt attribute, reported as unknown
    text = source_text(call.span)[:-1]
    separator = "" if text.endswith("(") else ", "
    written = ", ".join(f"{formal.name}={example(formal)}" for formal in missing)
    plural = "s" if len(missing) > 1 else ""
    context.report.error(
        "E0301",
        f"`{operator.name}` needs the attribute{plural} {listed(a.name for a in missing)}",
        call.span,
        label="no " + ", ".join(f"`{formal.name}=`" for formal in missing),
        notes=(signature(operator),),
        help=f"write `{text}{separator}{written})`",
    )
