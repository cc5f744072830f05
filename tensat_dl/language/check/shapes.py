"""Does the right side have the type of the left?  Decided where the rule states full types.

Enters: a checked rule.  Leaves: nothing; reports E0501, E0502, E0504.  The check is by instances:
numbers for the dims, on which ONNX's inference is exact.  An instance that the left side accepts
and the right side does not is a counterexample; where nothing is stated, nothing is decided, and
the guard at run time does its work.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tensat_dl.language.check.instances import Instance, instances
from tensat_dl.language.check.report import Reporter
from tensat_dl.language.evaluate import Environment, evaluate, holds
from tensat_dl.language.program import (
    Emit,
    EmitAbsent,
    EmitConstant,
    EmitMaybe,
    EmitNode,
    EmitTerm,
    EmitVariable,
    InputAbsent,
    InputLiteral,
    InputVariable,
    Match,
    MatchInput,
    Rule,
)
from tensat_dl.language.values import Value, as_attribute, as_dtype
from tensat_dl.syntax import ast
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import (
    ABSENT,
    MAX_VALUE_ELEMENTS,
    TensorType,
    Type,
    TypeFault,
    type_text,
)


class _Undecided(Exception):
    """A type is not known, so that nothing can be said."""


class _Fault(Exception):
    """An application has no type; the text says why."""


def check_shapes(rule: Rule, report: Reporter) -> None:
    """Compare the types of both sides on instances of the rule."""
    if rule.each is not None or not rule.ascriptions:
        return
    faults: list[str] = []
    for instance in instances(rule):
        try:
            typing = _Typing(rule, instance)
            typing.left()
        except _Undecided:
            return
        except _Fault as fault:
            faults.append(str(fault))
            continue
        if typing.is_claimed():
            _check_right(typing, report)
            return
        faults.append("")
    if faults and all(faults):
        _report_never(rule, faults[0], report)


def _check_right(typing: _Typing, report: Reporter) -> None:
    try:
        for emit in typing.rule.emits:
            typing.emit(emit)
    except _Undecided:
        return
    except _Fault as fault:
        report.error(
            "E0502",
            "the right side has no type where the left side has one",
            typing.rule.emits[0].span,
            notes=(str(fault), f"for example with {typing.instance.text()}"),
            help="mend the right side, or state types on the left with which it has one",
        )
        return
    for root, right in typing.assigned.items():
        left = typing.types[root]
        if _differ(left, right):
            _report_change(typing, root, right, report)
            return


def _differ(left: Type, right: Type) -> bool:
    """Certainly of different types; both sides stand for numbers."""
    if not (isinstance(left, TensorType) and isinstance(right, TensorType)):
        return False
    if left.dtype is not right.dtype:
        return True
    if left.dims is None or right.dims is None:
        return False
    known = all(isinstance(dim, int) for dim in (*left.dims, *right.dims))
    return len(left.dims) != len(right.dims) or (known and left.dims != right.dims)


def _report_change(typing: _Typing, root: str, right: Type, report: Reporter) -> None:
    emit = next(emit for emit in typing.rule.emits if root in emit.targets)
    report.error(
        "E0501",
        "the rule changes the type of a tensor",
        emit.span,
        label=f"{type_text(typing.types[root])} becomes {type_text(right)}",
        notes=(f"for example with {typing.instance.text()}",),
        help="a rule that holds for some shapes only says so in its types or in `where`",
    )


def _report_never(rule: Rule, reason: str, report: Reporter) -> None:
    report.error(
        "E0504",
        "the left side can never match: with the stated types it has no type itself",
        rule.matches[0].span if rule.matches else rule.span,
        notes=(reason,),
        help="mend the types, or the order of the inputs",
    )


@dataclass
class _Typing:
    """Types of everything in one instance.  `assigned`: roots as the right side types them."""

    rule: Rule
    instance: Instance
    types: dict[str, Type] = field(default_factory=dict)
    assigned: dict[str, Type] = field(default_factory=dict)

    def left(self) -> None:
        """Type the left side; raises _Undecided or _Fault."""
        self.types.update(self.instance.types)
        for match in self.rule.matches:
            self._match(match)

    def is_claimed(self) -> bool:
        """Do the conditions hold, and do the ascribed outputs have their types?"""
        stated = self.instance.types.items()
        fits = not any(_differ(found, self.types[name]) for name, found in stated)
        env = self._environment()
        return fits and all(holds(condition, env) is True for condition in self.rule.conditions)

    def emit(self, emit: Emit) -> None:
        """Type one assignment; raises _Undecided or _Fault."""
        count = len(emit.targets)
        for target, found in zip(emit.targets, self._outputs(emit.term, count), strict=False):
            (self.assigned if target in self.rule.roots else self.types)[target] = found

    # --- applications -------------------------------------------------------------------

    def _match(self, match: Match) -> None:
        inputs = tuple(self._input(found) for found in match.inputs)
        if match.attributes.bound:
            raise _Undecided
        given = self._given(match.operator, match.attributes.required)
        try:
            outputs = _apply(match.operator, given, inputs, len(match.outputs))
        except _Fault:
            if any(isinstance(found, InputVariable) and found.optional for found in match.inputs):
                raise _Undecided from None  # it may need one of them, as Resize does
            raise
        self.types.update(zip(match.outputs, outputs, strict=False))

    def _input(self, found: MatchInput) -> Type:
        match found:
            case InputVariable() if found.name in self.types:
                return self.types[found.name]
            case InputAbsent():
                return ABSENT
            case InputLiteral(dtype=str() as dtype):
                return self._constant(dtype, found.value)
        raise _Undecided

    def _outputs(self, term: EmitTerm, count: int) -> tuple[Type, ...]:
        if not isinstance(term, EmitNode):
            return (self._term(term),)
        inputs = tuple(self._term(found) for found in term.inputs)
        given = self._given(term.operator, term.attributes.values)
        return _apply(term.operator, given, inputs, count)

    def _term(self, term: EmitTerm) -> Type:
        match term:
            case EmitVariable() if term.name in self.types:
                return self.types[term.name]
            case EmitAbsent() | EmitMaybe():
                return ABSENT
            case EmitConstant():
                return self._constant(term.dtype, term.value)
            case EmitNode():
                return self._outputs(term, 1)[0]
        raise _Undecided

    # --- values -------------------------------------------------------------------------

    def _environment(self) -> Environment:
        lets = dict(self.rule.lets)
        names: dict[str, Value] = {**self.types, **self.instance.names}
        for name, value in lets.items():
            names[name] = evaluate(value, Environment(names))
        return Environment(names)

    def _given(
        self, operator: Operator, values: tuple[tuple[str, ast.Expr], ...]
    ) -> Mapping[str, AttributeValue]:
        given: dict[str, AttributeValue] = {}
        env = self._environment()
        for name, expr in values:
            formal = operator.attribute(name)
            value = None if formal is None else as_attribute(evaluate(expr, env), formal.kind)
            if value is None:
                raise _Undecided
            given[name] = value
        return given

    def _constant(self, dtype: str, expr: ast.Expr) -> Type:
        env = self._environment()
        element = dtypes.from_name(dtype) or as_dtype(env.names.get(dtype, ""))
        value = evaluate(expr, env)
        items = value if isinstance(value, tuple) else (value,)
        plain = tuple(item for item in items if isinstance(item, int | float))
        if element is None or len(plain) != len(items):
            raise _Undecided
        kept = element.is_integer and len(plain) <= MAX_VALUE_ELEMENTS
        dims = (len(plain),) if isinstance(value, tuple) else ()
        return TensorType(element, dims, plain if kept else None)


def _apply(
    operator: Operator,
    given: Mapping[str, AttributeValue],
    inputs: tuple[Type, ...],
    count: int,
) -> tuple[Type, ...]:
    from tensat_dl.vocabulary.canonical import canonical_attributes
    from tensat_dl.vocabulary.infer import infer

    if operator.kind is not OperatorKind.ONNX:
        raise _Undecided
    attributes = canonical_attributes(operator, given, inputs)
    found = infer(operator, attributes, inputs, max(count, operator.min_outputs))
    if isinstance(found, TypeFault):
        raise _Fault(found.reason)
    return found
