"""Rules that the opset of a model has no use for.

Enters: a checked program, a version of ai.onnx.  Leaves: the program without the rules that apply
an operator which came later than both the language's opset and that one.  Other operators that an
opset lacks may stand between two rules; of these, nothing could be made that the opset has.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.language.sides import emitted_operators, matched_operators
from tensat_dl.vocabulary.catalog import NEWER
from tensat_dl.vocabulary.operators import Operator, OperatorKind


def within(program: CheckedProgram, opset: int) -> CheckedProgram:
    """The program with the rules that the opset has a use for."""
    if opset >= max(NEWER.values()):
        return program
    kept = tuple(rule for rule in program.rules if not any(_later(_applied(rule), opset)))
    return replace(program, rules=kept)


def made_later(rule: Rule, opset: int) -> tuple[Operator, ...]:
    """What the rule makes that came later than the opset."""
    return tuple(_later(_made(rule), opset))


def _applied(rule: Rule) -> Iterator[Operator]:
    yield from matched_operators(rule)
    yield from _made(rule)


def _made(rule: Rule) -> Iterator[Operator]:
    return (operator for emit in rule.emits for operator in emitted_operators(emit.term))


def _later(operators: Iterator[Operator], opset: int) -> Iterator[Operator]:
    own = (each for each in operators if each.kind is OperatorKind.ONNX and not each.domain)
    return (each for each in own if NEWER.get(each.name, 0) > opset)
