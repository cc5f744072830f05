"""Evaluation of rule expressions: pure, total, three-valued.

Enters: an expression of the syntax tree and an :class:`Environment` (attributes as values, dims,
tensors as their types).  Leaves: a value; UNKNOWN where the answer depends on a symbol, on a
value that is not known, or does not exist (an index out of range, a division by 0).  Never
raises, never sees a tensor's contents beyond what its type carries.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tensat_dl.language import builtins, values
from tensat_dl.language.arithmetic import binary, bounded, negate
from tensat_dl.language.program import Function
from tensat_dl.language.values import UNKNOWN, Value
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.types import AbsentType, TensorType, Type

__all__ = ["UNKNOWN", "Environment", "Value", "evaluate", "holds", "match_type"]


@dataclass(frozen=True)
class Environment:
    """What names are worth, and the functions of the program by name."""

    names: Mapping[str, Value]
    functions: Mapping[str, Function] = field(default_factory=dict)


def evaluate(expr: ast.Expr, env: Environment) -> Value:
    """The value of `expr`; UNKNOWN where it has none."""
    rule = _RULES.get(type(expr))
    return UNKNOWN if rule is None else rule(expr, env)


def holds(expr: ast.Expr, env: Environment) -> bool | None:
    """Is the condition true, false, or (None) unknown?"""
    return _truth(evaluate(expr, env))


def match_type(
    type_expr: ast.TypeExpr,
    actual: Type,
    bindings: dict[str, Value],
    functions: Mapping[str, Function] | None = None,
) -> bool | None:
    """Does `actual` have the written type?  None: that depends on symbols, or is unknown.

    Binds the upper-case names of `type_expr` that `bindings` lacks; a bound name must be equal.
    `functions` are those that computed dims may call.  An absent optional input has every type and
    binds nothing.  After any other answer than True
    `bindings` may hold some of the names.
    """
    if isinstance(actual, AbsentType):
        return True
    if not isinstance(actual, TensorType):
        return False
    answers = [_match_dtype(type_expr.dtype, actual, bindings)]
    if type_expr.dims is not None:
        env = Environment(bindings, functions or {})
        answers.append(_match_dims(type_expr.dims, actual, bindings, env))
    return values.all_of(answers)


# --- ascriptions ----------------------------------------------------------------------------


def _match_dtype(name: str, actual: TensorType, bindings: dict[str, Value]) -> bool | None:
    concrete = dtypes.from_name(name)
    if concrete is not None or name == "_":
        return concrete in (None, actual.dtype)
    return _bind(name, actual.dtype, bindings)


def _match_dims(
    written: tuple[ast.Expr, ...],
    actual: TensorType,
    bindings: dict[str, Value],
    env: Environment,
) -> bool | None:
    if actual.dims is None:
        return None
    paired = _pair(written, actual.dims)
    if paired is None:
        return False
    names = [_match_name(expr, dim, bindings) for expr, dim in paired if _is_binder(expr)]
    others = [
        values.equal(evaluate(expr, env), dim) for expr, dim in paired if not _is_binder(expr)
    ]
    return values.all_of(names + others)


def _pair(
    written: tuple[ast.Expr, ...], actual: tuple[Value, ...]
) -> list[tuple[ast.Expr, Value]] | None:
    """Each written dim with what it stands for; None where the ranks differ."""
    star = next((i for i, expr in enumerate(written) if isinstance(expr, ast.Star)), None)
    if star is None:
        return list(zip(written, actual, strict=True)) if len(written) == len(actual) else None
    after = len(written) - star - 1
    if len(actual) < star + after:
        return None
    end = len(actual) - after
    middle = [(written[star], actual[star:end])]
    before = list(zip(written[:star], actual[:star], strict=True))
    return before + middle + list(zip(written[star + 1 :], actual[end:], strict=True))


def _is_binder(expr: ast.Expr) -> bool:
    return isinstance(expr, ast.Name | ast.Wildcard | ast.Star)


def _match_name(expr: ast.Expr, dim: Value, bindings: dict[str, Value]) -> bool | None:
    target = expr.operand if isinstance(expr, ast.Star) else expr
    if not isinstance(target, ast.Name):
        return True if isinstance(target, ast.Wildcard) else None
    return _bind(target.text, dim, bindings)


def _bind(name: str, value: Value, bindings: dict[str, Value]) -> bool | None:
    return values.equal(bindings.setdefault(name, value), value)


# --- expressions ----------------------------------------------------------------------------


def _truth(value: Value) -> bool | None:
    return value if isinstance(value, bool) else None


def _name(expr: ast.Name, env: Environment) -> Value:
    value = env.names.get(expr.text)
    if value is not None:
        return value
    dtype = dtypes.from_name(expr.text)
    return UNKNOWN if dtype is None else dtype


def _list(expr: ast.ListExpr, env: Environment) -> Value:
    return _items(expr.items, env)


def _items(exprs: Sequence[ast.Expr], env: Environment) -> Value:
    """The values of expressions as a list; those with a star are lists and are spliced in."""
    items: list[Value] = []
    for item in exprs:
        if not isinstance(item, ast.Star):
            items.append(evaluate(item, env))
            continue
        spliced = evaluate(item.operand, env)
        if not isinstance(spliced, tuple):
            return UNKNOWN
        items.extend(spliced)
    return bounded(tuple(items))


def _call(expr: ast.Call, env: Environment) -> Value:
    args = _items(expr.args, env)
    if not isinstance(args, tuple):
        return UNKNOWN
    if expr.function in builtins.BUILTINS:
        return builtins.call(expr.function, args)
    function = env.functions.get(expr.function)
    if function is None or len(function.parameters) != len(args):
        return UNKNOWN
    names = dict(zip(function.parameters, args, strict=True))
    return evaluate(function.body, Environment(names, env.functions))


def _unary(expr: ast.Unary, env: Environment) -> Value:
    value = evaluate(expr.operand, env)
    if expr.operator == "-":
        return negate(value)
    truth = _truth(value)
    return UNKNOWN if truth is None else not truth


def _binary(expr: ast.Binary, env: Environment) -> Value:
    if expr.operator == "and":
        return values.decided(values.all_of(holds(side, env) for side in (expr.left, expr.right)))
    if expr.operator == "or":
        return values.decided(values.any_of(holds(side, env) for side in (expr.left, expr.right)))
    return binary(expr.operator, evaluate(expr.left, env), evaluate(expr.right, env))


def _compare(expr: ast.Compare, env: Environment) -> Value:
    if len(expr.rest) == 1:  # nearly all, and conditions are asked very often
        [(name, side)] = expr.rest
        return values.decided(_COMPARISONS[name](evaluate(expr.first, env), evaluate(side, env)))
    sides = [evaluate(expr.first, env), *(evaluate(side, env) for _, side in expr.rest)]
    operators = [operator for operator, _ in expr.rest]
    pairs = zip(operators, sides, sides[1:], strict=False)
    return values.decided(
        values.all_of(_COMPARISONS[name](left, right) for name, left, right in pairs)
    )


def _if(expr: ast.IfExpr, env: Environment) -> Value:
    condition = holds(expr.condition, env)
    if condition is not None:
        return evaluate(expr.then if condition else expr.otherwise, env)
    then, otherwise = evaluate(expr.then, env), evaluate(expr.otherwise, env)
    return then if values.equal(then, otherwise) is True else UNKNOWN


def _index(expr: ast.Index, env: Environment) -> Value:
    return builtins.item(evaluate(expr.operand, env), evaluate(expr.index, env))


def _slice(expr: ast.Slice, env: Environment) -> Value:
    items = evaluate(expr.operand, env)
    start = None if expr.start is None else evaluate(expr.start, env)
    stop = None if expr.stop is None else evaluate(expr.stop, env)
    if not (isinstance(start, int | None) and isinstance(stop, int | None)):
        return UNKNOWN
    return items[start:stop] if isinstance(items, tuple) else UNKNOWN


def _type(expr: ast.Ascribed, env: Environment) -> Value:
    """The type that is written: `y: f32[dim(x, 0), 4]` in an `infer` clause."""
    dtype = dtypes.from_name(expr.type.dtype) or values.as_dtype(
        env.names.get(expr.type.dtype, UNKNOWN)
    )
    sizes = _items(expr.type.dims or (), env)
    if dtype is None or not isinstance(sizes, tuple) or expr.type.dims is None:
        return UNKNOWN
    known = tuple(size for size in sizes if values.is_dim(size))
    return TensorType(dtype, known) if len(known) == len(sizes) else UNKNOWN


def _not(answer: bool | None) -> bool | None:
    return None if answer is None else not answer


_COMPARISONS: Mapping[str, Callable[[Value, Value], bool | None]] = {
    "==": values.equal,
    "!=": lambda left, right: _not(values.equal(left, right)),
    "<": values.less,
    ">": lambda left, right: values.less(right, left),
    "<=": lambda left, right: values.at_most(left, right),
    ">=": lambda left, right: values.at_most(right, left),
    "in": lambda left, right: values.contains(right, left),
    "not in": lambda left, right: _not(values.contains(right, left)),
}

_RULES: Mapping[type, Callable[[Any, Environment], Value]] = {
    ast.Name: _name,
    ast.Number: lambda expr, env: expr.value,
    ast.String: lambda expr, env: expr.value,
    ast.Boolean: lambda expr, env: expr.value,
    ast.ListExpr: _list,
    ast.Call: _call,
    ast.Unary: _unary,
    ast.Binary: _binary,
    ast.Compare: _compare,
    ast.IfExpr: _if,
    ast.Index: _index,
    ast.Slice: _slice,
    ast.Ascribed: _type,
}
