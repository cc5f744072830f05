"""What a rule made, or found equal to what was there.

Enters: the steps of an explored e-graph, rules.  Leaves: :class:`Results`: the e-nodes by which a
tensor is computed as the right side has it.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from tensat_dl.diagnosis.step import Join
from tensat_dl.diagnosis.steps import Steps
from tensat_dl.egraph.snapshot import ENode


@dataclass(frozen=True)
class Results:
    """`enodes`: an answer that has one of them uses what the rules did; `made`: all e-nodes of
    their right sides; `steps`: how often they acted, as far as that can be found again."""

    enodes: frozenset[ENode]
    made: frozenset[ENode]
    steps: int


def results_of(steps: Steps, rules: Collection[str], at: int | None = None) -> Results:
    """Those of some rules, anywhere or of one tensor.

    Where the right side is a tensor of the pattern, whatever computes that is a result, but for
    what the pattern matched.  What leads back to where a rule came from is none: neither the same
    e-node, nor what the rule itself made the pattern's e-node of.
    """
    found = [step for rule in rules for step in steps.of_rule(rule, at)]
    joins = [join for step in found for join in step.joins if at in (None, join.left.eclass)]
    written = {(join.left, join.right) for join in joins if join.right is not None}
    enodes = {
        right
        for left, right in written
        if right != left and not (left.rule in rules and right.original)
    }
    enodes |= _of_variables([join for join in joins if join.right is None], steps)
    made = frozenset(made for step in found for made in step.makes)
    return Results(frozenset(enodes), made, len(joins))


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


def _of_variables(joins: Collection[Join], steps: Steps) -> set[ENode]:
    matched = {join.left for join in joins}
    tensors = {join.left.eclass for join in joins}
    nodes = steps.index.saturated.nodes
    return {node for node in nodes if node.eclass in tensors and node not in matched}
