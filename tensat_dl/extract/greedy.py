"""Fast selections without a proof, acyclic by construction.

Both settle classes in the order of their cost, as Dijkstra and Knuth do: a node counts only when
all its children are settled, and a settled class keeps its node.  The tree version pays for a
shared class once per use; the DAG version once.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable
from dataclasses import replace

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.reductions.required import Required, required_sets, set_bits
from tensat_dl.extract.work import ROOT, Work

Choice = dict[int, int]
# Between 0 (no bias) and 1 (all possible users pay an equal part); 0.75 did best on nasrnn.
_SHARING_BIAS = 0.75


def greedy_tree(work: Work) -> Choice:
    """A node for each derivable class: the least cost of its tree.  Without ROOT when the roots
    are not derivable."""
    total: dict[int, float] = {}

    def price(node: int) -> float:
        return work.cost[node] + sum(total[kid] for kid in work.children[node])

    def settle(c: int, cost: float, node: int) -> None:
        total[c] = cost

    return _settle_all(work, price, settle)


def greedy_dag(work: Work, deadline: Deadline) -> Choice:
    """A node for each class by the cost of what it adds: shared classes once, classes that the
    roots require not at all.  Needs a pruned graph."""
    required = required_sets(work, deadline)
    return _Sharing(work, required, deadline).run()


def greedy_shared(work: Work, deadline: Deadline) -> Choice:
    """As :func:`greedy_dag`, but a class that many could use looks cheaper than it is: this finds
    merges that pay only when several take part.  Needs a pruned graph."""
    users = {c: len({work.owner[n] for n in nodes}) for c, nodes in work.parents().items()}
    cost = {
        n: cost / max(1, users[work.owner[n]]) ** _SHARING_BIAS for n, cost in work.cost.items()
    }
    return greedy_dag(replace(work, cost=cost), deadline)


class _Sharing:
    """`uses[c]`: the classes of c's chosen derivation that the roots do not require, as bits;
    `paid[i]`: what the chosen node of bit i costs; `total[c]`: the sum over `uses[c]`."""

    def __init__(self, work: Work, required: Required, deadline: Deadline) -> None:
        self.work, self.required, self.deadline = work, required, deadline
        self.forced = required.below[ROOT]
        self.uses: dict[int, int] = {}
        self.paid = [0.0] * len(required.order)
        self.total: dict[int, float] = {}

    def run(self) -> Choice:
        return _settle_all(self.work, self.price, self.settle)

    def price(self, node: int) -> float:
        self.deadline.check()
        c = self.work.owner[node]
        if len(self.work.members[c]) == 1 and self.forced >> self.required.bit[c] & 1:
            # Nothing to decide: it is there for all others to use.
            return 0.0
        return self.work.cost[node] + self._combined(node)[0]

    def settle(self, c: int, cost: float, node: int) -> None:
        bit = self.required.bit[c]
        if self.forced >> bit & 1:
            self.uses[c], self.total[c] = 0, 0.0
            return
        self.uses[c] = self._combined(node)[1] | 1 << bit
        self.paid[bit] = self.work.cost[node]
        self.total[c] = cost

    def _combined(self, node: int) -> tuple[float, int]:
        kids = sorted(self.work.children[node], key=lambda k: (-self.total[k], k))
        cost, seen = 0.0, 0
        for kid in kids:
            extra = self.uses[kid] & ~seen
            if not seen:
                cost = self.total[kid]
            elif extra:
                cost += sum(self.paid[i] for i in set_bits(extra))
            seen |= extra
        return cost, seen


def _settle_all(
    work: Work, price: Callable[[int], float], settle: Callable[[int, float, int], None]
) -> Choice:
    parents = work.parents()
    missing = {n: len(kids) for n, kids in work.children.items()}
    heap = [(price(n), n) for n, count in missing.items() if count == 0]
    heapq.heapify(heap)
    choice: Choice = {}
    while heap:
        cost, node = heapq.heappop(heap)
        c = work.owner[node]
        if c in choice:
            continue
        choice[c] = node
        settle(c, cost, node)
        for user in parents[c]:
            missing[user] -= 1
            if missing[user] == 0 and work.owner[user] not in choice:
                heapq.heappush(heap, (price(user), user))
    return choice
