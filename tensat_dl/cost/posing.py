"""The extraction problem that a snapshot poses under a cost model.

Enters: a snapshot, a cost model, and what can be written to the model.  Leaves: a
:class:`~tensat_dl.extract.problem.Problem` whose nodes are the snapshot's e-nodes that can be
written, and what the original graph runs.

What is folded on export costs nothing.  An e-node that a rule made and that cannot be lowered to
the model's opset is left out; those of the original graph never are.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from tensat_dl.cost.free import constant_nodes, free_classes, is_free
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.work import Part, Timed, repeated
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.loading import application_of
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, Projection, Saturated
from tensat_dl.extract.problem import NODES, Extraction, Problem
from tensat_dl.graph.model import Graph, Node
from tensat_dl.graph.prune import live_nodes
from tensat_dl.vocabulary.types import ABSENT, Type


@dataclass(frozen=True)
class Posed:
    """`nodes[i]` is the e-node behind node i of `problem`, whose classes are the snapshot's, and
    `parts[i]` what it costs to run it, None where that is nothing.  `left_out` are e-nodes
    that cannot be written at the model's opset.  A node may stand for several e-nodes that are
    run as one: `inner[i]` are those behind the first.  The classes `extra` are not the snapshot's:
    weights of the result (see `counts`), what is demanded of an answer (see `demand`)."""

    problem: Problem
    nodes: tuple[ENode, ...]
    parts: tuple[Timed | None, ...]
    left_out: tuple[ENode, ...]
    inner: Mapping[int, tuple[ENode, ...]] = field(default_factory=dict)
    extra: frozenset[int] = frozenset()

    @property
    def paid(self) -> list[Timed]:
        """What is to be priced, in order."""
        return [part for part in self.parts if part is not None]

    def enodes(self, index: int) -> tuple[ENode, ...]:
        """The e-nodes that a node of the problem stands for."""
        return (self.nodes[index], *self.inner.get(index, ()))

    def at(
        self,
        prices: Sequence[float],
        margin: float = 0.0,
        trusted: Callable[[ENode], bool] = lambda node: node.original,
        per_node: float = 0.0,
    ) -> Posed:
        """The same problem at other prices: those of `paid`.  What is not `trusted` costs more by
        the share `margin`, for prices that are not exact, and each node that is written
        (NODES) by `per_node`."""
        price = iter(prices)
        costs = [0.0 if part is None else next(price) for part in self.parts]
        for index in np.flatnonzero(costs).tolist() if margin else ():
            costs[index] *= 1.0 if all(map(trusted, self.enodes(index))) else 1.0 + margin
        node_cost = np.array(costs, dtype=np.float64)
        if per_node:
            node_cost += per_node * self.problem.measures[NODES]
        problem = dataclasses.replace(self.problem, node_cost=node_cost)
        return dataclasses.replace(self, problem=problem)

    def only(self, kept: Sequence[int]) -> Posed:
        """The problem with these nodes alone."""
        problem = self.problem
        starts, ends = problem.child_start[:-1], problem.child_start[1:]
        children = [problem.children[starts[i] : ends[i]] for i in kept]
        index = np.array(kept, dtype=np.int64)
        smaller = dataclasses.replace(
            problem,
            node_class=problem.node_class[index],
            node_cost=problem.node_cost[index],
            child_start=np.cumsum([0, *map(len, children)], dtype=np.int64),
            children=np.concatenate([*children, np.array([], dtype=np.int64)]),
            node_name=[problem.node_name[i] for i in kept],
            measures={name: values[index] for name, values in problem.measures.items()},
        )
        nodes, parts = tuple(self.nodes[i] for i in kept), tuple(self.parts[i] for i in kept)
        places = {old: new for new, old in enumerate(kept)}
        inner = {places[old]: rest for old, rest in self.inner.items() if old in places}
        return dataclasses.replace(self, problem=smaller, nodes=nodes, parts=parts, inner=inner)

    def parts_of(self, extraction: Extraction) -> list[Timed]:
        """What the answer runs."""
        selection = extraction.selection
        chosen = () if selection is None else map(self.parts.__getitem__, selection.chosen())
        return [part for part in chosen if part is not None]


def pose(
    saturated: Saturated,
    model: CostModel,
    writable: Writable,
    barred: Collection[ENode] = frozenset(),
) -> Posed:
    """Price every e-node but those `barred`, and lay the e-graph out as arrays."""
    pricer = Pricer(saturated, model)
    fits = _WritableNodes(saturated, writable, pricer.heads)
    kept: list[ENode] = []
    left_out: list[ENode] = []
    for node in saturated.nodes:
        if barred and node in barred:
            continue
        (kept if fits(node) else left_out).append(node)
    parts = tuple(map(pricer.part, kept))
    children = [sorted(set(n.children)) for n in kept]
    starts = np.zeros(len(kept) + 1, dtype=np.int64)
    starts[1:] = np.cumsum([len(c) for c in children], dtype=np.int64)
    problem = Problem(
        classes=len(saturated.class_types),
        node_class=np.array([n.eclass for n in kept], dtype=np.int64),
        node_cost=np.zeros(len(kept)),
        child_start=starts,
        children=np.array([c for row in children for c in row], dtype=np.int64),
        roots=np.array(sorted(set(saturated.outputs)), dtype=np.int64),
        node_name=[head_name(n) for n in kept],
    )
    posed = Posed(problem, tuple(kept), parts, tuple(left_out))
    return posed.at(model.prices([part for part in parts if part is not None]))


def head_name(node: ENode) -> str:
    """What an e-node is, in a word."""
    match node.head:
        case Leaf(kind, name):
            return f"{kind.value} {name}".strip()
        case Projection(index):
            return f"output {index}"
        case Application(operator):
            return operator.name


@dataclass
class _Heads:
    """Numbers of the heads of one snapshot, which keeps them: equal ones have the same.  Many
    e-nodes share the same object, and whole heads are slow to compare."""

    _by_object: dict[int, int] = field(default_factory=dict)
    _by_head: dict[Application, int] = field(default_factory=dict)

    def number(self, head: Application) -> int:
        known = self._by_object.get(id(head))
        if known is None:
            known = self._by_head.setdefault(head, len(self._by_head))
            self._by_object[id(head)] = known
        return known


@dataclass
class Pricer:
    """What the e-nodes of one snapshot run, and its price; equal e-nodes run the same object.  It
    is asked about e-nodes of the snapshot alone: heads and types go by their identity."""

    saturated: Saturated
    model: CostModel
    heads: _Heads = field(default_factory=_Heads)

    def __post_init__(self) -> None:
        self._parts: dict[object, Part] = {}
        self._outputs: dict[int, dict[int, Type]] = {}
        self._free = free_classes(self.saturated)
        for node in self.saturated.nodes:
            if isinstance(node.head, Projection):
                known = self._outputs.setdefault(node.children[0], {})
                known[node.head.index] = self.saturated.class_types[node.eclass]

    def price(self, node: ENode) -> float:
        """The price of one e-node."""
        part = self.part(node)
        return 0.0 if part is None else self.model.price(part)

    def part(self, node: ENode) -> Part | None:
        """What one e-node runs; None where that costs nothing."""
        head = node.head
        if not isinstance(head, Application) or is_free(node, self._free):
            return None
        inputs = tuple(self.saturated.class_types[c] for c in node.children)
        outputs = self._output_types(node, head)
        constant = tuple(c in self._free for c in node.children)
        repeats = repeated(node.children)
        key = (self.heads.number(head), constant, repeats, *map(id, inputs), *map(id, outputs))
        if key not in self._parts:
            self._parts[key] = Part(head, inputs, outputs, constant, repeats)
        return self._parts[key]

    def _output_types(self, node: ENode, head: Application) -> tuple[Type, ...]:
        if not head.operator.has_bundle:
            return (self.saturated.class_types[node.eclass],)
        known = self._outputs.get(node.eclass, {})
        return tuple(known.get(i, ABSENT) for i in range(head.outputs))


@dataclass
class _WritableNodes:
    """Whether e-nodes of one snapshot can be written; equal questions are asked once."""

    saturated: Saturated
    writable: Writable
    heads: _Heads
    _known: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def __call__(self, node: ENode) -> bool:
        head = node.head
        if node.original or not isinstance(head, Application):
            return True
        inputs = tuple(self.saturated.class_types[c] for c in node.children)
        key = (self.heads.number(head), *map(id, inputs))
        if key not in self._known:
            self._known[key] = self.writable(head, inputs)
        return self._known[key]


def parts_of_graph(graph: Graph, saturated: Saturated) -> list[tuple[Node, Part]]:
    """What the original graph runs as it stands, in order: equal nodes are counted each, nodes
    that no output needs are not."""
    folded: set[str | None] = {name for node in constant_nodes(graph) for name in node.outputs}
    known = folded | set(graph.constants)
    live = live_nodes(graph.nodes, (output.value for output in graph.outputs))
    run = (node for node in live if not folded.issuperset(node.outputs))
    return [(node, _part_of_node(node, saturated, known)) for node in run]


def _part_of_node(node: Node, saturated: Saturated, known: Collection[str | None]) -> Part:
    def known_type(name: str | None) -> Type:
        return ABSENT if name is None else saturated.class_types[saturated.value_class[name]]

    inputs, outputs = (tuple(map(known_type, names)) for names in (node.inputs, node.outputs))
    constant = tuple(name in known for name in node.inputs)
    return Part(application_of(node), inputs, outputs, constant, repeated(node.inputs))
