"""What a right side mentions.  Enters: a term of an emit.  Leaves: the operators inside."""

from __future__ import annotations

from collections.abc import Iterator

from tensat_dl.language.program import EmitMap, EmitMaybe, EmitNode, EmitTerm
from tensat_dl.vocabulary.operators import Operator


def emitted_operators(term: EmitTerm) -> Iterator[Operator]:
    """Every operator that the term applies, outermost first."""
    match term:
        case EmitNode() | EmitMap():
            yield term.operator
            for item in term.inputs:
                yield from emitted_operators(item)
        case EmitMaybe(inner):
            yield from emitted_operators(inner)
        case _:
            return
