"""What follows from some choices in a small graph: which nodes are left, and what it costs at
least.

Enters: a pruned Graph once; then, again and again, the nodes still alive in each class and the
classes that are wanted.  Leaves: fewer nodes, more wanted classes, a bound; or nothing, when no
acyclic selection below the upper bound is left.  A class is wanted when every selection that is
still possible has it.

Plain lists and integers as bitsets: on a few hundred classes they beat arrays.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from tensat_dl.extract.bitsets import set_bits
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph
from tensat_dl.extract.greedy import Choice
from tensat_dl.extract.problem import FloatArray
from tensat_dl.extract.reductions.required import required_sets

_EVERYTHING = -1

Alive = list[tuple[int, ...]]


@dataclass(frozen=True)
class Decision:
    """A wanted class with several nodes: (price, node) ascending.  The price is what the node and
    what it alone needs cost above the class's cheapest node; shared needs count in parts."""

    eclass: int
    options: tuple[tuple[float, int], ...]
    least_in_full: float


@dataclass(frozen=True)
class State:
    """What is left: `alive[c]`, the `wanted` classes as bits, a lower `bound`, open decisions."""

    alive: Alive
    wanted: int
    bound: float
    decisions: tuple[Decision, ...]

    @property
    def hardest(self) -> Decision:
        """The decision whose cheapest option is dearest; of equals, the one with fewest options.
        There must be one."""
        return max(self.decisions, key=lambda d: (d.least_in_full, -len(d.options), -d.eclass))


@dataclass(frozen=True)
class _Extra:
    """What a node adds to what is wanted anyway: own cost above the least, and classes."""

    own: float
    needs: int


