"""Every evaluator computes what ONNX's reference evaluator does, on applications of all kinds, and
gives the dims that type inference says."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from applications import calls

from tensat_dl.soundness import arithmetic
from tensat_dl.soundness.arithmetic import Unsupported
from tensat_dl.soundness.operators import EVALUATORS
from tensat_dl.soundness.reference import evaluate_by_reference
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.types import type_text

pytestmark = pytest.mark.slow

#: The reference evaluator gives four axes whatever the input has; it lacks the other.
_NO_REFERENCE = {"GlobalMaxPool", "GlobalLpPool"}
_F32_ONLY = {"Celu"}


@pytest.mark.parametrize("name", sorted(EVALUATORS.keys() - _NO_REFERENCE))
def test_an_evaluator_agrees_with_the_reference(name: str) -> None:
    compared = 0
    scheme = arithmetic.native() if name in _F32_ONLY else arithmetic.reals()
    for call in calls(name, 40, scheme):
        told = [type_text(t) for t in call.types], dict(call.attributes.items)
        with np.errstate(all="ignore"):
            try:
                found = EVALUATORS[name](call)
                expected = evaluate_by_reference(call)
            except (Unsupported, IndexError):
                continue
        if expected[0].shape != call.result_dims():
            continue  # MaxPool there, with pads at the end alone
        if name == "ConvTranspose" and call.has(2) and call.integer("group") > 1:
            continue  # the bias of the first group alone, there
        compared += 1
        for index, (mine, theirs) in enumerate(zip(found, expected, strict=True)):
            assert mine.shape == call.result_dims(index), told
            np.testing.assert_allclose(mine, theirs, rtol=1e-6, atol=1e-6, err_msg=str(told))
    assert compared >= 10


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_global_norm_is_that_of_numpy(order: int) -> None:
    """The reference evaluator has none."""
    for call in calls("GlobalLpPool", 5, arithmetic.reals()):
        x = call.input(0)
        rows = x.reshape(*x.shape[:2], -1)
        expected = np.linalg.norm(rows, order, axis=2).reshape(call.result_dims())
        asked = replace(call, attributes=Attributes.of({"p": order}))
        [found] = EVALUATORS["GlobalLpPool"](asked)
        np.testing.assert_allclose(found, expected, rtol=1e-9)
