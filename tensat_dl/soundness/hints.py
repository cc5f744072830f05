"""What a rule asks of values and element types, so that the search draws what is asked for.

Enters: a rule.  Leaves: :class:`Hints`, read off conditions, attributes and operators.  They are
guesses: what is drawn is checked as if there were none.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.language import walk
from tensat_dl.language.program import (
    EmitConstant,
    EmitMap,
    EmitMaybe,
    EmitNode,
    EmitTerm,
    Function,
    InputStar,
    InputVariable,
    MatchInput,
    Rule,
)
from tensat_dl.syntax import ast
from tensat_dl.syntax.print_expressions import format_expr
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.adapters import formal_types
from tensat_dl.vocabulary.catalog import version_of
from tensat_dl.vocabulary.dtypes import DType

#: Operators with axes over which a window slides.
_SPATIAL = frozenset(
    (
        *("Conv", "ConvTranspose", "AveragePool", "MaxPool", "LpPool", "InstanceNormalization"),
        *("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool", "DepthToSpace", "SpaceToDepth"),
    )
)
_OF_DIMS = frozenset(("dim", "shape"))
#: Dims up to here are drawn anyway; tensors with dims beyond `LARGEST` would take long.
_USUAL, LARGEST = 6, 256
#: Operators that take a list of integers, and as which input.
_LISTS: Mapping[str, int] = {
    **dict.fromkeys(("Reshape", "Expand", "Tile", "Pad", "Squeeze", "Unsqueeze"), 1),
    "ConstantOfShape": 0,
}
_OF_VALUES = frozenset(("value", "known", "const"))


@dataclass(frozen=True)
class Condition:
    """An expression with the names it mentions and its text."""

    expr: ast.Expr
    names: frozenset[str]
    text: str

    @staticmethod
    def of(expr: ast.Expr) -> Condition:
        """Read an expression once."""
        names = (name.text for name in walk.names_in(expr))
        free = frozenset(name for name in names if dtypes.from_name(name) is None)
        return Condition(expr, free, format_expr(expr))


@dataclass(frozen=True)
class Hints:
    """`conditions`: those of the rule; `avoid`: one that must not hold; `valued`: tensors whose
    value is asked for, with the numbers that stand beside them; `scalars`: tensors that should
    have one element; `dtypes`: element types that all operators take, those first that the rule
    names; `spatial`: an operator slides a window over its input; `sizes`: what conditions compare
    dims with, where that is more than dims usually are; `lists`: tensors, or elements of lists, by
    what reads them parts of a list of integers."""

    conditions: tuple[Condition, ...]
    avoid: Condition | None
    valued: Mapping[str, tuple[int | float, ...]]
    scalars: frozenset[str]
    dtypes: tuple[DType, ...]
    spatial: bool
    sizes: tuple[int, ...]
    lists: frozenset[str]


def hints_of(
    rule: Rule,
    functions: Mapping[str, Function],
    resembled: Mapping[str, str],
    avoid: ast.Expr | None = None,
) -> Hints:
    """Read the expressions of a rule; `resembled` as a subject has it."""
    applied = [
        resembled.get(match.operator.qualified_name, match.operator.name) for match in rule.matches
    ]
    valued: dict[str, tuple[int | float, ...]] = {}
    scalars: set[str] = set()
    for expr in _expressions(rule):
        names = {name.text for name in walk.names_in(expr)}
        inside = [part for body in (expr, *_bodies(expr, functions)) for part in walk.walk(body)]
        called = {part.function for part in inside if isinstance(part, ast.Call)}
        if called & _OF_VALUES:
            for name in names:
                valued[name] = (*valued.get(name, ()), *_numbers(inside))
        if isinstance(expr, ast.Call) and expr.function == "scalar":
            scalars |= names
    return Hints(
        tuple(map(Condition.of, rule.conditions)),
        None if avoid is None else Condition.of(avoid),
        _with_inputs(rule, valued),
        frozenset(scalars),
        _dtypes(rule, applied, functions),
        bool(_SPATIAL & set(applied)),
        tuple(sorted(set(_sizes(rule, functions)))),
        _joined_to_lists(rule),
    )


def _joined_to_lists(rule: Rule) -> frozenset[str]:
    """What is joined to a shape or other axes: an operator that reads the whole proposes none."""
    direct: set[str] = set()
    for match in rule.matches:
        place = _LISTS.get(match.operator.qualified_name)
        if place is not None:
            direct |= set(_names(match.inputs[place : place + 1]))
    found: set[str] = set()
    for _ in rule.matches:
        for match in rule.matches:
            if match.operator.name == "Concat" and not (direct | found).isdisjoint(match.outputs):
                found |= set(_names(match.inputs))
    return frozenset(found)


def _names(inputs: Sequence[MatchInput]) -> Iterator[str]:
    return (i.name for i in inputs if isinstance(i, InputVariable | InputStar))


def _sizes(rule: Rule, functions: Mapping[str, Function]) -> Iterator[int]:
    """The numbers of conditions on dims, and those beside them, for `>`."""
    stated = [dim for one in rule.ascriptions for dim in one.type.dims or ()]
    dims = {name.text for dim in stated for name in walk.names_in(dim)}
    for expr in rule.conditions:
        inside = [part for body in (expr, *_bodies(expr, functions)) for part in walk.walk(body)]
        called = {part.function for part in inside if isinstance(part, ast.Call)}
        if called & _OF_DIMS or dims & {name.text for name in walk.names_in(expr)}:
            whole = (number for number in _numbers(inside) if isinstance(number, int))
            yield from (n for number in whole for n in (number, number + 1) if _is_large(n))


def _is_large(size: int) -> bool:
    return _USUAL < size <= LARGEST


def _bodies(expr: ast.Expr, functions: Mapping[str, Function]) -> list[ast.Expr]:
    """The bodies of the functions that an expression calls, also through others."""
    found: dict[str, ast.Expr] = {}
    waiting = [expr]
    while waiting:
        for part in walk.walk(waiting.pop()):
            name = part.function if isinstance(part, ast.Call) else ""
            if name in functions and name not in found:
                found[name] = functions[name].body
                waiting.append(functions[name].body)
    return list(found.values())


def _numbers(parts: list[ast.Expr]) -> Iterator[int | float]:
    for part in parts:
        if isinstance(part, ast.Number):
            yield part.value
        elif isinstance(part, ast.Unary) and isinstance(part.operand, ast.Number):
            yield -part.operand.value


def _with_inputs(
    rule: Rule, valued: dict[str, tuple[int | float, ...]]
) -> dict[str, tuple[int | float, ...]]:
    """A value is known where those that it is made from are."""
    for _ in rule.matches:
        for match in rule.matches:
            if valued.keys() & set(match.outputs):
                read = (i for i in match.inputs if isinstance(i, InputVariable | InputStar))
                valued.update({i.name: () for i in read if i.name not in valued})
    return valued


def _dtypes(
    rule: Rule, applied: Sequence[str], functions: Mapping[str, Function]
) -> tuple[DType, ...]:
    """What the first inputs of all operators may be, and the types that the rule names."""
    allowed = set(DType)
    for match, name in zip(rule.matches, applied, strict=True):
        taken = formal_types("", name, version_of(name))
        if taken and (not match.operator.domain or name != match.operator.name):
            known = {dtypes.from_onnx(code) for code in taken[0]}
            allowed &= {dtype for dtype in known if dtype is not None}
    exprs = list(_expressions(rule))
    bodies = [body for expr in exprs for body in (expr, *_bodies(expr, functions))]
    written = {name.text for body in bodies for name in walk.names_in(body)}
    written |= {ascription.type.dtype for ascription in rule.ascriptions}
    named = [dtype for dtype in DType if dtype.label in written]
    usual = [dtype for dtype in DType if dtype in allowed and dtype.bits >= 8 and _plain(dtype)]
    both = [dtype for dtype in named if dtype in allowed]
    unusual = [dtype for dtype in DType if dtype in allowed]
    return tuple(both or usual or unusual or named)


def _plain(dtype: DType) -> bool:
    wide = dtype.is_float and dtype.bits > 8
    return wide or dtype.is_integer or dtype is DType.BOOL


def _expressions(rule: Rule) -> Iterator[ast.Expr]:
    yield from rule.conditions
    yield from (value for _, value in rule.lets)
    for match in rule.matches:
        yield from (expr for _, expr in match.attributes.required)
    for emit in rule.emits:
        yield from _in_term(emit.term)


def _in_term(term: EmitTerm) -> Iterator[ast.Expr]:
    match term:
        case EmitConstant():
            yield term.value
        case EmitMaybe(inner):
            yield from _in_term(inner)
        case EmitNode() | EmitMap():
            yield from (expr for _, expr in term.attributes.values)
            for item in term.inputs:
                yield from _in_term(item)
        case _:
            return
