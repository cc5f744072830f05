"""Which transitive relations are derived by demand, and the rules that demand.

Enters: rules and derivations.  Leaves: the relations whose every use has a left side that binds
the same argument, and commands that collect the values of that argument.

The closure of a relation over n tensors has up to n * n facts.  Where every use fixes one
argument, only the facts of the values it takes are ever read, so only these are derived: the
magic sets of Datalog, for the one shape of recursion that grows with the square.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.egraph import naming
from tensat_dl.egraph.plan import plan_matches
from tensat_dl.egraph.query import write_query
from tensat_dl.egraph.runs import rule_text
from tensat_dl.language import program


@dataclass(frozen=True)
class Use:
    """A left side that reads a relation; `prefix` names the tables of its mapped lists."""

    prefix: str
    matches: tuple[program.Match, ...]
    fact: program.Fact


def is_transitive(derivation: program.Derivation) -> bool:
    """`r(a, c) if r(a, b), r(b, c)` and nothing else."""
    facts = derivation.facts
    if derivation.matches or derivation.conditions or derivation.ascriptions or len(facts) != 2:
        return False
    first, second = facts
    if {first.relation, second.relation} != {derivation.relation}:
        return False
    if len(first.arguments) != 2:
        return False
    (a, b), (c, d) = first.arguments, second.arguments
    return b == c and derivation.arguments == (a, d)


def uses_of(
    rules: Sequence[program.Rule], derivations: Sequence[program.Derivation]
) -> Iterator[Use]:
    """Every fact that a rule or a derivation asks for, but for the steps of transitive ones."""
    for number, rule in enumerate(rules, start=1):
        yield from (Use(str(number), rule.matches, fact) for fact in rule.facts)
    for number, derivation in enumerate(derivations):
        if not is_transitive(derivation):
            prefix = derivation_prefix(number)
            yield from (Use(prefix, derivation.matches, fact) for fact in derivation.facts)


def derivation_prefix(number: int) -> str:
    """What the names of a derivation's tables start with; `number` counts from 0."""
    return f"d{number}"


def demanded_arguments(
    uses: Sequence[Use], derivations: Sequence[program.Derivation]
) -> Mapping[str, int]:
    """Transitive relation -> the argument (0 or 1) that every use binds."""
    found = {}
    for relation in {d.relation for d in derivations if is_transitive(d)}:
        bound = [_bound_arguments(use) for use in uses if use.fact.relation == relation]
        common = {0, 1}.intersection(*bound)
        if common:
            found[relation] = min(common)
    return found


def demand_table(relation: str) -> str:
    """The values of the bound argument that were asked for."""
    return "demand_" + naming.relation_table(relation)


def demand_rules(uses: Sequence[Use], arguments: Mapping[str, int], ruleset: str) -> Iterator[str]:
    """Ask for the bound argument of every match of every use."""
    for place, use in enumerate(uses):
        if use.fact.relation not in arguments:
            continue
        left = plan_matches(use.matches)
        value = use.fact.arguments[arguments[use.fact.relation]]
        head = [f"({demand_table(use.fact.relation)} {naming.variable(value)})"]
        query = write_query(left, prefix=use.prefix, origins=False)
        yield rule_text(query.atoms, head, ruleset, f"demand:{place}")


def _bound_arguments(use: Use) -> set[int]:
    tensors = plan_matches(use.matches).tensors
    return {place for place, name in enumerate(use.fact.arguments) if name in tensors}
