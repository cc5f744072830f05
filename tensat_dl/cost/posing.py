"""The extraction problem that a snapshot poses under a cost model.

Enters: a snapshot, a cost model, and what can be written to the model.  Leaves: a
:class:`~tensat_dl.extract.problem.Problem` whose nodes are the snapshot's e-nodes that can be
written, and the price of the original graph.

What is folded on export costs nothing.  An e-node that a rule made
and that cannot be lowered to the model's opset is left out; those of the original graph never are.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tensat_dl.cost.free import constant_nodes, free_classes, is_free
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.writable import Writable
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, Projection, Saturated
from tensat_dl.extract.problem import Problem
from tensat_dl.graph.model import Graph
from tensat_dl.graph.prune import live_nodes
from tensat_dl.vocabulary.types import ABSENT, OtherType, Type


@dataclass(frozen=True)
class Posed:
    """`nodes[i]` is the e-node behind node i of `problem`; `class_of[c]` maps classes of the
    snapshot to those of the problem (the same numbers).  `left_out` are e-nodes that cannot be
    written at the model's opset."""

    problem: Problem
    nodes: tuple[ENode, ...]
    left_out: tuple[ENode, ...]


def pose(saturated: Saturated, model: CostModel, writable: Writable) -> Posed:
    """Price every e-node and lay the e-graph out as arrays."""
    pricer = Pricer(saturated, model)
    kept: list[ENode] = []
    left_out: list[ENode] = []
    for node in saturated.nodes:
        fits = node.original or _is_writable(node, saturated, writable)
        (kept if fits else left_out).append(node)
    children = [sorted(set(n.children)) for n in kept]
    starts = np.zeros(len(kept) + 1, dtype=np.int64)
    starts[1:] = np.cumsum([len(c) for c in children], dtype=np.int64)
    problem = Problem(
        classes=len(saturated.class_types),
        node_class=np.array([n.eclass for n in kept], dtype=np.int64),
        node_cost=np.array([pricer.price(n) for n in kept], dtype=np.float64),
        child_start=starts,
        children=np.array([c for row in children for c in row], dtype=np.int64),
        roots=np.array(sorted(set(saturated.outputs)), dtype=np.int64),
        node_name=[head_name(n) for n in kept],
    )
    return Posed(problem, tuple(kept), tuple(left_out))


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
class Pricer:
    """Prices e-nodes of one snapshot; equal questions are asked once."""

    saturated: Saturated
    model: CostModel

    def __post_init__(self) -> None:
        self._prices: dict[object, float] = {}
        self._outputs: dict[int, dict[int, Type]] = {}
        self._free = free_classes(self.saturated)
        for node in self.saturated.nodes:
            if isinstance(node.head, Projection):
                type_ = self.saturated.class_types[node.eclass]
                known = self._outputs.setdefault(node.children[0], {})
                known[node.head.index] = type_ if type_ is not None else ABSENT

    def price(self, node: ENode) -> float:
        """The price of one e-node."""
        head = node.head
        if not isinstance(head, Application) or is_free(node, self._free):
            return 0.0
        inputs = tuple(_type(self.saturated, c) for c in node.children)
        outputs = self._output_types(node, head)
        key = (head, *map(id, inputs), *map(id, outputs))
        if key not in self._prices:
            self._prices[key] = self.model.price(head, inputs, outputs)
        return self._prices[key]

    def _output_types(self, node: ENode, head: Application) -> tuple[Type, ...]:
        if not head.operator.has_bundle:
            return (_type(self.saturated, node.eclass),)
        known = self._outputs.get(node.eclass, {})
        return tuple(known.get(i, ABSENT) for i in range(head.outputs))


def _type(saturated: Saturated, eclass: int) -> Type:
    return saturated.class_types[eclass] or _UNTYPED


_UNTYPED = OtherType("untyped")


def _is_writable(node: ENode, saturated: Saturated, writable: Writable) -> bool:
    if not isinstance(node.head, Application):
        return True
    return writable(node.head, tuple(_type(saturated, c) for c in node.children))


def price_of_graph(graph: Graph, saturated: Saturated, model: CostModel) -> float:
    """The price of the original graph as it stands: equal nodes are counted each, nodes that no
    output needs are not."""
    total = 0.0
    folded = {name for node in constant_nodes(graph) for name in node.outputs}
    for node in live_nodes(graph.nodes, (output.value for output in graph.outputs)):
        classes = [saturated.value_class[name] for name in node.outputs]
        if folded.issuperset(node.outputs):
            continue
        count = len(node.outputs) if node.operator.has_bundle else 1
        inputs = tuple(
            ABSENT if i is None else _type(saturated, saturated.value_class[i]) for i in node.inputs
        )
        outputs = tuple(_type(saturated, c) for c in classes)
        total += model.price(Application(node.operator, node.attributes, count), inputs, outputs)
    return total
