"""Cost models of rule files.  Reports E0202, E0203, E0404 and what expressions report."""

from __future__ import annotations

from tensat_dl.language.check.expressions import check_value
from tensat_dl.language.check.names import Kind, Symbol
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.check.variables import Context, Declared, Variable
from tensat_dl.language.program import CostModel, Sort
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.left_out import why_left_out
from tensat_dl.vocabulary.operators import Formal, Operator

_OTHERS = "by `_`, the row of all other operators: it names no tensor"


def check_cost_model(symbol: Symbol, declared: Declared, report: Reporter) -> CostModel:
    """Rows by operator; in each, the formal names of inputs and outputs in lower case."""
    item = symbol.item
    assert isinstance(item, ast.CostModel)
    rows: dict[str, ast.Expr] = {}
    default: ast.Expr | None = None
    seen: set[str] = set()
    for row in item.rows:
        name = row.operator.text
        if name in seen:
            message = f"`{name}` has two rows"
            report.error("E0203", message, row.operator.span, help="remove one of them")
        seen.add(name)
        operator = None if name == "_" else _operator(row.operator, symbol, declared, report)
        if operator is None and name != "_":
            continue
        binder = f"by the inputs and outputs of `{name}`" if operator else _OTHERS
        variables = _formals(operator, row)
        context = Context(symbol.scope, declared, report, variables=variables, binder=binder)
        value = check_value(row.value, context)
        if operator is None:
            default = value
        else:
            rows[operator.qualified_name] = value
    return CostModel(symbol.name, rows, default, item.doc)


def _operator(
    name: ast.Name, symbol: Symbol, declared: Declared, report: Reporter
) -> Operator | None:
    found = symbol.scope.find(name.text)
    custom = declared.operators.get(found) if found is not None else None
    operator = catalog.operator(name.text) if custom is None else custom.operator
    if operator is None:
        candidates = (*symbol.scope.visible(Kind.OPERATOR), *catalog.names())
        near = did_you_mean(name.text, candidates)
        help = why_left_out(name.text) or near or "`tensat-dl ops` lists the operators"
        report.error("E0202", f"unknown operator `{name.text}`", name.span, help=help)
    return operator


def _formals(operator: Operator | None, row: ast.CostRow) -> dict[str, Variable]:
    if operator is None:
        return {}
    formals = (*operator.inputs, *operator.outputs)
    return {formal.name.lower(): _variable(formal, row) for formal in formals}


def _variable(formal: Formal, row: ast.CostRow) -> Variable:
    sort = Sort.TENSORS if formal.variadic else Sort.TENSOR
    return Variable(sort, row.operator.span, optional=formal.optional)
