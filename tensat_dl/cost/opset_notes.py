"""What a user is told of rules whose operators the model's opset lacks.

Enters: the e-nodes that were left out because they cannot be written.  Leaves: one note for each
opset that would have the operators.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.vocabulary.adapters import NEWEST
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import Type


def opset_notes(
    left_out: Sequence[ENode], saturated: Saturated, writable: Writable
) -> tuple[str, ...]:
    """One line for each opset that would have more."""
    operators: dict[int, set[str]] = {}
    rules: dict[int, set[str]] = {}
    foreign: dict[str, set[str]] = {}
    for node in left_out:
        if not isinstance(node.head, Application) or not node.rule:
            continue
        if node.head.operator.kind is OperatorKind.CUSTOM:
            foreign.setdefault(_foreign(node.head.operator, writable), set()).add(node.rule)
            continue
        inputs = tuple(saturated.class_types[c] for c in node.children)
        needed = _least_opset(node.head, inputs, writable)
        operators.setdefault(needed, set()).add(node.head.operator.name)
        rules.setdefault(needed, set()).add(node.rule)
    opset = writable.opsets.get("", 0)
    notes = [
        opset_note(sorted(operators[needed]), needed, opset, sorted(rules[needed]))
        for needed in sorted(rules)
    ]
    notes += [f"off: {', '.join(sorted(foreign[why]))} ({why})" for why in sorted(foreign)]
    return tuple(notes)


def _foreign(operator: Operator, writable: Writable) -> str:
    """Why a declared operator cannot be written."""
    domain = operator.domain
    imported = writable.opsets.get(domain, 0)
    return f"{operator.name} is of {domain} {operator.since}, the model has {domain} {imported}"


def opset_note(operators: Sequence[str], needed: int, opset: int, rules: Sequence[str]) -> str:
    """Rules that are off at `opset` for want of operators that `needed` has; 0: that none has."""
    return f"off at ai.onnx {opset}: {', '.join(rules)} ({lack(operators, needed)})"


def lack(operators: Sequence[str], needed: int) -> str:
    """What rules want that are off, and the opset `needed` that has it; 0: that none has."""
    what = f"for want of {', '.join(operators)}"
    return f"{what}; --opset {needed} has it" if needed else what


def _least_opset(head: Application, inputs: tuple[Type, ...], writable: Writable) -> int:
    """The oldest newer opset that can write it, 0 where there is none."""
    for version in range(writable.opsets.get("", 0) + 1, NEWEST + 1):
        opsets: Mapping[str, int] = {**writable.opsets, "": version}
        if Writable(writable.program, opsets)(head, inputs):
            return version
    return 0
