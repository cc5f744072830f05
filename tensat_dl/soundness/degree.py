"""A bound on the degree of what an instance computes, as a polynomial or quotient of its inputs.

Functions of an element that are neither begin anew: they stand as random functions.
"""

from __future__ import annotations

from collections.abc import Sequence

from tensat_dl.egraph.build import BuildConstant, BuildMap, Many, One
from tensat_dl.language import program
from tensat_dl.soundness.instances import Instance

#: Operators whose degree is the sum of those of their inputs.
_PRODUCTS = frozenset(("Mul", "MatMul", "Gemm", "Conv", "ConvTranspose", "Div", "PRelu", "Einsum"))
#: Operators that multiply an input by itself, or divide by a sum: times this.
_POWERS = {
    "Pow": 8,
    "ReduceProd": 64,
    "ReduceSumSquare": 2,
    "ReduceL2": 2,
    "LayerNormalization": 4,
    "GroupNormalization": 4,
    "InstanceNormalization": 4,
    "BatchNormalization": 4,
    "Softmax": 2,
    "LogSoftmax": 2,
    "Reciprocal": 2,
}


def degree(instance: Instance) -> int:
    """At least the degree of the difference of the sides."""
    known: dict[str, int] = {}
    for match in instance.plan.left.matches * 2:  # twice: inputs may stand behind what reads them
        inner = [_inputs(item, known) for item in match.inputs]
        found = _of(match.operator.name, [d for part in inner for d in part])
        known.update(dict.fromkeys(match.outputs, found))
    for build, _ in instance.right:
        if isinstance(build, BuildConstant):
            known[build.name] = 0
            continue
        given = [item.ref if isinstance(item, One | Many) else item for item in build.inputs]
        found = _of(build.operator.name, [known.get(ref, 1) for ref in given if ref])
        known[build.name] = found
        if not isinstance(build, BuildMap):
            known.update(dict.fromkeys(build.outputs, found))
    return max(1, *known.values()) if known else 1


def _inputs(item: program.MatchInput, known: dict[str, int]) -> list[int]:
    match item:
        case program.InputVariable(name) | program.InputStar(name):
            return [known.get(name, 1)]
        case program.InputMap():
            parts = [d for inner in item.inputs for d in _inputs(inner, known)]
            return [_of(item.operator.name, parts)]
    return []


def _of(name: str, degrees: Sequence[int]) -> int:
    if name in _PRODUCTS:
        return sum(degrees)
    return _POWERS.get(name, 1) * max(degrees, default=0)
