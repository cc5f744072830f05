"""Classes, relations, derivations and functions.

Enters: their symbols.  Leaves: what the program holds of them.  Reports E0201, E0211, E0212,
E0317, E0319, E0404, E0413.
"""

from __future__ import annotations

from collections.abc import Iterator

from tensat_dl.diagnostics import Label
from tensat_dl.language import walk
from tensat_dl.language.check.conditions import split_where
from tensat_dl.language.check.expressions import (
    MAX_SIZE,
    PARAMETER_SORTS,
    check_condition,
    check_value,
    report_size,
)
from tensat_dl.language.check.left import LeftSide
from tensat_dl.language.check.names import Kind, Scope, Symbol, report_other_kind
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.check.variables import Context, Declared, Variable, is_upper
from tensat_dl.language.program import Derivation, Function, Relation, Sort
from tensat_dl.sentences import counted, listed
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.left_out import why_left_out
from tensat_dl.vocabulary.operators import Operator

# --- classes --------------------------------------------------------------------------------


def check_class(
    symbol: Symbol, declared: Declared, report: Reporter, around: tuple[Symbol, ...] = ()
) -> tuple[Operator, ...]:
    """Record the operators of a class; members may be classes (`around` are those being read)."""
    if symbol in declared.classes:
        return declared.classes[symbol]
    item = symbol.item
    assert isinstance(item, ast.OperatorClass)
    operators: dict[Operator, ast.Name] = {}
    for member in item.members:
        for operator in _class_member(member, symbol, declared, report, (*around, symbol)):
            operators.setdefault(operator, member)
    _check_same_inputs(operators, report)
    declared.classes[symbol] = tuple(operators)
    return declared.classes[symbol]


def _class_member(
    member: ast.Name,
    symbol: Symbol,
    declared: Declared,
    report: Reporter,
    around: tuple[Symbol, ...],
) -> tuple[Operator, ...]:
    found = symbol.scope.find(member.text)
    declared_names = (*symbol.scope.visible(Kind.OPERATOR, Kind.CLASS),)
    if found is None:
        operator = catalog.operator(member.text)
        if operator is None:
            near = did_you_mean(member.text, (*declared_names, *catalog.names()))
            help = why_left_out(member.text) or near or "`tensat-dl ops` lists the operators"
            report.error("E0202", f"unknown operator `{member.text}`", member.span, help=help)
        return () if operator is None else (operator,)
    if found in declared.operators:
        return (declared.operators[found].operator,)
    if found in around:
        report.error("E0212", f"the class `{member.text}` contains itself", member.span)
    elif found.kind is Kind.CLASS:
        return check_class(found, declared, report, around)
    elif found.kind is not Kind.OPERATOR:
        report_other_kind(found, "an operator", member.span, report, declared_names)
    return ()


def _check_same_inputs(operators: dict[Operator, ast.Name], report: Reporter) -> None:
    first = next(iter(operators), None)
    for operator, member in operators.items():
        assert first is not None
        if _required(operator) != _required(first):
            report.error(
                "E0317",
                f"`{operator.name}` takes {_required(operator)}, "
                f"but `{first.name}` takes {_required(first)}",
                member.span,
                related=(Label(operators[first].span, "the first member"),),
                help="the members of a class stand for each other: make two classes",
            )


def _required(operator: Operator) -> str:
    if operator.is_variadic:
        return "any number of inputs"
    count = sum(not formal.optional for formal in operator.inputs)
    return counted(count, "input")


# --- relations and derivations --------------------------------------------------------------


def check_relation(symbol: Symbol, declared: Declared, report: Reporter) -> None:
    """Record a relation; its columns are `Tensor` or `int`."""
    item = symbol.item
    assert isinstance(item, ast.Relation)
    for parameter in item.parameters:
        if parameter.sort not in ("Tensor", "int") or parameter.optional or parameter.variadic:
            report.error(
                "E0319",
                f"a column of a relation is `Tensor` or `int`, not `{parameter.sort}`",
                parameter.span,
                help=did_you_mean(parameter.sort, ("Tensor", "int")),
            )
    columns = tuple(parameter.sort for parameter in item.parameters)
    declared.relations[symbol] = Relation(symbol.name, columns, item.doc, item.span)


def check_derive(
    item: ast.Derive, scope: Scope, declared: Declared, report: Reporter
) -> Derivation | None:
    """A Horn clause; None where it has errors."""
    errors = report.errors
    context = Context(scope, declared, report, dtypes=frozenset(_dtypes(item)))
    relation = _head_relation(item, context)
    left = LeftSide(context)
    clauses: list[ast.Expr] = []
    for part in item.body:
        if isinstance(part, ast.Statement):
            left.statement(part)
        else:
            clauses.append(part)
    facts, conditions = split_where(clauses, (), context)
    ascriptions = left.finish()
    arguments = _head_arguments(item, relation, context)
    if relation is None or report.errors > errors:
        return None
    return Derivation(
        relation.name,
        arguments,
        tuple(left.matches),
        ascriptions,
        facts,
        conditions,
        item.span,
        context.sorts(),
    )


def _dtypes(item: ast.Derive) -> Iterator[str]:
    for part in item.body:
        expr = part.value if isinstance(part, ast.Statement) else part
        yield from (t.dtype for t in walk.types_in(expr) if is_upper(t.dtype))


