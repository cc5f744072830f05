"""What a verdict says against a rule, as diagnostics at the place of the rule.

Enters: rules and their verdicts.  Leaves: diagnostics of the codes in `codes`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from tensat_dl.diagnostics import Diagnostic, Severity, Span
from tensat_dl.language.allowances import VERIFIED, Allowance, idle, remaining
from tensat_dl.language.check.report import source_text
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness.hints import LARGEST
from tensat_dl.soundness.verdict import Computed, Counterexample, Status, Tensor, Verdict
from tensat_dl.syntax import ast
from tensat_dl.syntax.print_expressions import format_expr

_UNNEEDED = (
    "it held on every instance that only this condition leaves out, where both sides had one type"
)

#: Characters of a tensor's elements that are shown.
_MOST = 300


def findings(program: CheckedProgram, verdicts: Sequence[Verdict]) -> list[Diagnostic]:
    """One diagnostic for each rule that does not hold, has no instance, or asks too much, and for
    each allowance that is known to silence nothing."""
    rules = {rule.name: rule for rule in program.rules}
    allowed = program.allowances
    kept = remaining(_found(rules, verdicts), allowed)
    return kept + [idle(a) for a in allowed if _is_idle(a, rules, verdicts)]


def _is_idle(allowance: Allowance, rules: Mapping[str, Rule], verdicts: Sequence[Verdict]) -> bool:
    """Is each condition inside of it known to be needed, or each rule evaluated?"""
    if allowance.code not in VERIFIED:
        return False
    inside = [v for v in verdicts if allowance.covers(rules[v.rule].span)]
    if len(inside) < sum(allowance.covers(rule.span) for rule in rules.values()):
        return False  # some were not looked at
    if allowance.code == "W1002":
        return bool(inside) and all(v.status is not Status.NOT_EVALUATED for v in inside)
    needed = {(v.base, text) for v in inside for text in v.needed}
    asked = {(v.base, format_expr(c)) for v in inside for c in rules[v.rule].conditions}
    return bool(inside) and asked <= needed


def _found(rules: Mapping[str, Rule], verdicts: Sequence[Verdict]) -> Iterator[Diagnostic]:
    for verdict in verdicts:
        yield from _of(rules[verdict.rule], verdict)
    bases = dict.fromkeys(verdict.base for verdict in verdicts)
    for base in bases:
        yield from _unneeded(rules, [v for v in verdicts if v.base == base])


def _unneeded(rules: Mapping[str, Rule], verdicts: Sequence[Verdict]) -> Iterator[Diagnostic]:
    """Conditions that no direction and no operator of a rule needs."""
    needed = {text for verdict in verdicts for text in verdict.needed}
    said: set[str] = set()
    for verdict in verdicts:
        rule = rules[verdict.rule]
        for condition in rule.conditions:
            text = format_expr(condition)
            if text not in verdict.unneeded or text in needed | said:
                continue
            said.add(text)
            yield Diagnostic(
                "W1001",
                f"`{rule.base}` holds without this condition",
                _place(condition, rule),
                notes=(_UNNEEDED,),
                help=_stronger(rule, condition),
                severity=Severity.WARNING,
            )


def _place(condition: ast.Expr, rule: Rule) -> Span:
    """The condition, where it is written in the rule."""
    span, whole = condition.span, rule.span
    inside = span.file is whole.file and whole.start <= span.start and span.end <= whole.end
    return span if inside else whole


def _stronger(rule: Rule, condition: ast.Expr) -> str:
    """The clause without the condition."""
    parts = sorted(
        [(fact.span.start, source_text(fact.span)) for fact in rule.facts]
        + [(c.span.start, source_text(c.span)) for c in rule.conditions if c is not condition]
    )
    texts = ", ".join(text for _, text in parts)
    clause = f"`where {texts}`" if texts else "no `where`"
    return (
        f"the stronger rule has {clause}; drop one condition at a time, "
        "or, where it is there for cost, write `@allow(W1001)` before the rule"
    )


def _of(rule: Rule, verdict: Verdict) -> Iterator[Diagnostic]:
    match verdict.status:
        case Status.REFUTED:
            assert verdict.counterexample is not None
            yield Diagnostic(
                "E1001",
                _refuted(verdict),
                rule.span,
                notes=tuple(counterexample_lines(verdict.counterexample)),
                help=_help(verdict.counterexample, real=verdict.real),
            )
        case Status.NO_INSTANCE:
            yield Diagnostic(
                "E1002",
                f"no instance of `{verdict.rule}` was found",
                rule.span,
                notes=(verdict.reason,),
                help="the rule may never act, or only on what is not drawn, as dims beyond "
                f"{LARGEST}; check its types and conditions",
            )
        case Status.NOT_EVALUATED:
            yield Diagnostic(
                "W1002",
                f"`{verdict.rule}` could not be evaluated",
                rule.span,
                notes=(verdict.reason,),
                help="test it on models, and write `@allow(W1002)` before the rule",
                severity=Severity.WARNING,
            )


def _refuted(verdict: Verdict) -> str:
    found = verdict.counterexample
    where = ""
    if found is not None and found.opset:
        where = f" at ai.onnx {found.opset}"
    elif found is not None and is_clash(found):
        where = " without the guard of types"
    return f"`{verdict.rule}` does not hold{where}"


def is_clash(found: Counterexample) -> bool:
    """The sides differ in type, or in a value that their types know."""
    return found.computed is Computed.TYPES


def _help(found: Counterexample, *, real: bool) -> str:
    if found.opset:
        return (
            "what differs is how tensat-dl writes operators at that opset: please report it; until "
            "then a condition that leaves this instance out keeps the rule right"
        )
    if is_clash(found):
        return "types that have to agree share their names: `x: T[*S], y: T[*S]`"
    if not real and found.computed is Computed.NATIVE:
        return "where rounding, NaN or the sign of zero is no matter, mark the rule `@real`"
    return "add a condition or a type that leaves this instance out"


def counterexample_lines(found: Counterexample) -> Iterator[str]:
    """The counterexample, line by line."""
    if found.names:
        yield "with " + ", ".join(f"{name} = {text}" for name, text in found.names.items())
    yield from found.applied
    yield from (f"{tensor.name}: {_tensor(tensor)}" for tensor in found.inputs)
    if is_clash(found):
        yield f"{found.left.name} on the left:  {_tensor(found.left)}"
        yield f"{found.left.name} on the right: {_tensor(found.right)}"
        yield "they differ in type: `run` does not join them, what asks for no types would"
        return
    if found.unwritable:
        yield f"it should be on at ai.onnx {found.opset}, but: {found.unwritable}"
        return
    yield f"{found.left.name} on the left:  {_elements(found.left.elements)}"
    yield f"{found.left.name} on the right: {_elements(found.right.elements)}"
    place = f" at {list(found.index)}" if found.index else ""
    which = "most" if found.opset else "first"
    yield (
        f"they differ {which}{place}: {_elements(found.left_element)} on the left, "
        f"{_elements(found.right_element)} on the right ({found.computed})"
    )


def _tensor(tensor: Tensor) -> str:
    if tensor.elements is None:
        return tensor.type
    return f"{tensor.type} = {_elements(tensor.elements)}"


def _elements(elements: Any) -> str:
    text = _text(elements)
    return text if len(text) <= _MOST else text[:_MOST] + " ..."


def _text(item: Any) -> str:
    if isinstance(item, list):
        return "[" + ", ".join(map(_text, item)) + "]"
    if isinstance(item, float):
        return f"{item:.9g}"
    return json.dumps(item)
