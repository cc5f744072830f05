"""Concrete instances of a rule's types: numbers for its dims, element types for its `T`.

Enters: a rule.  Leaves: environments in which every ascribed variable has a full type.  An
instance in which the left side has a type and the conditions hold is one that the rule claims.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from tensat_dl.language.evaluate import Environment, evaluate
from tensat_dl.language.program import InputVariable, Rule, Sort
from tensat_dl.language.values import UNKNOWN, Value
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type

#: Sizes by position of the dim; the last ones are all equal, for left sides that ask for that.
_SIZES = (
    (3, 5, 7, 11, 13, 17, 19, 23),
    (12, 24, 36, 48, 60, 72, 84, 96),
    (2, 4, 8, 16, 32, 64, 128, 256),
    (4, 4, 4, 4, 4, 4, 4, 4),
    (1, 1, 1, 1, 1, 1, 1, 1),
)

_ELEMENT_TYPES = (DType.F32, DType.I64, DType.BOOL)


@dataclass(frozen=True)
class Instance:
    """`names`: what dims and element types stand for; `types`: those of ascribed tensors."""

    names: dict[str, Value]
    types: dict[str, Type]

    def text(self) -> str:
        """`M = 3, K = 5`."""
        shown = {name: value for name, value in self.names.items() if _is_shown(value)}
        return ", ".join(f"{name} = {_text(value)}" for name, value in shown.items())


def instances(rule: Rule) -> Iterator[Instance]:
    """Instances of the rule, from the most telling to the most regular."""
    element_types = _ELEMENT_TYPES if Sort.DTYPE in dict(rule.sorts).values() else (DType.F32,)
    for sizes in (*_SIZES, *((number,) * 8 for number in sorted(_literal_dims(rule)))):
        for element_type in element_types:
            names = dict(_names(rule, sizes, element_type))
            types = _types(rule, names, iter(sizes[::-1]))
            if types is not None:
                yield Instance(names, types)


def _names(rule: Rule, sizes: tuple[int, ...], element_type: DType) -> Iterator[tuple[str, Value]]:
    left = iter(sizes * (1 + len(rule.sorts) // len(sizes)))
    for name, sort in rule.sorts:
        if sort is Sort.DTYPE:
            yield name, element_type
        elif sort is Sort.DIMS:
            yield name, (2, 3) if sizes[0] != sizes[1] else (sizes[0],)
        elif sort is Sort.ATTRIBUTES:
            yield name, Attributes()
        elif sort is Sort.VALUE and name in _ascribed_dims(rule):
            yield name, next(left)


def _ascribed_dims(rule: Rule) -> frozenset[str]:
    return frozenset(
        dim.text
        for ascription in rule.ascriptions
        for dim in ascription.type.dims or ()
        if isinstance(dim, ast.Name)
    )


def _literal_dims(rule: Rule) -> frozenset[int]:
    return frozenset(
        dim.value
        for ascription in rule.ascriptions
        for dim in ascription.type.dims or ()
        if isinstance(dim, ast.Number) and isinstance(dim.value, int)
    )


def _types(rule: Rule, names: dict[str, Value], spare: Iterator[int]) -> dict[str, Type] | None:
    """The types of ascribed variables; None where two ascriptions disagree."""
    types: dict[str, Type] = {}
    optional = _optional(rule)
    for ascription in rule.ascriptions:
        known = types.get(ascription.variable)
        if ascription.variable in optional:
            types[ascription.variable] = ABSENT
            continue
        found = _type(ascription.type, Environment(names), spare)
        if found is not None and known not in (None, found):
            return None
        if found is not None:
            types[ascription.variable] = found
    types.update(dict.fromkeys(optional, ABSENT))
    return types


def _optional(rule: Rule) -> frozenset[str]:
    inputs = [found for match in rule.matches for found in match.inputs]
    variables = [found for found in inputs if isinstance(found, InputVariable)]
    return frozenset(found.name for found in variables if found.optional)


def _type(type_expr: ast.TypeExpr, env: Environment, spare: Iterator[int]) -> TensorType | None:
    bound = env.names.get(type_expr.dtype)
    dtype = bound if isinstance(bound, DType) else dtypes.from_name(type_expr.dtype)
    if dtype is None or type_expr.dims is None:
        return None
    sizes: list[Value] = []
    for dim in type_expr.dims:
        sizes += _sizes(dim, env, spare)
    if not all(isinstance(size, int) and size >= 0 for size in sizes):
        return None
    return TensorType(dtype, tuple(size for size in sizes if isinstance(size, int)))


def _sizes(dim: ast.Expr, env: Environment, spare: Iterator[int]) -> Iterable[Value]:
    if isinstance(dim, ast.Wildcard):
        return (next(spare, 2),)
    if not isinstance(dim, ast.Star):
        return (evaluate(dim, env),)
    run = (2,) if isinstance(dim.operand, ast.Wildcard) else evaluate(dim.operand, env)
    return run if isinstance(run, tuple) else (UNKNOWN,)


def _is_shown(value: Value) -> bool:
    return isinstance(value, int | DType) or (isinstance(value, tuple) and bool(value))


def _text(value: Value) -> str:
    return f"[{', '.join(map(str, value))}]" if isinstance(value, tuple) else str(value)
