"""Values that are compared where outputs are saturated: what the last activations read.

A softmax over scores that are far apart gives zeros and a one whatever the scores are, so its
outputs hide a difference that its inputs show.

Enters: both models.  Leaves: one :class:`Probe` for each output that the same activation makes in
both, from values that nodes make.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray

from tensat_dl.graph.running.plain import is_plain
from tensat_dl.graph.source import opset_imports, plain_domain

Array = NDArray[Any]

#: Activations that tell their inputs apart (Softmax: but for a shift) until they saturate.
_SATURATING = frozenset(("Softmax", "Sigmoid", "Tanh", "Softsign", "Erf"))

#: An element this near to the end of the range is saturated ...
_NEAR = 1e-6
#: ... and an output is where so many of its elements are.
_SHARE = 0.5


@dataclass(frozen=True)
class Probe:
    """The input of the `operator` that makes `output`: its name in either model.  `axis`: where
    only differences along it count; `flat`: along it and all that follow."""

    output: str
    operator: str
    before: str
    after: str
    axis: int | None = None
    flat: bool = False

    @property
    def label(self) -> str:
        """For messages."""
        return f"what {self.operator} makes output '{self.output}' of"

    def normal(self, array: Array) -> Array:
        """Without the shift that a softmax does not see."""
        if self.axis is None or not array.size or not array.ndim:
            return array
        if self.flat:
            array = array.reshape((int(np.prod(array.shape[: self.axis])), -1))
        with np.errstate(invalid="ignore"):
            return np.asarray(array - array.max(-1 if self.flat else self.axis, keepdims=True))


def find_probes(before: onnx.ModelProto, after: onnx.ModelProto) -> tuple[Probe, ...]:
    """All values that can be looked at; none twice."""
    left, right = _makers(before.graph), _makers(after.graph)
    flat = opset_imports(before).get("", 13) < 13
    shown = {value.name for value in before.graph.output}
    found: dict[tuple[str, str], Probe] = {}
    for value in before.graph.output:
        first, second = left.get(value.name), right.get(value.name)
        if not is_plain(value) or first is None or second is None or not _agree(first, second):
            continue
        reads = first.input[0], second.input[0]
        if reads[0] in left and reads[1] in right and shown.isdisjoint(reads):
            axis = _axis(first, flat) if first.op_type == "Softmax" else None
            found[reads] = Probe(value.name, first.op_type, *reads, axis, flat)
    return tuple(found.values())


def is_saturated(array: Array) -> bool:
    """Most of a float array is -1, 0 or 1, or nearly so."""
    if array.dtype.kind != "f" or not array.size:
        return False
    gaps = np.abs(array[..., None].astype(np.float64) - np.array([-1.0, 0.0, 1.0]))
    return float(np.mean(gaps.min(-1) <= _NEAR)) >= _SHARE


def _agree(first: onnx.NodeProto, second: onnx.NodeProto) -> bool:
    saturates = first.op_type in _SATURATING and not plain_domain(first.domain)
    same = (first.op_type, plain_domain(second.domain)) == (second.op_type, "")
    return saturates and same and list(first.attribute) == list(second.attribute)


def _axis(node: onnx.NodeProto, flat: bool) -> int:
    axis = next((attribute.i for attribute in node.attribute if attribute.name == "axis"), None)
    return (1 if flat else -1) if axis is None else int(axis)


def _makers(graph: onnx.GraphProto) -> Mapping[str, onnx.NodeProto]:
    return {name: node for node in graph.node for name in node.output if name}
