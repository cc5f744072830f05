"""Where the answer differs from the original: regions of connected nodes, with what each saves.

Enters: what the original and the answer run, and where e-nodes are in the e-graph.  Leaves:
:class:`Region`s.  What is run as one with the same nodes, at the same price, in both is no
difference; each other piece of either is in one region, so that the savings of all regions are the
difference of the whole.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.cost.bill import Piece
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.origins import Origins
from tensat_dl.egraph.snapshot import Application, ENode
from tensat_dl.graph.model import Node

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
    runs = [*difference.before, *difference.after]
    moved = (spot for run in runs for spot in run.spots)
    first = [spot for spot in difference.nodes if spot in difference.removed]
    spots = list(dict.fromkeys((*first, *difference.added, *moved)))
    tensors = {spot: _tensors(spot, difference.nodes, index) for spot in spots}
    links = [run.spots for run in runs]
    return [difference.region(each) for each in _connected(spots, tensors, links)]


def _tensors(
    spot: Spot, nodes: Mapping[Spot, Sequence[Node]], index: Index
) -> tuple[frozenset[int], frozenset[int]]:
    """The classes of what a node makes, and of what it reads."""
    if isinstance(spot, ENode):
        made = frozenset(index.made[spot].outputs.values()) | {spot.eclass}
        return made, frozenset(spot.children)
    classes, [node, *_] = index.saturated.value_class, nodes[spot]
    read = (classes[name] for name in node.inputs if name is not None)
    return frozenset(map(classes.__getitem__, node.outputs)), frozenset(read)


def _connected(
    spots: Sequence[Spot],
    tensors: Mapping[Spot, tuple[frozenset[int], frozenset[int]]],
    links: Iterable[Sequence[Spot]],
) -> Iterator[list[Spot]]:
    """What makes or reads a tensor that one of all makes stands together, and what is linked."""
    order = {spot: place for place, spot in enumerate(spots)}
    changed = {tensor for made, _ in tensors.values() for tensor in made}
    groups: dict[object, list[Spot]] = {}
    for spot, (made, read) in tensors.items():
        for tensor in (made | read) & changed:
            groups.setdefault(tensor, []).append(spot)
    for number, link in enumerate(links):
        groups["run", number] = [*link]
    of_spot: dict[Spot, list[object]] = {spot: [] for spot in spots}
    for name, members in groups.items():
        for spot in members:
            of_spot[spot].append(name)
    seen: set[Spot] = set()
    for start in spots:
        if start in seen:
            continue
        seen.add(start)
        region, pending = [], [start]
        while pending:
            here = pending.pop()
            region.append(here)
            near = {spot for name in of_spot[here] for spot in groups.pop(name, ())} - seen
            seen |= near
            pending += near
        yield sorted(region, key=order.__getitem__)


def _applications(piece: Piece) -> Iterator[ENode]:
    return (enode for enode in piece.enodes if isinstance(enode.head, Application))


def _order(spot: Spot) -> tuple[int, str]:
    """Of nodes that are run as one: a fixed one."""
    return (-1, spot) if isinstance(spot, str) else (spot.eclass, spot.rule)
