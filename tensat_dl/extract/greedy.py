"""Fast selections without a proof, acyclic by construction.

The tree version pays for a shared class once per use, and finds the least such costs in rounds.
The DAG version settles classes in the order of their cost, as Dijkstra and Knuth do (a node counts
only when all its children are settled, and a settled class keeps its node), and pays once.
"""

from __future__ import annotations

import heapq

import numpy as np

from tensat_dl.extract.bitsets import set_bits
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph, rows_of, with_costs
from tensat_dl.extract.reductions.required import Required, required_sets

Choice = dict[int, int]
# Between 0 (no bias) and 1 (all possible users pay an equal part); 0.75 did best on nasrnn.
_SHARING_BIAS = 0.75


def greedy_tree(graph: Graph) -> Choice:
    """A node for each derivable class: the least cost of its tree.

    A class takes a node only when that makes it strictly cheaper, so the choice has no loop: the
    class of a loop that was changed last would be cheaper than itself.
    """
    starts, users = graph.users
    total = np.full(len(graph.class_id), np.inf)
    choice = np.full(len(graph.class_id), -1, dtype=np.int64)
    nodes = np.arange(len(graph.node_id))
    while len(nodes):
        edges = rows_of(graph.start, nodes)
        sizes = np.diff(graph.start)[nodes]
        each = np.repeat(np.arange(len(nodes)), sizes)
        below = np.bincount(each, weights=total[graph.kids[edges]], minlength=len(nodes))
        price, owner = graph.cost[nodes] + below, graph.owner[nodes]
        order = np.lexsort((nodes, price, owner))
        first = np.ones(len(order), dtype=np.bool_)
        first[1:] = owner[order][1:] != owner[order][:-1]
        best = order[first]
        best = best[price[best] < total[owner[best]]]
        total[owner[best]], choice[owner[best]] = price[best], nodes[best]
        nodes = np.unique(users[rows_of(starts, owner[best])])
    return {c: n for c, n in enumerate(choice.tolist()) if n >= 0}


def greedy_dag(graph: Graph, deadline: Deadline) -> Choice:
    """A node for each class by the cost of what it adds: shared classes once, classes that the
    roots require not at all.  Needs a pruned graph."""
    return _Sharing(graph, required_sets(graph, deadline), deadline).run()


def greedy_shared(graph: Graph, deadline: Deadline) -> Choice:
    """As :func:`greedy_dag`, but a class that many could use looks cheaper than it is: this finds
    merges that pay only when several take part.  Needs a pruned graph."""
    users = np.bincount(graph.links[1], minlength=len(graph.class_id))
    share = np.maximum(1, users) ** _SHARING_BIAS
    return greedy_dag(with_costs(graph, graph.cost / share[graph.owner]), deadline)


class _Sharing:
    """`uses[c]`: the classes of c's chosen derivation that the roots do not require, as bits;
    `paid[i]`: what the chosen node of bit i costs; `total[c]`: the sum over `uses[c]`."""

    def __init__(self, graph: Graph, required: Required, deadline: Deadline) -> None:
        self.graph, self.required, self.deadline = graph, required, deadline
        count = len(graph.class_id)
        self.cost: list[float] = graph.cost.tolist()
        self.owner = graph.owner.tolist()
        self.firm = required.marks(required.forced).tolist()
        self.lone = (np.diff(graph.first) == 1).tolist()
        self.uses = [0] * count
        self.paid = [0.0] * count
        self.total = [0.0] * count

    def run(self) -> Choice:
        """Settle all classes."""
        graph, owner = self.graph, self.owner
        starts, users = (part.tolist() for part in graph.users)
        missing = np.diff(graph.start).tolist()
        heap = [(self._price(n), n) for n, count in enumerate(missing) if count == 0]
        heapq.heapify(heap)
        choice: Choice = {}
        while heap:
            cost, node = heapq.heappop(heap)
            c = owner[node]
            if c in choice:
                continue
            choice[c] = node
            self._settle(c, cost, node)
            for user in users[starts[c] : starts[c + 1]]:
                missing[user] -= 1
                if missing[user] == 0 and owner[user] not in choice:
                    heapq.heappush(heap, (self._price(user), user))
        return choice

    def _price(self, node: int) -> float:
        self.deadline.check()
        c = self.owner[node]
        if self.lone[c] and self.firm[c]:
            # Nothing to decide: it is there for all others to use.
            return 0.0
        return self.cost[node] + self._combined(node)[0]

    def _settle(self, c: int, cost: float, node: int) -> None:
        if self.firm[c]:
            return
        bit = self.required.bit[c]
        self.uses[c] = self._combined(node)[1] | 1 << bit
        self.paid[bit] = self.cost[node]
        self.total[c] = cost

    def _combined(self, node: int) -> tuple[float, int]:
        kids = self.graph.kid_lists[node]
        if len(kids) > 1:
            kids = sorted(kids, key=lambda k: (-self.total[k], k))
        cost, seen = 0.0, 0
        for kid in kids:
            extra = self.uses[kid] & ~seen
            if not seen:
                cost = self.total[kid]
            elif extra:
                cost += sum(self.paid[i] for i in set_bits(extra))
            seen |= extra
        return cost, seen


def repair(graph: Graph, liked: frozenset[int], deadline: Deadline) -> Choice:
    """An acyclic choice that follows some nodes where it can: they count as free."""
    cost = graph.cost.copy()
    cost[list(liked)] = 0.0
    return greedy_dag(with_costs(graph, cost), deadline)


def used_classes(graph: Graph, choice: Choice) -> list[int] | None:
    """The classes that the roots reach under a choice; None when one of them has no node."""
    kids = graph.kid_lists
    seen = dict.fromkeys(kids[ROOT])
    queue = list(seen)
    for c in queue:
        if c not in choice:
            return None
        fresh = [kid for kid in kids[choice[c]] if kid not in seen]
        seen.update(dict.fromkeys(fresh))
        queue.extend(fresh)
    return queue


def price(graph: Graph, choice: Choice) -> float:
    """What the used part of a choice costs on this graph; infinite if a class has no node."""
    used = used_classes(graph, choice)
    if used is None:
        return float("inf")
    return float(graph.cost[[choice[c] for c in used]].sum())
