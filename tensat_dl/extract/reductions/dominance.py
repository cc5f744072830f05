"""Removes nodes that a sibling can always replace.

Guarantee: node a of a class replaces node b of the same class when a costs no more and every
child of a is among the classes that b requires below it anyway.  Those children then stand below
the class in the answer already, so the exchange adds no cost and closes no loop.
"""

from __future__ import annotations

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.reductions.required import Required, required_sets
from tensat_dl.extract.work import Work


def remove_dominated(work: Work, deadline: Deadline) -> None:
    """Keep the undominated nodes of each class.  Needs a pruned graph."""
    required = required_sets(work, deadline)
    dominated: list[int] = []
    for nodes in deadline.watch(work.members.values()):
        if len(nodes) > 1:
            dominated.extend(_dominated(work, required, nodes))
    work.drop_nodes(dominated)


def _dominated(work: Work, required: Required, nodes: list[int]) -> list[int]:
    needs = {n: required.of_children(work.children[n]) for n in nodes}
    # A dominator costs less, or as much with no larger needs: it comes first in this order.
    ranked = sorted(nodes, key=lambda n: (work.cost[n], needs[n].bit_count(), n))
    kept: list[int] = []
    lost: list[int] = []
    for n in ranked:
        spare = ~needs[n]
        if any(not asked & spare for asked in kept):
            lost.append(n)
        else:
            kept.append(required.mask(work.children[n]))
    return lost
