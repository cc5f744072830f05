"""Operators that a rule file declares: of another domain, or virtual with a lowering.

Enters: the symbol of an `op`.  Leaves: a :class:`CustomOperator`.  The operator is known (to
rules, to other lowerings) before its clauses are checked.  Reports E0202, E0203, E0306, E0310,
E0318, E0319, E0402.
"""

from __future__ import annotations

from dataclasses import replace

from tensat_dl.language.check.assignments import Assignments
from tensat_dl.language.check.attributes import fits
from tensat_dl.language.check.declarations import check_sort
from tensat_dl.language.check.expressions import check_value
from tensat_dl.language.check.names import Kind, Symbol
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.check.right import RightSide
from tensat_dl.language.check.variables import Context, Declared, Variable
from tensat_dl.language.program import CustomOperator, Lowering, Sort
from tensat_dl.language.sides import emitted_operators
from tensat_dl.sentences import listed
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.left_out import why_left_out
from tensat_dl.vocabulary.operators import (
    AttributeKind,
    Formal,
    FormalAttribute,
    Operator,
    OperatorKind,
)

#: The domain of virtual operators that name none.
VIRTUAL_DOMAIN = "tensat.virtual"

#: Where an operator that ONNX lacks cannot be.
_STANDARD_DOMAINS = frozenset({"", "ai.onnx"})

_KINDS = {
    "int": AttributeKind.INT,
    "bool": AttributeKind.INT,
    "dtype": AttributeKind.INT,
    "float": AttributeKind.FLOAT,
    "string": AttributeKind.STRING,
    "ints": AttributeKind.INTS,
    "floats": AttributeKind.FLOATS,
    "strings": AttributeKind.STRINGS,
}


def declare_operator(
    symbol: Symbol, declared: Declared, report: Reporter, around: tuple[Symbol, ...] = ()
) -> None:
    """Make the operator known, without its clauses, and first the one whose attributes it takes."""
    item = _item(symbol)
    if symbol in declared.operators:
        return
    _declare_source(symbol, declared, report, (*around, symbol))
    if item.domain is None and not item.lower:
        report.error(
            "E0318",
            f"`{symbol.name}` has neither a domain nor a lowering",
            item.name.span,
            help=f'write `op "com.acme"::{item.name.text}(..)`, or a `lower` clause in terms of '
            "other operators",
        )
    virtual = bool(item.lower)
    inputs = [p for p in item.parameters if p.sort == "Tensor"]
    own = tuple(_attribute(p, report) for p in item.parameters if p.sort != "Tensor")
    operator = Operator(
        domain=item.domain or VIRTUAL_DOMAIN,
        name=item.name.text,
        kind=OperatorKind.VIRTUAL if virtual else OperatorKind.CUSTOM,
        inputs=tuple(_formal(p) for p in inputs),
        outputs=tuple(_formal(p) for p in item.outputs),
        attributes=own + _taken_over(symbol, declared, report),
        since=item.since,
        min_inputs=sum(not (p.optional or p.variadic) for p in inputs),
        min_outputs=sum(not (p.optional or p.variadic) for p in item.outputs),
    )
    _check_parameters(item, operator, report)
    declared.operators[symbol] = CustomOperator(operator, None, (), None)


def _declare_source(
    symbol: Symbol, declared: Declared, report: Reporter, around: tuple[Symbol, ...]
) -> None:
    name = _item(symbol).attributes_of
    source = None if name is None else symbol.scope.find(name.text)
    if name is None or source is None or source.kind is not Kind.OPERATOR:
        return
    if source in around:
        report.error("E0212", "an operator cannot take over its own attributes", name.span)
    else:
        declare_operator(source, declared, report, around)


def complete_operator(symbol: Symbol, declared: Declared, report: Reporter) -> None:
    """Check the clauses: type, cost, lowering."""
    item = _item(symbol)
    known = declared.operators[symbol]
    infer = _check_infer(symbol, known.operator, declared, report)
    cost = _check_cost(symbol, known.operator, declared, report)
    lowering = _check_lowering(symbol, declared, report) if item.lower else None
    declared.operators[symbol] = replace(known, infer=infer, cost=cost, lowering=lowering)


