"""Splits a graph into parts that can be solved one by one.

Guarantee: the best selections of the parts, the settled nodes and the constant together are a
best selection of the whole.  Classes that the roots require are there in any case, so a child
edge to one of them costs nothing and matters only inside a strongly connected component, where it
could close a loop.  What is left connects the decisions that depend on each other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.reductions.required import Required, required_sets
from tensat_dl.extract.work import ROOT, Work, subwork


@dataclass(frozen=True)
class Split:
    """`constant` is the cost of the required classes without a decision, whose nodes are
    `settled`; `parts` are independent, the smallest first."""

    constant: float
    settled: dict[int, int]
    parts: list[Work]


def split(work: Work, deadline: Deadline) -> Split:
    """Split a pruned graph."""
    required = required_sets(work, deadline)
    forced = {c for c in required.classes(required.below[ROOT]) if c != ROOT}
    region = {c: i for i, component in enumerate(required.components) for c in component}
    groups = _groups(work, required, forced)
    parts: list[Work] = []
    settled: dict[int, int] = {}
    constant = 0.0
    for group in groups:
        if len(group) > 1:
            parts.append(_part(work, group, forced, region))
            continue
        (c,) = group
        settled[c] = min(work.members[c], key=lambda n: (work.cost[n], n))
        constant += work.cost[settled[c]]
    parts.sort(key=lambda part: (part.nodes, min(c for c in part.members if c != ROOT)))
    return Split(constant, settled, parts)


def _groups(work: Work, required: Required, forced: set[int]) -> list[list[int]]:
    leader = {c: c for c in work.members if c != ROOT}

    def find(c: int) -> int:
        while leader[c] != c:
            leader[c] = leader[leader[c]]
            c = leader[c]
        return c

    def join(classes: Iterable[int]) -> None:
        roots = sorted({find(c) for c in classes})
        for other in roots[1:]:
            leader[other] = roots[0]

    for component in required.components:
        if len(component) > 1:
            join(component)
    for n, kids in work.children.items():
        optional = kids - forced
        if optional and n != ROOT:
            join([work.owner[n], *optional])
    groups: dict[int, list[int]] = {}
    for c in leader:
        groups.setdefault(find(c), []).append(c)
    return list(groups.values())


def _part(work: Work, group: list[int], forced: set[int], region: dict[int, int]) -> Work:
    part = subwork(work, group, [c for c in group if c in forced])
    for n, kids in part.children.items():
        if n == ROOT:
            continue
        here = region[part.owner[n]]
        part.children[n] = frozenset(k for k in kids if k not in forced or region[k] == here)
    return part
