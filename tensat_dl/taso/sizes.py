"""Expressions for the dims of a side's tensors, and for where they were joined.

Enters: a side, names of its variables.  Leaves: expressions of the rule language.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tensat_dl.taso.codes import Operator, Parameter
from tensat_dl.taso.graph import ACTIVATIONS, ELEMENTWISE, Inexpressible, Part, Side
from tensat_dl.taso.read import Tensor


@dataclass(frozen=True)
class Sizes:
    """`names`: of the variables."""

    side: Side
    names: Mapping[Tensor, str]

    def dim(self, tensor: Tensor, axis: int) -> str:
        """An expression for a dim.  Raises Inexpressible."""
        part = self.side.part(tensor)
        if part is None:
            return f"dim({self.names[tensor]}, {axis})"
        if part.operator is Operator.CONCAT and part.number(Parameter.AXIS, 0) == axis:
            return " + ".join(self.dim(each, axis) for each in part.inputs)
        if part.operator is Operator.TRANSPOSE:
            return self.dim(part.inputs[0], part.permutation[axis])
        if part.operator in ELEMENTWISE:
            first, second = (self.dim(each, axis) for each in part.inputs)
            return first if first == second else f"max({first}, {second})"
        source = _source(part, axis)
        if source is None:
            raise Inexpressible("the size of an axis does not follow from the left side")
        return self.dim(part.inputs[source[0]], source[1])

    def joint(self, tensor: Tensor, axis: int) -> tuple[str, str]:
        """The two sizes that were joined along an axis.  Raises Inexpressible."""
        part = self.side.part(tensor)
        if part is None:
            raise Inexpressible("where a tensor is split does not follow from the left side")
        if part.operator is Operator.CONCAT and part.number(Parameter.AXIS, 0) == axis:
            if len(part.inputs) == 2:
                first, second = (self.dim(each, axis) for each in part.inputs)
                return first, second
            raise Inexpressible("more than two tensors are joined and split in two")
        if part.operator in ELEMENTWISE:
            joints = {self.joint(each, axis) for each in part.inputs}
            if len(joints) == 1:
                return joints.pop()
            raise Inexpressible("tensors are joined in different places")
        source = _source(part, axis)
        if source is None:
            raise Inexpressible("where a tensor is split does not follow from the left side")
        return self.joint(part.inputs[source[0]], source[1])


def _source(part: Part, axis: int) -> tuple[int, int] | None:
    """The input and its axis from which an axis of the output comes unchanged."""
    match part.operator:
        case Operator.CONV2D:
            return {0: (0, 0), 1: (1, 0)}.get(axis)
        case Operator.MATMUL:
            return {0: (0, 0), 1: (1, 1)}.get(axis)
        case Operator.POOL2D_MAX | Operator.ENLARGE:
            return (0, axis) if axis < 2 else None
        case Operator.CONCAT | Operator.MUL:
            return 0, axis
        case operator if operator in ACTIVATIONS:
            return 0, axis
    return None
