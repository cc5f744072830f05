"""What a virtual operator is made of, with types: its lowering at one application.

Enters: a checked program.  Leaves: a function from an application to the applications it is
lowered to; none where the lowering has no type there.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from tensat_dl.cost.work import Lower, Part
from tensat_dl.egraph.lowering import Lowered, LoweredNode, lower
from tensat_dl.egraph.typing import Refusal
from tensat_dl.language.program import CheckedProgram
from tensat_dl.vocabulary.operators import OperatorKind


def make_lower(program: CheckedProgram | None) -> Lower:
    """The lowering of every virtual operator of `program`."""

    @cache
    def parts(part: Part) -> Sequence[Part]:
        if program is None or part.application.operator.kind is not OperatorKind.VIRTUAL:
            return ()
        try:
            lowered = lower(program, part.application, part.inputs)
        except Refusal:
            return ()
        return [_part(node, lowered) for node in lowered.nodes]

    return parts


def _part(node: LoweredNode, lowered: Lowered) -> Part:
    outputs = (name for name in node.outputs if name in lowered.types)
    return Part(
        node.application,
        tuple(map(lowered.type_of, node.inputs)),
        tuple(map(lowered.type_of, outputs)),
    )
