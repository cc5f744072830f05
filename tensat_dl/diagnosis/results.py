"""What a rule made, or found equal to what was there.

Enters: the steps of an explored e-graph, rules.  Leaves: :class:`Results`: the e-nodes by which a
tensor is computed as the right side has it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from tensat_dl.diagnosis.step import Join, Step
from tensat_dl.diagnosis.steps import Steps
from tensat_dl.egraph.snapshot import ENode


@dataclass(frozen=True)
class Results:
    """`enodes`: an answer that has one of them uses what the rules did; `made`: all e-nodes of
    their right sides; `traced`: some of how they acted was found again, `complete`: all of it."""

    enodes: frozenset[ENode]
    made: frozenset[ENode]
    traced: bool
    complete: bool


def results_of(steps: Steps, rules: Collection[str], at: int | None = None) -> Results:
    """Those of some rules, anywhere or of one tensor.

    Where the right side is a tensor of the pattern, whatever computes that is a result, but for
    what the pattern matched.  What leads back to where a rule came from is none: neither the same
    e-node, nor the one that the rule itself made the pattern's of.  Of rules that match by way of
    relations, no more can be told than which e-nodes they made first.
    """
    found = [step for rule in rules for step in steps.of_rule(rule, at)]
    pairs = [(step, join) for step in found for join in step.joins]
    pairs = [(step, join) for step, join in pairs if at in (None, join.left.eclass)]
    if not pairs:
        nodes = steps.index.saturated.nodes
        made = frozenset(n for n in nodes if n.rule in rules and at in (None, n.eclass))
        return Results(made, made, traced=False, complete=True)
    enodes = {
        right
        for step, join in pairs
        for right in _rights(step, join)
        if right != join.left and not (join.left.rule in rules and right.original)
    }
    enodes |= _of_variables([join for _, join in pairs if join.right is None], steps)
    made = frozenset(made for step in found for made in step.makes)
    complete = steps.given_up.isdisjoint(rules)
    return Results(frozenset(enodes), made, traced=True, complete=complete)


def _rights(step: Step, join: Join) -> Iterator[ENode]:
    """What the right side has for a tensor: its last e-node, and those below it that others found
    equal, as they do where a right side adds zero."""
    if join.right is not None:
        yield join.right
        yield from (made for made in step.makes if made.eclass == join.left.eclass)


def _of_variables(joins: Collection[Join], steps: Steps) -> set[ENode]:
    matched = {join.left for join in joins}
    tensors = {join.left.eclass for join in joins}
    nodes = steps.index.saturated.nodes
    return {node for node in nodes if node.eclass in tensors and node not in matched}


def leads_to(steps: Steps, enode: ENode, made: Collection[ENode]) -> bool:
    """Some e-node of `made` is among those that an e-node was made from, step after step."""
    seen, pending = {enode}, [enode]
    while pending:
        here = pending.pop()
        if here in made:
            return True
        fresh = {read for step in steps.making(here) for read in step.reads} - seen
        seen |= fresh
        pending += fresh
    return False
