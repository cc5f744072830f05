"""Evaluators of ONNX operators, one module a subject; `EVALUATORS` is the table of all.

An evaluator takes a :class:`Call` and gives the arrays of the outputs.  It raises Unsupported
where the arithmetic cannot say (an order among residues), and only then.
"""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.soundness.operators import (
    attention,
    einsum,
    layout,
    linear,
    norms,
    pointwise,
    select,
    windows,
)
from tensat_dl.soundness.operators.call import Call, Evaluator, Unsupported

__all__ = ["EVALUATORS", "Call", "Evaluator", "Unsupported"]

EVALUATORS: Mapping[str, Evaluator] = {
    **pointwise.EVALUATORS,
    **linear.EVALUATORS,
    **einsum.EVALUATORS,
    **windows.EVALUATORS,
    **norms.EVALUATORS,
    **attention.EVALUATORS,
    **layout.EVALUATORS,
    **select.EVALUATORS,
}
