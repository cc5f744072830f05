"""What a rule says of an operator holds in models of older opsets, whatever is an attribute there.

Evaluators have the language's meaning of an operator; here it is written as an older opset has it,
and computed by ONNX's reference evaluator at that opset.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator

import numpy as np
import pytest
from applications import calls

from tensat_dl.language.load import load_rules, shipped_names
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness import arithmetic, evaluator
from tensat_dl.soundness.arithmetic import Unsupported
from tensat_dl.soundness.contents import Style, draw_contents
from tensat_dl.soundness.evaluator import Evaluator
from tensat_dl.soundness.instances import Sampler
from tensat_dl.soundness.operators import EVALUATORS, Call
from tensat_dl.soundness.reference import evaluate_by_reference
from tensat_dl.soundness.sides import evaluate_sides
from tensat_dl.soundness.subject import make_subject
from tensat_dl.vocabulary.types import type_text
from tensat_dl.vocabulary.versions import ROWS

pytestmark = pytest.mark.slow

#: What cannot be had, or is wrong, in the reference evaluator before an operator changed.
_WITHOUT = {
    *(("MaxPool", 7), ("MaxPool", 9)),  # other dims where pads are at one end alone
    *(("Clip", 10), ("GroupNormalization", 20), ("Pad", 10)),  # mostly not to be said there
}
#: Opsets just before an operator changed its meaning or its inputs.
CHANGED = {
    name: opsets
    for name in sorted({row.operator for row in ROWS} & EVALUATORS.keys())
    if (
        opsets := sorted(
            {
                row.since - 1
                for row in ROWS
                if row.operator == name and row.since > 7 and (name, row.since - 1) not in _WITHOUT
            }
        )
    )
}
#: Others, that only took more element types.
WIDENED = {
    **dict.fromkeys(("Conv", "MatMul"), (11, 15, 19)),
    **dict.fromkeys(("Concat", "Transpose", "Where", "Add", "Mul"), (9, 13)),
    "BatchNormalization": (15,),
    "Clip": (11, 13),
    "Unsqueeze": (13, 17),
}
OLDER = {
    name: sorted({*CHANGED.get(name, ()), *WIDENED.get(name, ())})
    for name in sorted({*CHANGED, *WIDENED})
}


@pytest.mark.parametrize("name", OLDER)
def test_an_operator_is_the_same_at_every_opset(name: str) -> None:
    compared = dict.fromkeys(OLDER[name], 0)
    for call in calls(name, 40, arithmetic.reals(), seed=1):
        for opset in compared:
            compared[opset] += _is_the_same(call, opset)
    assert min(compared.values()) >= 5, compared


def test_so_it_is_as_shipped_rules_apply_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """On an instance of every other rule, each operator at an opset that is drawn."""
    program = load_rules(list(shipped_names()))
    rng = random.Random(0)
    compared: Counter[str] = Counter()
    for rule in program.rules[::2]:
        for call in _applied(program, rule, monkeypatch):
            name = call.operator.name
            compared[name] += _is_the_same(call, rng.choice(OLDER[name])) if name in OLDER else 0
    assert sum(compared.values()) >= 150
    assert {"Conv", "Gather", "Slice", "Softmax", "Split", "ReduceMean"} <= set(+compared)


def _applied(
    program: CheckedProgram, rule: Rule, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Call]:
    """The applications of both sides of one instance, over the reals."""
    seen: list[Call] = []
    subject = make_subject(program, rule)
    sampler = Sampler(subject, 0)
    found = next((i for _ in range(60) if (i := sampler.attempt()) is not None), None)
    if found is None:
        return
    recorded = {name: _recording(name, seen) for name in EVALUATORS}
    scheme = arithmetic.reals()
    contents = draw_contents(found, Style.QUARTERS, scheme, np.random.default_rng(0))
    with monkeypatch.context() as patched, np.errstate(all="ignore"):
        patched.setattr(evaluator, "EVALUATORS", recorded)
        try:
            evaluate_sides(found, contents, Evaluator(subject.answerer.typer, scheme))
        except (Unsupported, IndexError, ValueError):
            return
    yield from seen


def _recording(name: str, seen: list[Call]):
    def evaluate(call: Call):
        seen.append(call)
        return EVALUATORS[name](call)

    return evaluate


def _is_the_same(call: Call, opset: int) -> bool:
    """Whether it could be compared; fails where it differs."""
    if call.operator.name == "Gemm" and call.dtype(0).is_integer:
        return False  # there integers are floats in between
    if call.operator.name == "ConvTranspose" and call.attribute("group") != 1:
        return False  # there all groups have the bias of the first; not so in onnxruntime
    told = opset, call.operator.name, [type_text(t) for t in call.types], call.attributes
    with np.errstate(all="ignore"):
        try:
            found = EVALUATORS[call.operator.name](call)
            expected = evaluate_by_reference(call, opset)
        except (Unsupported, IndexError):
            return False
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6, err_msg=str(told))
    return True