class Propagator:
    """Bits are given to priced classes first, so that weighing a set looks at few bytes.
    `visits` counts nodes looked at: the work done, whatever the machine.  `with_paths`: look at the
    paths to the classes in loops, too, which tells a little more and takes twice as long."""

    def __init__(self, graph: Graph, deadline: Deadline, *, with_paths: bool = False) -> None:
        required = required_sets(graph, deadline)
        least = graph.least
        self.order = required.order
        loops = [part for part in required.components if len(part) > 1]
        self.cyclic = [c for part in loops for c in part] if with_paths else []
        self.kids = graph.kid_lists
        self.cost: list[float] = graph.cost.tolist()
        self.class_of = np.lexsort((np.arange(len(least)), least == 0.0)).tolist()
        self.bit = np.argsort(self.class_of).tolist()
        self.visits = 0
        self._needs = [_EVERYTHING] * len(self.cost)
        self._weigh_by(least[self.class_of])

    def _weigh_by(self, weights: FloatArray) -> None:
        priced = int((weights > 0.0).sum())
        self._priced = (1 << priced) - 1
        self._weights = np.zeros((priced + 7) // 8 * 8)
        self._weights[:priced] = weights[:priced]
        bits = (np.arange(256)[:, None] >> np.arange(8)) & 1
        self._tables = [
            (bits @ self._weights[i : i + 8]).tolist() for i in range(0, len(self._weights), 8)
        ]

    def weight(self, classes: int) -> float:
        """What a set of classes costs at least."""
        classes &= self._priced
        if not classes:
            return 0.0
        parts = zip(self._tables, classes.to_bytes(len(self._tables), "little"), strict=True)
        return float(sum(table[byte] for table, byte in parts if byte))

    def run(self, alive: Alive, wanted: int, upper: float) -> State | None:
        """All that follows for selections that cost at most `upper`; `alive` is changed."""
        while True:
            closed = self._close(alive, wanted)
            if closed is None:
                return None
            wanted = closed
            base = self._base(alive, wanted)
            if base > upper:
                return None
            extras = self._drop_dear(alive, wanted, upper - base)
            if extras is None or self._drop_loops(alive):
                continue
            state = self._share(alive, wanted, base, extras)
            if state.bound > upper:
                return None
            if not _drop_above(state, upper):
                return state

    def choice(self, state: State) -> Choice:
        """The only node left of each wanted class, where no decision is open."""
        nodes = enumerate(state.alive)
        return {c: alive[0] for c, alive in nodes if state.wanted >> self.bit[c] & 1}

    def _close(self, alive: Alive, wanted: int) -> int | None:
        """The wanted classes with all that they require; None when one has no derivation."""
        below = self._required(alive)
        closed = wanted
        for i in set_bits(wanted):
            needs = below[self.class_of[i]]
            if needs < 0:
                return None
            closed |= needs
        return closed

    def _required(self, alive: Alive) -> list[int]:
        """R of each class (-1 when it has no derivation) and of each node's children: the
        greatest fixpoint, from above."""
        below = [_EVERYTHING] * len(alive)
        needs, kids, bit = self._needs, self.kids, self.bit
        changed = True
        while changed:
            changed = False
            for c in self.order:
                common = _EVERYTHING
                for n in alive[c]:
                    union = 0
                    for kid in kids[n]:
                        union |= below[kid]
                    needs[n] = union
                    common &= union
                common |= 1 << bit[c]
                if common != below[c]:
                    below[c] = common
                    changed = True
            self.visits += len(self.cost)
        return below

    def _base(self, alive: Alive, wanted: int) -> float:
        cost = self.cost
        least = (min(cost[n] for n in alive[self.class_of[i]]) for i in set_bits(wanted))
        return float(sum(least))

    def _drop_dear(self, alive: Alive, wanted: int, slack: float) -> Mapping[int, _Extra] | None:
        """Drop nodes that have no derivation, close a loop, or cost too much with all they need;
        None when there were any, otherwise what the nodes of wanted classes add."""
        extras: dict[int, _Extra] = {}
        changed = False
        for c in self.order:
            own_bit = 1 << self.bit[c]
            is_wanted = wanted & own_bit
            nodes = alive[c]
            least = min((self.cost[n] for n in nodes), default=0.0)
            kept = []
            for n in nodes:
                needs = self._needs[n]
                if needs < 0 or needs & own_bit:
                    continue
                needs &= ~wanted
                own = self.cost[n] - least
                if own + self.weight(needs) + (0.0 if is_wanted else least) > slack:
                    continue
                kept.append(n)
                if is_wanted:
                    extras[n] = _Extra(own, needs)
            if len(kept) < len(nodes):
                alive[c], changed = tuple(kept), True
        return None if changed else extras

    def _drop_loops(self, alive: Alive) -> bool:
        """Drop nodes that need a class on every path to their own, and those that no path leads
        to; True when there were any."""
        if not self.cyclic:
            return False
        above = self._above(alive)
        changed = False
        for c in self.cyclic:
            kept = tuple(n for n in alive[c] if not self._needs[n] & above[c])
            if above[c] == _EVERYTHING:
                kept = ()
            if len(kept) < len(alive[c]):
                alive[c], changed = kept, True
        return changed

    def _above(self, alive: Alive) -> list[int]:
        """The classes on every path from ROOT to each class: the greatest fixpoint, from above."""
        above = [_EVERYTHING] * len(alive)
        above[ROOT] = 0
        changed = True
        while changed:
            changed = False
            for c in reversed(self.order):
                if above[c] == _EVERYTHING:
                    continue
                own = above[c] | 1 << self.bit[c]
                for n in alive[c]:
                    for kid in self.kids[n]:
                        common = above[kid] & (own | 1 << self.bit[kid])
                        if common != above[kid]:
                            above[kid] = common
                            changed = True
            self.visits += len(self.cost)
        return above

    def _share(self, alive: Alive, wanted: int, base: float, extras: Mapping[int, _Extra]) -> State:
        """The bound when each class that several decisions may need is paid by all of them in
        equal parts: no selection pays for it twice."""
        classes = [self.class_of[i] for i in set_bits(wanted)]
        classes = [c for c in classes if len(alive[c]) > 1]
        payers: dict[int, int] = {}
        for c in classes:
            union = 0
            for n in alive[c]:
                union |= extras[n].needs
            for i in set_bits(union & self._priced):
                payers[i] = payers.get(i, 0) + 1
        share = {i: self._weights[i] / count for i, count in payers.items()}
        decisions = tuple(self._decision(alive, c, extras, share) for c in classes)
        bound = base + sum(decision.options[0][0] for decision in decisions)
        return State(alive, wanted, float(bound), decisions)

    def _decision(
        self, alive: Alive, c: int, extras: Mapping[int, _Extra], share: Mapping[int, float]
    ) -> Decision:
        options = sorted(
            (
                extras[n].own + sum(share[i] for i in set_bits(extras[n].needs & self._priced)),
                n,
            )
            for n in alive[c]
        )
        in_full = min(extras[n].own + self.weight(extras[n].needs) for n in alive[c])
        return Decision(c, tuple(options), in_full)


def _drop_above(state: State, upper: float) -> bool:
    """Drop the nodes that lift the bound above `upper`; True when there were any."""
    changed = False
    for decision in state.decisions:
        rest = state.bound - decision.options[0][0]
        kept = tuple(n for price, n in decision.options if rest + price <= upper)
        if len(kept) < len(decision.options):
            state.alive[decision.eclass] = kept
            changed = True
    return changed
