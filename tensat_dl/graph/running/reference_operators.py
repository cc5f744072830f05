"""Operators that ONNX's reference evaluator computes wrongly at older opsets, computed rightly.

Enters: the opset of a model.  Leaves: classes for the evaluator to use instead of its own.  Where
an operator cannot be computed here either, the evaluator says so and nothing is compared by it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from onnx.reference.op_run import OpRun


class BatchNormalization(OpRun):
    """Below opset 14 it trains where there are outputs for that; the evaluator always trains."""

    op_domain = ""

    def _run(
        self,
        x: np.ndarray[Any, Any],
        scale: np.ndarray[Any, Any],
        bias: np.ndarray[Any, Any],
        mean: np.ndarray[Any, Any],
        var: np.ndarray[Any, Any],
        epsilon: float = 1e-5,
        spatial: int = 1,
        training_mode: int = 0,
        **_: object,
    ) -> tuple[np.ndarray[Any, Any]]:
        if training_mode or sum(map(bool, self.onnx_node.output)) > 1:
            raise NotImplementedError("BatchNormalization that trains, below opset 14")
        if spatial != 0:
            per_channel = (-1, *[1] * (x.ndim - 2))
            scale, bias, mean, var = (
                each.reshape(per_channel) for each in (scale, bias, mean, var)
            )
        y = (x - mean) / np.sqrt(var + epsilon) * scale + bias
        return (y.astype(x.dtype),)


class Unsqueeze(OpRun):
    """Below opset 13 the axes are an attribute, in any order; the evaluator needs them sorted."""

    op_domain = ""

    def _run(
        self, data: np.ndarray[Any, Any], axes: Sequence[int] = (), **_: object
    ) -> tuple[np.ndarray[Any, Any]]:
        return (np.expand_dims(data, tuple(axes)),)


#: Below these opsets the evaluator is wrong.
_RIGHT_SINCE: dict[type[OpRun], int] = {BatchNormalization: 14, Unsqueeze: 13}


def corrected_operators(opset: int) -> list[type[OpRun]]:
    """The classes for a model of this opset of ONNX's own operators."""
    return [each for each, since in _RIGHT_SINCE.items() if opset < since]
