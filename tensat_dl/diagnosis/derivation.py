"""Which rules led to an e-node, and which found two e-nodes equal.

Enters: the steps of an exploration, and which e-nodes the original has.  Leaves: names of rules in
the order in which they had to act: behind an e-node that a rule made, and between two e-nodes of
one tensor.  Of several ways the shortest is taken.  Joins are read off the finished e-graph: each
rule that is named does what is said of it, and is among those that acted; where several lead to
the same, another of them may have been the first.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field

from tensat_dl.diagnosis.origins import Origins
from tensat_dl.diagnosis.step import Join, Step
from tensat_dl.diagnosis.steps import Steps
from tensat_dl.egraph.snapshot import ENode

#: A chain is not followed further than this.
_MAX_CHAIN = 32


@dataclass
class Derivations:
    """Finds chains, each of them once."""

    steps: Steps
    origins: Origins
    _chains: dict[ENode, tuple[str, ...]] = field(default_factory=dict)
    _between: dict[tuple[ENode, frozenset[ENode]], tuple[str, ...]] = field(default_factory=dict)
    _open: set[int] = field(default_factory=set)

    def chain(self, enode: ENode) -> tuple[str, ...]:
        """The rules behind an e-node, the one that made it last; () for one of the original."""
        if not enode.rule:
            return ()
        if enode not in self._chains:
            self._chains[enode] = (enode.rule,)  # what a circle comes back to
            ways = [self._through(step) for step in self.steps.making(enode)]
            self._chains[enode] = min(ways, key=len, default=(enode.rule,))
        return self._chains[enode]

    def between(self, enode: ENode, others: Collection[ENode]) -> tuple[str, ...]:
        """The rules that found `enode` equal to one of `others`, all of the same tensor; () also
        where no way is found."""
        key, steps = (enode, frozenset(others)), self.steps
        if not others or enode in others or enode.eclass in self._open:
            return ()
        if key not in self._between:
            self._open.add(enode.eclass)
            # Those that made it will do where they can; all of them take longer.
            ways = (self._way(enode, others, some) for some in (self.chain(enode), steps.rules))
            way = [rule for step in next(filter(None, ways), ()) for rule in self._through(step)]
            self._open.remove(enode.eclass)
            self._between[key] = tuple(dict.fromkeys(way))[-_MAX_CHAIN:]
        return self._between[key]

    def _through(self, step: Step) -> tuple[str, ...]:
        """The rules of a step: those behind what it matched, then its own."""
        before = [rule for read in step.reads for rule in self.chain(read)]
        for reader, read in step.inner:
            made = self.origins.read.get((reader, read.eclass), frozenset())
            before += self.between(read, made)
        others = dict.fromkeys(rule for rule in before if rule != step.rule)
        return (*others, step.rule)[-_MAX_CHAIN:]

    def _way(self, start: ENode, goals: Collection[ENode], rules: Sequence[str]) -> list[Step]:
        """The fewest steps of some rules from one e-node of a tensor to another; [] where there
        are none."""
        steps = self.steps.at(start.eclass, rules)
        joins = [(step, join) for step in steps for join in step.joins]
        joins = [(step, join) for step, join in joins if join.left.eclass == start.eclass]
        ways: dict[ENode, list[Step]] = {start: []}
        queue = deque([start])
        while queue:
            here = queue.popleft()
            for step, there in _next(here, joins, goals):
                if there not in ways:
                    ways[there] = [*ways[here], step]
                    queue.append(there)
                if there in goals:
                    return ways[there]
        return []


def _next(
    here: ENode, joins: list[tuple[Step, Join]], goals: Collection[ENode]
) -> Iterator[tuple[Step, ENode]]:
    """What one step finds equal.  A variable of the pattern may be any e-node of the tensor; those
    that are sought, and the left sides of joins, are enough to go on from."""
    for step, join in joins:
        if join.right is not None:
            if here == join.left:
                yield step, join.right
            elif here == join.right:
                yield step, join.left
        elif here == join.left:
            yield from ((step, other) for other in (*goals, *(j.left for _, j in joins)))
        else:
            yield step, join.left
