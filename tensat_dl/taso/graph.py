"""One substitution, looked at: who reads whom, and what operators say.

Enters: a substitution.  Leaves: sides that are well formed, and their parameters by name.  Raises
Inexpressible where it is not well formed or says what the rule language has no words for.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from tensat_dl.taso.codes import Activation, Operator, Padding, Parameter
from tensat_dl.taso.read import Node, Substitution, Tensor

#: Operators of one side, and the largest kernel, stride or rank.  TASO generates up to four.
_MOST_OPERATORS = 40
_LARGEST = 64


class Inexpressible(Exception):
    """Why there is no rule for a substitution; the text fits behind "not expressed:"."""


#: Operator -> how many inputs it has; None for any number from one on.
_ARITY: dict[Operator, int | None] = {
    Operator.CONV2D: 2,
    Operator.POOL2D_MAX: 1,
    Operator.RELU: 1,
    Operator.SIGMOID: 1,
    Operator.TANH: 1,
    Operator.CONCAT: None,
    Operator.SPLIT: 1,
    Operator.TRANSPOSE: 1,
    Operator.EW_ADD: 2,
    Operator.EW_MUL: 2,
    Operator.MATMUL: 2,
    Operator.MUL: 2,
    Operator.ENLARGE: 1,
}
ELEMENTWISE = frozenset((Operator.EW_ADD, Operator.EW_MUL))
ACTIVATIONS = frozenset((Operator.RELU, Operator.SIGMOID, Operator.TANH))


@dataclass(frozen=True)
class Part:
    """An operator whose number, arity and parameters are in order."""

    operator: Operator
    inputs: tuple[Tensor, ...]
    parameters: dict[int, int]

    @property
    def outputs(self) -> int:
        """How many it has."""
        return self.number(Parameter.NUM_OUTPUTS, 1) if self.operator is Operator.SPLIT else 1

    def number(self, parameter: Parameter, least: int) -> int:
        """A parameter, at least `least`.  Raises Inexpressible."""
        value = self.parameters.get(parameter)
        if value is None or not least <= value <= _LARGEST:
            raise Inexpressible(f"{parameter.name} of {self.operator.name} is {value}")
        return value

    @property
    def activation(self) -> Activation:
        """What follows a convolution, product or pooling."""
        value = self.parameters.get(Parameter.ACTI, 0)
        if value not in set(Activation):
            raise Inexpressible(f"the activation {value} is not known")
        return Activation(value)

    @property
    def kernel(self) -> tuple[int, int]:
        """Height and width."""
        return self.number(Parameter.KERNEL_H, 1), self.number(Parameter.KERNEL_W, 1)

    @property
    def strides(self) -> tuple[int, int]:
        """Down and across."""
        return self.number(Parameter.STRIDE_H, 1), self.number(Parameter.STRIDE_W, 1)

    @property
    def pads(self) -> tuple[int, int, int, int]:
        """In ONNX's order.  SAME adds `kernel - 1` at a stride of 1, half of it, rounded up, on
        either side; at other strides it depends on the image."""
        mode = self.parameters.get(Parameter.PAD)
        if mode == Padding.VALID:
            return 0, 0, 0, 0
        if mode != Padding.SAME:
            raise Inexpressible(f"the padding {mode} is not known")
        if self.strides != (1, 1):
            raise Inexpressible("SAME padding with a stride depends on the size of the image")
        high, wide = (size // 2 for size in self.kernel)
        return high, wide, high, wide

    @property
    def permutation(self) -> tuple[int, ...]:
        """Of a transposition: TASO packs it into one number, in the base of the rank."""
        rank = self.number(Parameter.NUMDIM, 1)
        packed = self.parameters.get(Parameter.PERM, -1)
        axes: list[int] = []
        for _ in range(rank):
            packed, axis = divmod(packed, rank)
            axes.insert(0, axis)
        if packed or sorted(axes) != list(range(rank)):
            raise Inexpressible(f"PERM of TRANSPOSE is {self.parameters.get(Parameter.PERM)}")
        return tuple(axes)


def _part(node: Node, index: int, before: list[Part]) -> Part:
    if node.kind not in set(Operator):
        raise Inexpressible(f"the operator {node.kind} is not known")
    operator = Operator(node.kind)
    if operator not in _ARITY:
        raise Inexpressible(f"the rule language has no operator for TASO's {operator.name}")
    wanted = _ARITY[operator]
    if not node.inputs or wanted not in (None, len(node.inputs)):
        raise Inexpressible(f"{operator.name} has {len(node.inputs)} inputs")
    for tensor in node.inputs:
        if tensor.operator >= index:
            raise Inexpressible(f"{operator.name} reads an operator that comes later")
        _check_output(tensor, before)
    return Part(operator, node.inputs, dict(node.parameters))


def _check_output(tensor: Tensor, parts: list[Part]) -> None:
    count = 1 if tensor.operator < 0 else parts[tensor.operator].outputs
    if not 0 <= tensor.output < count:
        raise Inexpressible(f"there is no output {tensor.output} where one is read")


@dataclass(frozen=True)
class Side:
    """`outputs`: the tensors that are matched, or stand for these."""

    parts: tuple[Part, ...]
    outputs: tuple[Tensor, ...]

    def part(self, tensor: Tensor) -> Part | None:
        """The operator of a tensor; None for a variable."""
        return None if tensor.operator < 0 else self.parts[tensor.operator]

    @cached_property
    def uses(self) -> Counter[Tensor]:
        """How often each tensor is read."""
        return Counter(tensor for part in self.parts for tensor in part.inputs)

    def variables(self) -> Iterator[Tensor]:
        """In the order in which they stand, with repetitions."""
        for part in self.parts:
            yield from (tensor for tensor in part.inputs if tensor.operator < 0)
        yield from (tensor for tensor in self.outputs if tensor.operator < 0)


def make_sides(substitution: Substitution) -> tuple[Side, Side]:
    """Both sides.  Raises Inexpressible."""
    if not substitution.outputs:
        raise Inexpressible("it maps no output")
    lefts, rights = zip(*substitution.outputs, strict=True)
    left, right = _side(substitution.left, lefts), _side(substitution.right, rights)
    if len(set(lefts)) != len(lefts) or any(tensor.operator < 0 for tensor in lefts):
        raise Inexpressible("what it replaces is not one output of an operator each")
    if set(right.variables()) - set(left.variables()):
        raise Inexpressible("the right side reads a tensor that the left side does not have")
    made = {Tensor(i, o) for i, part in enumerate(left.parts) for o in range(part.outputs)}
    if made - set(left.uses) - set(lefts):
        raise Inexpressible("an output of the left side is neither read nor replaced")
    return left, right


def _side(nodes: tuple[Node, ...], outputs: tuple[Tensor, ...]) -> Side:
    if len(nodes) > _MOST_OPERATORS:
        raise Inexpressible(f"a side has {len(nodes)} operators, more than {_MOST_OPERATORS}")
    parts: list[Part] = []
    for index, node in enumerate(nodes):
        parts.append(_part(node, index, parts))
    for tensor in outputs:
        if tensor.operator >= len(parts):
            raise Inexpressible("it maps an operator that is not there")
        _check_output(tensor, parts)
    return Side(tuple(parts), outputs)
