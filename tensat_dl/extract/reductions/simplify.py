"""Takes classes without a decision out of the graph.

All three need a pruned graph.  They are exact, and an answer of the smaller graph is acyclic if
and only if its completion by the settled nodes is: a removed class either needs nothing that
remains (free), or its children take its place in every node that used it (alias, merge).
"""

from __future__ import annotations

from tensat_dl.extract.order import derivation_order
from tensat_dl.extract.work import ROOT, Work

_FILL_LIMIT = 64


def settle_free(work: Work) -> None:
    """A class with a derivation that costs nothing takes it, and leaves."""
    free = _free_classes(work)
    if not free:
        return
    work.settled.update(free)
    gone = frozenset(free)
    work.drop_classes(free)
    for n, kids in work.children.items():
        if not kids.isdisjoint(gone):
            work.set_children(n, kids - gone)


def _free_classes(work: Work) -> dict[int, int]:
    """Class -> the free node that first derived it."""
    missing = {n: len(work.children[n]) for n, cost in work.cost.items() if cost == 0 and n != ROOT}
    users: dict[int, list[int]] = {}
    for n in missing:
        for kid in work.children[n]:
            users.setdefault(kid, []).append(n)
    ready = [n for n, count in missing.items() if count == 0]
    free: dict[int, int] = {}
    for n in ready:
        c = work.owner[n]
        if c in free:
            continue
        free[c] = n
        for user in users.get(c, ()):
            missing[user] -= 1
            if missing[user] == 0:
                ready.append(user)
    return free


def expand_aliases(work: Work) -> None:
    """A class whose only node is free is replaced by that node's children wherever it is used
    (unless many users and many children would make the graph denser)."""
    parents = work.parents()
    meaning: dict[int, frozenset[int]] = {}
    for c in derivation_order(work):
        if c == ROOT or len(work.members[c]) != 1 or work.cost[work.members[c][0]] > 0:
            continue
        kids = _replace(work.children[work.members[c][0]], meaning)
        if (len(kids) - 1) * (len(parents[c]) - 1) <= _FILL_LIMIT:
            meaning[c] = kids
    for n, kids in work.children.items():
        expanded = _replace(kids, meaning)
        if expanded is not kids:
            work.set_children(n, expanded)
    for c in meaning:
        work.settled[c] = work.members[c][0]
    work.drop_classes(meaning)


def _replace(kids: frozenset[int], meaning: dict[int, frozenset[int]]) -> frozenset[int]:
    known = [k for k in kids if k in meaning]
    if not known:
        return kids
    return kids.difference(known).union(*(meaning[k] for k in known))


def merge_single_parents(work: Work) -> None:
    """A one-node class that one node alone uses becomes part of that node (of ROOT never: its
    cost is to stay 0)."""
    users = {c: set(nodes) for c, nodes in work.parents().items()}
    merged: list[int] = []
    for c in derivation_order(work):
        if c == ROOT or len(work.members[c]) != 1 or len(users[c]) != 1:
            continue
        node, (user,) = work.members[c][0], users[c]
        if user == ROOT:
            continue
        kids = work.children[node]
        work.set_children(user, work.children[user] - {c} | kids)
        work.cost[user] += work.cost[node]
        for kid in kids:
            users[kid].discard(node)
            users[kid].add(user)
        work.settled[c] = node
        merged.append(c)
    work.drop_classes(merged)
