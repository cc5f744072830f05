"""What costs nothing at run time: what is folded on export.

Enters: a snapshot, or a graph.  Leaves: the classes whose value is known when the model is
written, or the nodes that only compute such values.  What depends on constants alone but is never
folded (quantisation, random operators, operators nobody knows) is paid for like anything else.
"""

from __future__ import annotations

from collections.abc import Iterable

from tensat_dl.cost.models import CostModel
from tensat_dl.cost.work import Part
from tensat_dl.egraph.loading import application_of
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, LeafKind, Saturated
from tensat_dl.graph.folding.choice import is_foldable, may_fold
from tensat_dl.graph.model import Graph, Node
from tensat_dl.vocabulary.operators import OperatorKind


def free_classes(saturated: Saturated) -> frozenset[int]:
    """Classes with an e-node that is folded: a constant, or a foldable operator over such."""
    readers: dict[int, list[int]] = {}
    waiting: list[int] = []
    missing = [0] * len(saturated.nodes)
    heads: dict[int, bool] = {}  # many e-nodes share the same
    for index, node in enumerate(saturated.nodes):
        may = heads.get(id(node.head))
        if may is None:
            may = heads[id(node.head)] = _may_be_free(node)
        if not may:
            continue
        children = set(node.children)
        missing[index] = len(children)
        waiting += [] if children else [index]
        for child in children:
            readers.setdefault(child, []).append(index)
    free: set[int] = set()
    while waiting:
        eclass = saturated.nodes[waiting.pop()].eclass
        if eclass in free:
            continue
        free.add(eclass)
        for index in readers.get(eclass, ()):
            missing[index] -= 1
            if not missing[index]:
                waiting.append(index)
    return frozenset(free)


def is_free(node: ENode, free: frozenset[int]) -> bool:
    """The e-node itself is folded."""
    return free.issuperset(node.children) and _may_be_free(node)


def constant_nodes(graph: Graph) -> tuple[Node, ...]:
    """Nodes that depend on constants alone and may be folded, in order."""
    known: set[str | None] = {None, *graph.constants}
    found = []
    for node in graph.nodes:
        if may_fold(node) and known.issuperset(node.inputs):
            known.update(node.outputs)
            found.append(node)
    return tuple(found)


def price_of_unfolded(graph: Graph, left: Iterable[Node], model: CostModel) -> float:
    """The price of what could be folded and is not: of the nodes that folding `graph` leaves."""
    computed = {node.outputs for node in left}
    nodes = (node for node in constant_nodes(graph) if node.outputs in computed)
    return sum(_price(node, graph, model) for node in nodes)


def _price(node: Node, graph: Graph, model: CostModel) -> float:
    inputs, outputs = (tuple(map(graph.type_of, names)) for names in (node.inputs, node.outputs))
    return model.price(Part(application_of(node), inputs, outputs))


def _may_be_free(node: ENode) -> bool:
    match node.head:
        case Leaf(kind):
            return kind is not LeafKind.INPUT
        case Application(operator):
            return operator.kind is OperatorKind.VIRTUAL or is_foldable(operator)
    return True
