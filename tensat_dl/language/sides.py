"""Which operators the sides of a rule apply.  Enters: a rule or a term.  Leaves: operators."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tensat_dl.language.program import (
    Derivation,
    EmitMap,
    EmitMaybe,
    EmitNode,
    EmitTerm,
    InputMap,
    Match,
    Rule,
)
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


def matched_operators(rule: Rule | Derivation) -> Iterator[Operator]:
    """Every operator that the left side applies, in order, each once."""
    return operators_of(rule.matches)


def operators_of(matches: Iterable[Match]) -> Iterator[Operator]:
    """Every operator that matches apply, in order, each once."""
    found: dict[Operator, None] = {}
    for match in matches:
        found[match.operator] = None
        found.update((item.operator, None) for item in match.inputs if isinstance(item, InputMap))
    return iter(found)
