"""Nodes that rules pass over because nothing is known of the type of what they read.

Enters: a graph.  Leaves: an :class:`Untyped`.  Such a node is carried along as one of an unknown
operator is.  The first tensors without a type are where it begins, mostly outputs of custom
operators: types declared for those open what stands behind them.
"""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.graph.model import Graph, Node
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import UNDECLARED


@dataclass(frozen=True)
class Untyped:
    """`nodes`: those that are passed over; `values`: the first ones without a type."""

    nodes: tuple[Node, ...]
    values: tuple[str, ...]


def find_untyped(graph: Graph) -> Untyped:
    """What is passed over in `graph`."""
    values = [name for name in graph.inputs if graph.type_of(name) == UNDECLARED]
    nodes = []
    for node in graph.nodes:
        known = catalog.operator(node.operator.name, node.operator.domain) is not None
        if known and untyped_inputs(graph, node):
            nodes.append(node)
        else:
            values += [name for name in node.outputs if graph.type_of(name) == UNDECLARED]
    read = {name for node in nodes for name in untyped_inputs(graph, node)}
    return Untyped(tuple(nodes), tuple(name for name in values if name in read))


def untyped_inputs(graph: Graph, node: Node) -> list[str]:
    """Of a node that is carried along, the inputs of whose types nothing is known."""
    if node.operator.kind is not OperatorKind.OPAQUE:
        return []
    return [name for name in node.inputs if name and graph.type_of(name) == UNDECLARED]
