"""Where the answer differs from the original: regions of connected nodes, with what each saves.

Enters: what the original and the answer run, and where e-nodes are in the e-graph.  Leaves:
:class:`Region`s.  What is run as one with the same nodes, at the same price, in both is no
difference; each other piece of either is in one region, so that the savings of all regions are the
difference of the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.cost.bill import Piece
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.origins import Origins
from tensat_dl.egraph.snapshot import Application, ENode
from tensat_dl.graph.model import Node

#: Sums of the same costs differ by no more than this share.
ROUNDING = 1e-9

#: An e-node; or of a node of the original whose e-node is gone, the name of its first output.
Spot = ENode | str


@dataclass(frozen=True)
class Region:
    """`removed`: the nodes of the original, by e-node, that the answer does not have; `shared`:
    those among its e-nodes that the answer has once, and the original more often; `added`: what
    the answer has instead; `kept`: what stays, and is run as one with other nodes than before, or
    at another price."""

    removed: Mapping[Spot, Sequence[Node]]
    shared: frozenset[Spot]
    added: tuple[ENode, ...]
    kept: Mapping[Spot, Node]
    saved: float

    @property
    def is_change(self) -> bool:
        """Something came or went."""
        return bool(self.removed or self.added)


@dataclass(frozen=True)
class _Run:
    """Nodes that are run as one."""

    spots: tuple[Spot, ...]
    price: float


def _run(spots: Iterable[Spot], price: float) -> _Run:
    """The same of the same nodes, in whatever order they stand."""
    return _Run(tuple(sorted(set(spots), key=_order)), price)


def find_regions(
    before: Sequence[tuple[tuple[Node, ...], float]],
    after: Sequence[Piece],
    origins: Origins,
    index: Index,
) -> list[Region]:
    """All regions, in the order of the original."""
    spot_of = {node.outputs[0]: row for row, nodes in origins.nodes.items() for node in nodes}
    nodes: dict[Spot, list[Node]] = {}
    was: list[_Run] = []
    for run, price in before:
        spots = [spot_of.get(node.outputs[0], node.outputs[0]) for node in run]
        was.append(_run(spots, price))
        for spot, node in zip(spots, run, strict=True):
            nodes.setdefault(spot, []).append(node)
    now = [_run(_applications(piece), piece.cost) for piece in after]
    there = dict.fromkeys(spot for run in now for spot in run.spots)
    removed = {spot: each[spot in there :] for spot, each in nodes.items()}
    removed = {spot: each for spot, each in removed.items() if each}
    added = [spot for spot in there if spot not in nodes]
    difference = _Difference(nodes, removed, added, _beyond(was, now), _beyond(now, was))
    return _regions(difference, index)


@dataclass(frozen=True)
class _Difference:
    """`nodes`: those of the original that are run; `before` and `after`: the runs that only one of
    both graphs has."""

    nodes: Mapping[Spot, Sequence[Node]]
    removed: Mapping[Spot, Sequence[Node]]
    added: Sequence[Spot]
    before: Sequence[_Run]
    after: Sequence[_Run]

    def region(self, spots: Sequence[Spot]) -> Region:
        there = set(spots)
        removed = {spot: self.removed[spot] for spot in spots if spot in self.removed}
        added = tuple(s for s in spots if s not in self.nodes and isinstance(s, ENode))
        stay = [spot for spot in spots if spot in self.nodes and spot not in removed]
        paid = [run.price for run in self.before if not there.isdisjoint(run.spots)]
        pays = [run.price for run in self.after if not there.isdisjoint(run.spots)]
        shared = (s for s, gone in removed.items() if len(gone) < len(self.nodes[s]))
        kept = {spot: self.nodes[spot][0] for spot in stay}
        return Region(removed, frozenset(shared), added, kept, sum(paid) - sum(pays))


def _beyond(runs: Sequence[_Run], others: Sequence[_Run]) -> list[_Run]:
    """Those of `runs` that `others` has not, or not as often."""
    left = Counter(others)
    found = []
    for run in runs:
        left[run] -= 1
        if left[run] < 0:
            found.append(run)
    return found


def _regions(difference: _Difference, index: Index) -> list[Region]:
    """What stays connects regions only where it is run as one with parts of both; by itself it
    goes to the first that it is next to, and is left out where it costs what it did."""
    runs = [*difference.before, *difference.after]
    moved = (spot for run in runs for spot in run.spots)
    first = [spot for spot in difference.nodes if spot in difference.removed]
    spots = list(dict.fromkeys((*first, *difference.added, *moved)))
    tensors = {spot: _tensors(spot, difference.nodes, index) for spot in spots}
    changed = {*first, *difference.added}
    groups = [*_neighbours(changed, spots, tensors), *(run.spots for run in runs)]
    found = list(_connected(spots, groups))
    least = ROUNDING * sum(run.price for run in runs)
    regions = [region for region in found if not changed.isdisjoint(region)]
    beside: dict[int, list[Spot]] = {}
    elsewhere = []
    for stay in (region for region in found if changed.isdisjoint(region)):
        if abs(difference.region(stay).saved) <= least:
            continue
        near = (n for n, each in enumerate(regions) if _are_near(stay, each, tensors))
        place = next(near, None)
        elsewhere.append(stay) if place is None else beside.setdefault(place, []).extend(stay)
    whole = [[*region, *beside.get(place, [])] for place, region in enumerate(regions)]
    return [difference.region(each) for each in (*whole, *elsewhere)]


@dataclass(frozen=True)
class _Tensors:
    """The classes of what a node makes, and of what it reads."""

    made: frozenset[int]
    read: frozenset[int]


def _tensors(spot: Spot, nodes: Mapping[Spot, Sequence[Node]], index: Index) -> _Tensors:
    if isinstance(spot, ENode):
        made = frozenset(index.made[spot].outputs.values()) | {spot.eclass}
        return _Tensors(made, frozenset(spot.children))
    classes, [node, *_] = index.saturated.value_class, nodes[spot]
    read = frozenset(classes[name] for name in node.inputs if name is not None)
    return _Tensors(frozenset(map(classes.__getitem__, node.outputs)), read)


def _neighbours(
    changed: Collection[Spot], spots: Sequence[Spot], tensors: Mapping[Spot, _Tensors]
) -> Iterator[list[Spot]]:
    """What came or went and makes or reads the same tensor, which one of all makes."""
    inside = [spot for spot in spots if spot in changed]
    made = {tensor for spot in inside for tensor in tensors[spot].made}
    by_tensor: dict[int, list[Spot]] = {}
    for spot in inside:
        for tensor in (tensors[spot].made | tensors[spot].read) & made:
            by_tensor.setdefault(tensor, []).append(spot)
    yield from by_tensor.values()


def _are_near(
    region: Sequence[Spot], other: Sequence[Spot], tensors: Mapping[Spot, _Tensors]
) -> bool:
    """One makes a tensor that the other makes or reads."""
    made, others = ({t for s in each for t in tensors[s].made} for each in (region, other))
    read, reads = ({t for s in each for t in tensors[s].read} for each in (region, other))
    return not (made.isdisjoint(others | reads) and others.isdisjoint(read))


def _connected(spots: Sequence[Spot], groups: Iterable[Sequence[Spot]]) -> Iterator[list[Spot]]:
    """What is in one group stands together; in the order of `spots`."""
    order = {spot: place for place, spot in enumerate(spots)}
    left = dict(enumerate(groups))
    of_spot: dict[Spot, list[int]] = {spot: [] for spot in spots}
    for number, members in left.items():
        for spot in members:
            of_spot[spot].append(number)
    seen: set[Spot] = set()
    for start in spots:
        if start in seen:
            continue
        seen.add(start)
        region, pending = [], [start]
        while pending:
            here = pending.pop()
            region.append(here)
            near = {spot for number in of_spot[here] for spot in left.pop(number, ())} - seen
            seen |= near
            pending += near
        yield sorted(region, key=order.__getitem__)


def _applications(piece: Piece) -> Iterator[ENode]:
    return (enode for enode in piece.enodes if isinstance(enode.head, Application))


def _order(spot: Spot) -> tuple[int, str]:
    """Of nodes that are run as one: a fixed one."""
    return (-1, spot) if isinstance(spot, str) else (spot.eclass, spot.rule)
