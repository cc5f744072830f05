"""An extraction problem whose answer has to use one of some e-nodes.

Enters: a posed problem, the e-nodes of which one is wanted.  Leaves: the problem with that demand,
in terms that every solver and reduction knows: classes, nodes, roots.  What an answer to it is, as
one to the problem itself, says `cost.met`.

A wanted node gets a class of its own; in its old class a free node stands for it.  A root more, the
demand, has a node for each wanted one, which needs its class.  That alone would be met by what
nothing reads: so it also needs that some node that reads the tensor is there (which has a class of
its own, too), that something reads that one's tensor, and so on up to a class of `ends`, those that
are taken to be used.  An answer tells whether they are; where not, `ends` has fewer the next time.
No answer that uses a wanted node costs less than one to this problem.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tensat_dl.cost.posing import Posed
from tensat_dl.egraph.snapshot import ENode, Leaf, LeafKind
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import Graph, graph_of
from tensat_dl.extract.problem import MADE, Problem
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.required import remove_loops, required_sets

#: What costs differ by less than this share are equal.
EQUAL = 1e-9
#: What nodes of the demand are in place of e-nodes.
DEMAND = Leaf(LeafKind.CONSTANT, "demand")


@dataclass(frozen=True)
class Demand:
    """`wanted`: the answer is to use one of them; `answer`: what it runs as one without that, by
    class: of equal answers the one most like it is taken; `ends`: classes that are taken to be
    used."""

    wanted: frozenset[ENode]
    answer: Mapping[int, tuple[ENode, ...]]
    ends: frozenset[int]


def usable(posed: Posed, wanted: Iterable[ENode], *, anywhere: bool = False) -> list[int]:
    """The nodes that stand for a wanted e-node, but for those that no answer can have: what they
    need cannot be computed without them, or no output needs them (unless `anywhere`)."""
    wanted, problem = frozenset(wanted), posed.problem
    if anywhere:
        roots = np.array(sorted({node.eclass for node in wanted}), dtype=np.int64)
        problem = dataclasses.replace(problem, roots=roots)
    return _standing_for(_possible(problem), posed, wanted)


def _standing_for(graph: Graph, posed: Posed, wanted: frozenset[ENode]) -> list[int]:
    there = sorted(graph.node_id[1:].tolist())
    return [i for i in there if not wanted.isdisjoint(posed.enodes(i))]


def _possible(problem: Problem) -> Graph:
    """The nodes that an answer can have."""
    return remove_loops(prune(graph_of(problem)), Deadline(float("inf")))


def _below_all(graph: Graph, indices: Sequence[int]) -> frozenset[int]:
    """The classes that nodes of the problem cannot do without, each of them."""
    if not indices:
        return frozenset()
    required = required_sets(graph, Deadline(float("inf")))
    places = {index: place for place, index in enumerate(graph.node_id.tolist())}
    needs = [required.needs[places[index]] for index in indices]
    common = functools.reduce(operator.and_, needs)
    return frozenset(graph.class_id[required.classes(common)].tolist())


def with_demand(posed: Posed, demand: Demand) -> Posed:
    """The problem with the demand."""
    problem = posed.problem
    graph = _possible(problem)
    wanted = _standing_for(graph, posed, demand.wanted)
    drawing = _Drawing(problem, demand.ends, graph, _below_all(graph, wanted))
    drawing.draw(wanted)
    stand = drawing.own
    new = [(int(problem.node_class[i]), [own], posed.nodes[i]) for i, own in stand.items()]
    for owner, needs in drawing.rows:
        new.append((owner, sorted(needs), ENode(DEMAND, (), owner, original=True)))
    node_class = problem.node_class.copy()
    node_class[list(stand)] = list(stand.values())
    same = {node for enodes in demand.answer.values() for node in enodes}
    differs = [float(not same.issuperset(posed.enodes(i))) for i in range(problem.nodes)]
    measures = {**problem.measures, MADE: np.array(differs)}
    ends = problem.child_start[-1] + np.cumsum([len(row) for _, row, _ in new], dtype=np.int64)
    children = [np.array(row, dtype=np.int64) for _, row, _ in new]
    extended = dataclasses.replace(
        problem,
        classes=drawing.classes,
        node_class=np.append(node_class, np.array([c for c, _, _ in new], dtype=np.int64)),
        node_cost=np.append(problem.node_cost, np.zeros(len(new))),
        child_start=np.append(problem.child_start, ends),
        children=np.concatenate([problem.children, *children]),
        roots=np.append(problem.roots, drawing.classes - 1),
        node_name=[*problem.node_name, *("" for _ in new)],
        measures={name: np.append(kept, np.zeros(len(new))) for name, kept in measures.items()},
    )
    return dataclasses.replace(
        posed,
        problem=extended,
        nodes=(*posed.nodes, *(node for _, _, node in new)),
        parts=(*posed.parts, *(None for _ in new)),
        inner={**posed.inner, **_inner(posed, stand)},
        extra=posed.extra | frozenset(range(problem.classes, drawing.classes)),
    )


def _inner(posed: Posed, stand: Iterable[int]) -> dict[int, tuple[ENode, ...]]:
    """What stands for a node stands for the same e-nodes."""
    places = enumerate(stand, start=len(posed.nodes))
    return {place: posed.inner[i] for place, i in places if i in posed.inner}


@dataclass
class _Drawing:
    """What is added: `own` has the classes of nodes that get one, `rows` are the nodes of the
    demand.  The last class is the demand's.  What makes a tensor `below` all wanted nodes is not
    what uses them."""

    problem: Problem
    ends: frozenset[int]
    graph: Graph
    below: frozenset[int]
    own: dict[int, int] = field(default_factory=dict)
    rows: list[tuple[int, set[int]]] = field(default_factory=list)
    classes: int = field(init=False)
    _read: dict[int, int] = field(default_factory=dict)

    def draw(self, wanted: list[int]) -> None:
        self.classes = self.problem.classes
        pending: list[int] = []
        asked = [self._needs(i, pending) for i in wanted]
        readers = self._readers() if pending else {}
        for tensor in pending:  # grows
            found = [self._needs(i, pending) for i in readers.get(tensor, ())]
            self.rows += [(self._read[tensor], needs) for needs in found]
        self.rows += [(self.classes, needs) for needs in asked]
        self.classes += 1

    def _readers(self) -> dict[int, list[int]]:
        readers: dict[int, list[int]] = {}
        for i in sorted(self.graph.node_id[1:].tolist()):
            above = self.problem.node_class[i] not in self.below
            for child in self.problem.child_lists[i] if above else ():
                readers.setdefault(child, []).append(i)
        return readers

    def _needs(self, index: int, pending: list[int]) -> set[int]:
        """What it takes that a node is there and used."""
        if index not in self.own:
            self.own[index] = self._new()
        tensor = int(self.problem.node_class[index])
        if tensor in self.ends:
            return {self.own[index]}
        if tensor not in self._read:
            self._read[tensor] = self._new()
            pending.append(tensor)
        return {self.own[index], self._read[tensor]}

    def _new(self) -> int:
        self.classes += 1
        return self.classes - 1
