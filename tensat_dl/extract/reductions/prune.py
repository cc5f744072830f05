"""Removes what no selection can use.

Guarantee: no acyclic selection loses a node that it needs.  A node whose class is among its own
children closes a loop; a node with a child that has no finite derivation can never be chosen; a
class that the roots do not reach is of no use.
"""

from __future__ import annotations

from tensat_dl.extract.order import derivation_order
from tensat_dl.extract.work import ROOT, Work


def prune(work: Work) -> None:
    """Self-loops, then underivable nodes, then unreachable classes."""
    work.drop_nodes([n for n, kids in work.children.items() if work.owner[n] in kids])
    derivable = set(derivation_order(work))
    work.drop_nodes([n for n, kids in work.children.items() if not kids <= derivable])
    reachable = _reachable(work)
    work.drop_classes([c for c in work.members if c not in reachable])


def _reachable(work: Work) -> set[int]:
    seen, queue = {ROOT}, [ROOT]
    for c in queue:
        kids = frozenset[int]().union(*(work.children[n] for n in work.members[c]))
        fresh = sorted(kids - seen)
        seen.update(fresh)
        queue.extend(fresh)
    return seen