def check_lowerings_end(declared: Declared, report: Reporter) -> None:
    """E0212: a virtual operator that is lowered to itself."""
    by_operator = {custom.operator: symbol for symbol, custom in declared.operators.items()}
    for symbol, custom in declared.operators.items():
        if _reaches(custom, custom.operator, by_operator, declared):
            report.error(
                "E0212",
                f"`{custom.operator.name}` is lowered to itself",
                symbol.span,
                help="a lowering says in other operators what this one computes",
            )


def _reaches(
    custom: CustomOperator,
    goal: Operator,
    by_operator: dict[Operator, Symbol],
    declared: Declared,
) -> bool:
    seen: set[Operator] = set()
    waiting = _used(custom)
    while waiting:
        operator = waiting.pop()
        if operator == goal:
            return True
        if operator not in seen and operator in by_operator:
            seen.add(operator)
            waiting += _used(declared.operators[by_operator[operator]])
    return False


def _used(custom: CustomOperator) -> list[Operator]:
    emits = () if custom.lowering is None else custom.lowering.emits
    return [operator for emit in emits for operator in emitted_operators(emit.term)]


def _item(symbol: Symbol) -> ast.Operator:
    assert isinstance(symbol.item, ast.Operator)
    return symbol.item


# --- parameters -----------------------------------------------------------------------------


def _formal(parameter: ast.Parameter) -> Formal:
    optional = parameter.optional or parameter.variadic
    return Formal(parameter.name.text, optional, parameter.variadic, "T")


def _attribute(parameter: ast.Parameter, report: Reporter) -> FormalAttribute:
    check_sort(parameter, report)
    default = None if parameter.default is None else _constant(parameter.default)
    if parameter.default is not None and default is None:
        report.error("E0306", "a default is a literal", parameter.default.span)
    required = parameter.default is None and not parameter.optional
    kind = _KINDS.get(parameter.sort, AttributeKind.OTHER)
    if parameter.default is not None and default is not None and not fits(parameter.default, kind):
        report.error(
            "E0306",
            f"the default of `{parameter.name.text}` is no `{parameter.sort}`",
            parameter.default.span,
        )
    if kind is AttributeKind.FLOAT and isinstance(default, int):
        default = float(default)
    return FormalAttribute(parameter.name.text, kind, default, required)


def _constant(expr: ast.Expr) -> AttributeValue | None:
    match expr:
        case ast.Number() | ast.String():
            return expr.value
        case ast.Boolean():
            return int(expr.value)
        case ast.Unary(operator="-", operand=ast.Number() as number):
            return -number.value
        case ast.ListExpr():
            items = tuple(_constant(item) for item in expr.items)
            return None if None in items else items  # type: ignore[return-value]
    return None


def _taken_over(
    symbol: Symbol, declared: Declared, report: Reporter
) -> tuple[FormalAttribute, ...]:
    name = _item(symbol).attributes_of
    if name is None:
        return ()
    found = symbol.scope.find(name.text)
    if found is not None and found.kind is Kind.OPERATOR:
        custom = declared.operators.get(found)
        return () if custom is None else custom.operator.attributes
    operator = catalog.operator(name.text)
    if operator is not None:
        return operator.attributes
    candidates = (*symbol.scope.visible(Kind.OPERATOR), *catalog.names())
    help = why_left_out(name.text) or did_you_mean(name.text, candidates)
    report.error("E0202", f"unknown operator `{name.text}`", name.span, help=help)
    return ()


def _check_parameters(item: ast.Operator, operator: Operator, report: Reporter) -> None:
    seen: set[str] = set()
    for parameter in (*item.parameters, *item.outputs):
        if parameter.name.text in seen:
            report.error("E0203", f"`{parameter.name.text}` is declared twice", parameter.name.span)
        seen.add(parameter.name.text)
    for output in item.outputs:
        if output.sort != "Tensor":
            report.error("E0319", "an output is a `Tensor`", output.span)
    for early, late in zip(operator.inputs, operator.inputs[1:], strict=False):
        if early.variadic or (early.optional and (late.variadic or not late.optional)):
            report.error(
                "E0318",
                f"`{late.name}` cannot follow `{early.name}`",
                item.name.span,
                help="optional inputs come after the others, a starred one comes last, "
                "and not both",
            )
    starred = next((output for output in item.outputs if output.variadic), None)
    if item.lower and starred is not None:
        report.error(
            "E0318",
            f"`{starred.name.text}` is a list of outputs, which a lowering cannot assign",
            starred.span,
            help="name each output, or give the operator a domain and `infer` instead of `lower`",
        )
    _check_identity(item, report)


