"""Parts that are equal to another part: what is found for the one holds for the other.

Enters: two parts.  Leaves: their pairing, verified by `isomorphism`, which carries choices and
bounds over.  The parts go on changing; the pairing is of their graphs as they were.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.extract.graph import Graph
from tensat_dl.extract.isomorphism import Twin, find_twin, transferred
from tensat_dl.extract.part import Part
from tensat_dl.extract.search import CUTOFF

# The costs of equal parts may differ by rounding.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class Pair:
    """`graph` was that of `first`, `other` that of `second`; below `cutoff` the second part has no
    selections outside its graph."""

    first: Part
    second: Part
    graph: Graph
    other: Graph
    twin: Twin
    cutoff: float

    def transfer(self) -> bool:
        """Give the second part what is known of the first; True when its choice became better."""
        known, found = self.first.found, self.second.found
        choice = transferred(known.choice, self.graph, self.other, self.twin)
        better = found.offer(self.other, choice)
        found.raise_bound(min(self.cutoff, known.bound) * (1.0 - _ROUNDING))
        if known.proven and found.bound >= (1.0 - 2.0 * CUTOFF) * min(known.bound, found.cost):
            found.proven = True
        return better


def pair_up(first: Part, second: Part) -> Pair | None:
    """The pairing of two parts, None if they are not (seen to be) equal."""
    twin = find_twin(first.graph, second.graph)
    if twin is None:
        return None
    return Pair(first, second, first.graph, second.graph, twin, second.cutoff)
