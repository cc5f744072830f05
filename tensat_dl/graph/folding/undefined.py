"""What must not be computed beforehand, since ONNX does not say what it is.

Enters: a graph, and something that computes constants.  Leaves: the values that come out of an
integer division by zero, a conversion of a float to an integer that cannot hold it, a power that
the integers of its base do not hold, a shift by all bits or more, and all that depends on them.
Runtimes disagree on these; some end the process.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tensat_dl.graph.model import Graph, Node
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

Array = NDArray[Any]
#: Name -> content of those of some values that can be had.
Compute = Callable[[Sequence[str]], Mapping[str, Array]]

_DIVISIONS = frozenset({"Div", "Mod"})
_CONVERSIONS = frozenset({"Cast", "CastLike"})


def undefined_values(graph: Graph, nodes: Sequence[Node], compute: Compute) -> frozenset[str]:
    """Outputs of `nodes`, in topological order, that must not be computed.

    What decides is computed in as few calls as can be: an operand may itself come out of a
    division."""
    lost: set[str] = set()
    for level in _levels(graph, nodes):
        lost = _spread(nodes, lost)
        asked = [node for node in level if lost.isdisjoint(node.inputs)]
        names = dict.fromkeys(name for node in asked for name in node.inputs if name is not None)
        content = compute(list(names))
        for node in asked:
            operands = [content.get(name or "") for name in node.inputs]
            if any(each is None for each in operands) or not _is_defined(graph, node, operands):
                lost.update(node.outputs)
    return frozenset(_spread(nodes, lost))


def _levels(graph: Graph, nodes: Iterable[Node]) -> Iterable[Sequence[Node]]:
    """The nodes that may be undefined, each after those that it depends on."""
    depth: dict[str | None, int] = {}
    levels: dict[int, list[Node]] = defaultdict(list)
    for node in nodes:
        reached = max((depth.get(name, 0) for name in node.inputs), default=0)
        if _may_be_undefined(graph, node):
            levels[reached].append(node)
            reached += 1
        depth.update(dict.fromkeys(node.outputs, reached))
    return [levels[each] for each in sorted(levels)]


def _spread(nodes: Iterable[Node], lost: set[str]) -> set[str]:
    found = set(lost)
    for node in nodes if found else ():
        if not found.isdisjoint(node.inputs):
            found.update(node.outputs)
    return found


def _may_be_undefined(graph: Graph, node: Node) -> bool:
    name, first = node.operator.name, _dtype(graph, node.inputs[0] if node.inputs else None)
    if node.operator.domain or first is None:
        return False
    if name in _CONVERSIONS:
        made = _dtype(graph, node.outputs[0])
        return first.is_float and made is not None and made.is_integer
    return first.is_integer and (name in _DIVISIONS or name in {"BitShift", "Pow"})


def _is_defined(graph: Graph, node: Node, operands: Sequence[Any]) -> bool:
    first = _dtype(graph, node.inputs[0])
    assert first is not None, "only operators of known types are asked"
    if node.operator.name in _CONVERSIONS:
        made = _dtype(graph, node.outputs[0])
        return made is not None and _fits(operands[0], made)
    if node.operator.name == "BitShift":
        return bool((operands[1] < first.bits).all())
    if node.operator.name == "Pow":
        return _fits(_power(operands[0], operands[1]), first)
    return _divides(operands[0], operands[1])


def _divides(dividend: Array, divisor: Array) -> bool:
    """No zero; and the least integer has no counterpart that is positive."""
    if (divisor == 0).any():
        return False
    if divisor.dtype.kind != "i" or not (divisor == -1).any():
        return True
    return not (dividend == np.iinfo(divisor.dtype).min).any()


def _power(base: Array, exponent: Array) -> Array:
    """In f64, as runtimes compute it: 0 to the power of -1 is infinite."""
    with np.errstate(all="ignore"):
        return np.asarray(np.power(base.astype(np.float64), exponent.astype(np.float64)))


def _fits(content: Array, dtype: DType) -> bool:
    """Can the type hold the whole part of each number?"""
    wide = content.astype(np.float64)
    low = -(2.0 ** (dtype.bits - 1)) if dtype.is_signed else 0.0
    high = 2.0 ** (dtype.bits - dtype.is_signed)
    whole = np.trunc(wide)
    return bool((np.isfinite(wide) & (whole >= low) & (whole < high)).all())


def _dtype(graph: Graph, name: str | None) -> DType | None:
    type_ = graph.type_of(name)
    return type_.dtype if isinstance(type_, TensorType) else None
