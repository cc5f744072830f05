"""Solves a part that is a chain of blocks, the highest block first.

Enters: a part and its blocks.  Leaves: its best choice and a proof, block by block; or, where a
block cannot be proven, what was found.  A block that does better with optional classes of lower
blocks than without is joined with the next lower one.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from tensat_dl.extract.bottlenecks import freed, restricted
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import BoolArray, Graph
from tensat_dl.extract.greedy import greedy_tree, price
from tensat_dl.extract.isomorphism import find_twin, signature, transferred
from tensat_dl.extract.search import Found

# Blocks that differ by less cost the same.
_ROUNDING = 1e-7


@dataclass
class Chain:
    """`solve_block` improves a Found of a graph as far as it can.  The sums are of the blocks that
    are settled: their choices, cost, bound."""

    graph: Graph
    deadline: Deadline
    solve_block: Callable[[Graph, Found], None]
    gap: float
    choice: dict[int, int] = field(default_factory=dict)
    cost: float = 0.0
    bound: float = 0.0
    joined: int = 0
    _known: dict[int, list[tuple[Graph, Found]]] = field(default_factory=dict)

    def solve(self, blocks: Sequence[BoolArray]) -> bool:
        """Settle all blocks; False when one cannot be."""
        waiting: BoolArray | None = None
        for block in blocks:
            waiting = block if waiting is None else waiting | block
            found = self._settle(waiting, last=block is blocks[-1])
            if found is None:
                self.joined += 1
                continue
            self.choice.update(found.choice)
            self.cost += found.cost
            self.bound += found.bound
            waiting = None
        return waiting is None

    def _settle(self, block: BoolArray, *, last: bool) -> Found | None:
        """The best choice of a block that needs nothing optional of lower ones, if that is as
        good as any."""
        alone = restricted(self.graph, block, self.deadline)
        if not alone.derivable:
            return None
        found = self._solved(alone)
        if last:
            return found if found.proven else None
        free = freed(self.graph, block, self.deadline)
        best = Found(found.choice, found.cost, 0.0)
        self.solve_block(free, best)
        enough = found.cost * (1.0 - max(self.gap, _ROUNDING))
        return Found(found.choice, found.cost, best.bound) if best.bound >= enough else None

    def _solved(self, graph: Graph) -> Found:
        """The best choice of a graph; an equal one was perhaps solved before."""
        alike = self._known.setdefault(signature(graph), [])
        for other, known in alike:
            twin = find_twin(other, graph)
            if twin is not None and known.proven:
                choice = transferred(known.choice, other, graph, twin)
                bound = known.bound * (1.0 - _ROUNDING)
                return Found(graph.choice_of(choice.values()), price(graph, choice), bound, True)
        choice = greedy_tree(graph)
        found = Found(graph.choice_of(choice.values()), price(graph, choice), 0.0)
        self.solve_block(graph, found)
        alike.append((graph, found))
        return found