def _head_relation(item: ast.Derive, context: Context) -> Relation | None:
    name = item.head.function
    relation = context.relation(name)
    if relation is not None:
        return relation
    if name == "weight":
        message = "`weight` is built in: what depends on initializers only is a weight"
        context.report.error("E0204", message, item.head.function_span)
        return None
    help = did_you_mean(name, context.scope.visible(Kind.RELATION))
    context.report.error(
        "E0201",
        f"unknown relation `{name}`",
        item.head.function_span,
        help=help or f"declare it: `relation {name}(x: Tensor)`",
    )
    return None


def _head_arguments(
    item: ast.Derive, relation: Relation | None, context: Context
) -> tuple[str, ...]:
    head = item.head
    if relation is not None and len(head.args) != len(relation.columns):
        columns_words = counted(len(relation.columns), "column")
        context.report.error(
            "E0312",
            f"`{head.function}` has {columns_words}, not {len(head.args)}",
            head.span,
        )
        return ()
    columns = relation.columns if relation is not None else ("",) * len(head.args)
    pairs = zip(head.args, columns, strict=True)
    return tuple(_head_argument(arg, column, context) for arg, column in pairs)


def _head_argument(arg: ast.Expr, column: str, context: Context) -> str:
    if not isinstance(arg, ast.Name):
        context.report.error("E0413", "a derived fact is about names that the body binds", arg.span)
        return ""
    variable = context.variables.get(arg.text)
    if variable is None:
        context.report.error(
            "E0413",
            f"`{arg.text}` is not bound by the body",
            arg.span,
            help=did_you_mean(arg.text, context.users_names())
            or f"the body binds {listed(context.users_names())}",
        )
    elif column and variable.sort is not (Sort.TENSOR if column == "Tensor" else Sort.VALUE):
        context.report.error(
            "E0408",
            f"`{arg.text}` is {variable.sort.value}; the column is `{column}`",
            arg.span,
            related=(Label(variable.span, "bound here"),),
        )
    return arg.text


# --- functions ------------------------------------------------------------------------------


def check_functions(
    symbols: list[Symbol], declared: Declared, report: Reporter
) -> dict[str, Function]:
    """Every function of the program by its name there; recursion and growth are errors."""
    functions = {symbol.name: _check_function(symbol, declared, report) for symbol in symbols}
    calls = {
        name: [part.function for part in walk.walk(function.body) if isinstance(part, ast.Call)]
        for name, function in functions.items()
    }
    circular = _check_circles(symbols, calls, report)
    sizes: dict[str, int] = {}
    for symbol in symbols:
        if not circular and _size(symbol.name, functions, calls, sizes) > MAX_SIZE:
            report_size(symbol.name, symbol.span, report)
            sizes[symbol.name] = 1  # said once
    return functions


def _check_circles(symbols: list[Symbol], calls: dict[str, list[str]], report: Reporter) -> bool:
    told: set[str] = set()
    for symbol in symbols:
        circle = _circle(symbol.name, calls)
        if circle and symbol.name not in told:
            told.update(circle)
            report.error(
                "E0212",
                f"`{symbol.name}` calls itself",
                symbol.span,
                notes=(" -> ".join(circle),) if len(circle) > 2 else (),
                help="functions are total: use `sum`, `prod`, `range` over lists instead",
            )
    return bool(told)


def _size(
    name: str,
    functions: dict[str, Function],
    calls: dict[str, list[str]],
    sizes: dict[str, int],
) -> int:
    """Nodes of a function's body with all that it calls written out."""
    for callee in calls[name]:
        if callee in functions and callee not in sizes:
            _size(callee, functions, calls, sizes)
    return sizes.setdefault(name, walk.size(functions[name].body, sizes))


def _check_function(symbol: Symbol, declared: Declared, report: Reporter) -> Function:
    item = symbol.item
    assert isinstance(item, ast.Function)
    context = Context(symbol.scope, declared, report, binder="by the parameters")
    for parameter in item.parameters:
        check_sort(parameter, report)
        if parameter.name.text in context.variables:
            message = f"`{parameter.name.text}` is declared twice"
            report.error("E0203", message, parameter.span, help="rename one of them")
        sort = Sort.TENSOR if parameter.sort == "Tensor" else Sort.VALUE
        context.variables[parameter.name.text] = Variable(sort, parameter.name.span)
    if item.result not in (*PARAMETER_SORTS[1:], "bool"):
        known = listed(PARAMETER_SORTS[1:])
        report.error("E0319", f"a function gives {known}", item.name.span)
    check = check_condition if item.result == "bool" else check_value
    body = check(item.body, context)
    return Function(symbol.name, tuple(p.name.text for p in item.parameters), body)


def check_sort(parameter: ast.Parameter, report: Reporter) -> None:
    """E0319: a parameter of an unknown sort."""
    if parameter.sort in PARAMETER_SORTS:
        return
    report.error(
        "E0319",
        f"unknown sort `{parameter.sort}`",
        parameter.span,
        help=did_you_mean(parameter.sort, PARAMETER_SORTS)
        or f"the sorts are {listed(PARAMETER_SORTS)}",
    )


def _circle(start: str, calls: dict[str, list[str]]) -> tuple[str, ...]:
    """A chain of calls from a function back to it, or nothing."""
    chains: list[tuple[str, ...]] = [(start,)]
    seen: set[str] = set()
    for chain in chains:
        for callee in calls.get(chain[-1], ()):
            if callee == start:
                return (*chain, start)
            if callee not in seen:
                seen.add(callee)
                chains.append((*chain, callee))
    return ()
