"""Where an exploration spends its time, and what the answer has of it.

Enters: a snapshot, the chosen e-nodes.  Leaves: a :class:`Profile`: a row for each rule, one for
each step.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from tensat_dl.egraph.snapshot import Application, ENode, Saturated, StepRecord


@dataclass(frozen=True)
class RuleProfile:
    """`made` counts the e-nodes of the rule that the e-graph has at the end, `in_answer` those of
    the answer."""

    name: str
    matches: int
    applied: int
    rejected: int
    made: int
    in_answer: int
    seconds: float


@dataclass(frozen=True)
class Profile:
    """Rules, those that took longest first; steps in order.  `other_seconds` is what no rule
    accounts for: loading, merging equal nodes, cycle checks, copying out."""

    rules: tuple[RuleProfile, ...]
    steps: tuple[StepRecord, ...]
    other_seconds: float


def make_profile(saturated: Saturated, chosen: Iterable[ENode]) -> Profile:
    """The profile of one exploration."""
    exploration = saturated.exploration
    made = _by_rule(saturated.nodes)
    in_answer = _by_rule(chosen)
    rules = [
        RuleProfile(
            name,
            count.matches,
            count.applied,
            count.rejected,
            made[name],
            in_answer[name],
            count.seconds,
        )
        for name, count in exploration.rules.items()
    ]
    rules.sort(key=lambda rule: (-rule.seconds, -rule.matches, rule.name))
    other = max(0.0, exploration.seconds - sum(rule.seconds for rule in rules))
    return Profile(tuple(rules), exploration.trace, other)


def _by_rule(nodes: Iterable[ENode]) -> Counter[str]:
    applications = (node for node in nodes if isinstance(node.head, Application))
    return Counter(node.rule for node in applications if node.rule)
