"""`where` and `let`: facts, which bind; conditions, which only ask; names for values.

Enters: the clauses of a rule or the body of a derivation, after its patterns.  Leaves: facts,
conditions and lets.  Reports E0312, E0311, E0404, E0417.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensat_dl.diagnostics import Label
from tensat_dl.language import walk
from tensat_dl.language.check.expressions import (
    MAX_SIZE,
    check_condition,
    check_value,
    report_size,
)
from tensat_dl.language.check.unbound import report_unbound
from tensat_dl.language.check.variables import Context
from tensat_dl.language.program import Fact, Relation, Sort
from tensat_dl.sentences import counted
from tensat_dl.syntax import ast


def split_where(
    clauses: Iterable[ast.Expr], lets: tuple[ast.Let, ...], context: Context
) -> tuple[tuple[Fact, ...], tuple[ast.Expr, ...]]:
    """Facts and conditions; a condition that names a `let` has it written out."""
    parts = [part for clause in clauses for part in _conjuncts(clause)]
    calls = [part for part in parts if _is_fact(part, context)]
    facts = [_fact(call, context) for call in calls if isinstance(call, ast.Call)]
    values = _let_values(lets, context)
    conditions = tuple(
        check_condition(walk.replace_names(part, values), context)
        for part in parts
        if not _is_fact(part, context)
    )
    return tuple(fact for fact in facts if fact is not None), conditions


def check_lets(lets: tuple[ast.Let, ...], context: Context) -> tuple[tuple[str, ast.Expr], ...]:
    """Bind each name to its value; a `let` sees those before it."""
    checked = []
    for let in lets:
        value = check_value(let.value, context)
        earlier = context.variables.get(let.name.text)
        if earlier is not None:
            context.report.error(
                "E0417",
                f"`{let.name.text}` is already bound",
                let.name.span,
                related=(Label(earlier.span, "bound here"),),
                help="a `let` gives a new name; to compare, write `where a == b`",
            )
            continue
        context.bind(let.name.text, Sort.VALUE, let.name.span)
        checked.append((let.name.text, value))
    return tuple(checked)


def _let_values(lets: tuple[ast.Let, ...], context: Context) -> dict[str, ast.Expr]:
    values: dict[str, ast.Expr] = {}
    sizes: dict[str, int] = {}
    for let in lets:
        name = let.name.text
        sizes[name] = walk.size(let.value, sizes)
        values[name] = walk.replace_names(let.value, values)
        if sizes[name] > MAX_SIZE:
            report_size(name, let.value.span, context.report)
            sizes[name], values[name] = 1, ast.Number(0, let.value.span)
    return values


def _conjuncts(expr: ast.Expr) -> Iterator[ast.Expr]:
    if isinstance(expr, ast.Binary) and expr.operator == "and":
        yield from _conjuncts(expr.left)
        yield from _conjuncts(expr.right)
    else:
        yield expr


def _is_fact(expr: ast.Expr, context: Context) -> bool:
    return isinstance(expr, ast.Call) and context.is_relation(expr.function)


def _fact(call: ast.Call, context: Context) -> Fact | None:
    relation = context.relation(call.function)
    columns = ("Tensor",) if call.function == "weight" else relation.columns if relation else None
    if columns is None:
        return None  # a relation with errors of its own
    if len(call.args) != len(columns) or call.keywords or call.splats:
        _report_arity(call, relation, context)
        return None
    names = [
        _argument(arg, column, call, context)
        for arg, column in zip(call.args, columns, strict=True)
    ]
    if any(name is None for name in names):
        return None
    arguments = tuple(name for name in names if name is not None)
    return Fact(relation.name if relation else "weight", arguments, call.span)


def _argument(arg: ast.Expr, column: str, call: ast.Call, context: Context) -> str | None:
    binds = call.function != "weight"
    sort = Sort.TENSOR if column == "Tensor" else Sort.VALUE
    if isinstance(arg, ast.Wildcard) and binds:
        return context.fresh(sort, arg.span)
    if not isinstance(arg, ast.Name):
        context.report.error(
            "E0311",
            f"`{call.function}` is asked of names",
            arg.span,
            help="match the operator in the pattern, or compare a number by a condition",
        )
        return None
    known = context.variables.get(arg.text)
    if known is None and not binds:
        report_unbound(arg, context)
        return None
    if known is not None and known.sort is Sort.TENSORS and sort is Sort.TENSOR:
        known.used = True
        return arg.text
    if sort is Sort.TENSOR and known is None:
        context.bind_tensor(arg.text, arg.span)
    elif not context.bind(arg.text, sort, arg.span, optional=True):
        return None
    context.variables[arg.text].used = True
    return arg.text


def _report_arity(call: ast.Call, relation: Relation | None, context: Context) -> None:
    columns = relation.columns if relation else ("Tensor",)
    context.report.error(
        "E0312",
        f"`{call.function}` has {counted(len(columns), 'column')}, not {len(call.args)}",
        call.span,
        notes=(f"{call.function}({', '.join(columns)})",),
    )