def _check_identity(item: ast.Operator, report: Reporter) -> None:
    """The domain and the version must be ones that a model can import."""
    if item.domain is not None and (item.domain in _STANDARD_DOMAINS or not _plain(item.domain)):
        reason = "is ONNX's own" if item.domain in _STANDARD_DOMAINS else "is no name"
        report.error(
            "E0318",
            f'the domain "{item.domain}" {reason}',
            item.name.span,
            help=f'write for example `op "com.acme"::{item.name.text}(..)`',
        )
    if not 1 <= item.since < 2**31:
        report.error(
            "E0318",
            f"`since {item.since}` is no version of a domain",
            item.span,
            help="write `since 1`",
        )


def _plain(domain: str) -> bool:
    return domain.isprintable() and not domain.isspace()


# --- clauses --------------------------------------------------------------------------------


def _clause_context(
    symbol: Symbol, operator: Operator, declared: Declared, report: Reporter, outputs: bool
) -> Context:
    context = Context(symbol.scope, declared, report, binder="by the parameters")
    item = _item(symbol)
    formals = (*item.parameters, *(item.outputs if outputs else ()))
    for parameter in formals:
        tensor = parameter.sort == "Tensor"
        sort = Sort.VALUE
        if tensor:
            sort = Sort.TENSORS if parameter.variadic else Sort.TENSOR
        context.variables[parameter.name.text] = Variable(
            sort, parameter.name.span, optional=tensor and parameter.optional
        )
    for formal in operator.attributes:
        context.variables.setdefault(formal.name, Variable(Sort.VALUE, item.name.span))
    return context


def _check_infer(
    symbol: Symbol, operator: Operator, declared: Declared, report: Reporter
) -> tuple[tuple[str, ast.Expr], ...]:
    item = _item(symbol)
    names = [output.name.text for output in item.outputs]
    given: dict[str, ast.Expr] = {}
    for statement in item.infer:
        name = statement.targets[0].text
        if len(statement.targets) != 1 or name not in names or name in given:
            report.error(
                "E0318",
                f"`infer` gives each output its type once; the outputs are {listed(names)}",
                statement.span,
            )
            continue
        context = _clause_context(symbol, operator, declared, report, outputs=False)
        given[name] = _check_type(statement.value, context)
    missing = [name for name in names if name not in given]
    if missing and not item.lower:
        report.error(
            "E0318",
            f"`{symbol.name}` does not say what type {listed(missing)} has",
            item.name.span,
            help=f"write `infer {missing[0]} = like(..)`, or `infer {missing[0]}: f32[..]`",
        )
    return tuple(given.items())


def _check_type(value: ast.Expr, context: Context) -> ast.Expr:
    if not isinstance(value, ast.Ascribed):
        return check_value(value, context)
    for dim in value.type.dims or ():
        if not isinstance(dim, ast.Wildcard):
            operand = dim.operand if isinstance(dim, ast.Star) else dim
            check_value(operand, context)
    return value


def _check_cost(
    symbol: Symbol, operator: Operator, declared: Declared, report: Reporter
) -> ast.Expr | None:
    item = _item(symbol)
    if item.cost is None:
        return None
    return check_value(item.cost, _clause_context(symbol, operator, declared, report, outputs=True))


def _check_lowering(symbol: Symbol, declared: Declared, report: Reporter) -> Lowering:
    item = _item(symbol)
    operator = declared.operators[symbol].operator
    context = _clause_context(symbol, operator, declared, report, outputs=False)
    spread = item.attributes_of
    if spread is not None:
        captured = frozenset(formal.name for formal in _taken_over(symbol, declared, report))
        context.variables[spread.text] = Variable(
            Sort.ATTRIBUTES, spread.span, captures=captured - _implied(operator)
        )
    outputs = {output.name.text: output.name.span for output in item.outputs}
    right = RightSide(context, Assignments(context, outputs, "lower", "the operator"))
    for statement in item.lower:
        right.statement(statement)
    right.assignments.finish()
    return Lowering(
        tuple(right.emits),
        tuple(formal.name for formal in operator.outputs),
        None if spread is None else spread.text,
    )


def _implied(operator: Operator) -> frozenset[str]:
    return frozenset(formal.name for formal in operator.attributes if formal.implied)
