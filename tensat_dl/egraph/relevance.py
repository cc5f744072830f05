"""Leaves out rules that can never match: compiling a rule costs the engine milliseconds.

Enters: rules, derivations, the operators of a graph.  Leaves: the rules and derivations whose left
sides are made of operators that the graph has or that a relevant rule can make.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from tensat_dl.language import program
from tensat_dl.language.sides import emitted_operators, matched_operators
from tensat_dl.vocabulary.operators import Operator


def relevant(
    rules: Sequence[program.Rule],
    derivations: Sequence[program.Derivation],
    graph_operators: Iterable[Operator],
) -> tuple[tuple[program.Rule, ...], tuple[program.Derivation, ...]]:
    """The least fixpoint, in the order given."""
    known = set(graph_operators)
    relations = {program.WEIGHT}
    while True:
        matching = [r for r in rules if _may_match(r, known, relations)]
        deriving = [d for d in derivations if _may_match(d, known, relations)]
        made = {o for rule in matching for emit in rule.emits for o in emitted_operators(emit.term)}
        derived = {d.relation for d in deriving}
        if made <= known and derived <= relations:
            return tuple(matching), tuple(deriving)
        known |= made
        relations |= derived


def _may_match(
    rule: program.Rule | program.Derivation, known: set[Operator], relations: set[str]
) -> bool:
    needed = set(matched_operators(rule))
    return needed <= known and all(fact.relation in relations for fact in rule.facts)
