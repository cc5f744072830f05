"""The original graph among the e-nodes.

Enters: a graph and its explored e-graph.  Leaves: :class:`Origins`: which e-node each node of the
original is, and which e-node made each of its values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from tensat_dl.diagnosis.index import Index
from tensat_dl.egraph.loading import application_of, attributes_in_graph
from tensat_dl.egraph.snapshot import ENode, Leaf, LeafKind, Projection
from tensat_dl.graph.model import Graph, Node


@dataclass(frozen=True)
class Origins:
    """`nodes`: the nodes of the original that an e-node is, in their order; `read`: for such an
    e-node and a tensor that it reads, the e-nodes that made that tensor in the original."""

    nodes: Mapping[ENode, tuple[Node, ...]]
    read: Mapping[tuple[ENode, int], frozenset[ENode]]


def find_origins(graph: Graph, index: Index) -> Origins:
    """Look every node up; one whose e-node is gone is left out."""
    classes = index.saturated.value_class
    leaves = {name: Leaf(LeafKind.INPUT, name) for name in graph.inputs}
    leaves |= {name: Leaf(LeafKind.CONSTANT, c.digest) for name, c in graph.constants.items()}
    makers = {name: row for name, leaf in leaves.items() if (row := index.rows.get((leaf, ())))}
    nodes: dict[ENode, list[Node]] = {}
    read: dict[tuple[ENode, int], set[ENode]] = {}
    for node in graph.nodes:
        row = _row(node, classes, index)
        if row is None:
            continue
        nodes.setdefault(row, []).append(node)
        for name in node.inputs:
            if name is not None and name in makers:
                read.setdefault((row, classes[name]), set()).add(makers[name])
        for place, name in enumerate(node.outputs):
            tensor = row
            if node.operator.has_bundle:
                tensor = index.rows.get((Projection(place), (row.eclass,)), row)
            makers[name] = tensor
    return Origins(
        {row: tuple(found) for row, found in nodes.items()},
        {key: frozenset(found) for key, found in read.items()},
    )


def _row(node: Node, classes: Mapping[str, int], index: Index) -> ENode | None:
    inputs = tuple(index.absent if name is None else classes[name] for name in node.inputs)
    head = replace(application_of(node), attributes=attributes_in_graph(node))
    return index.application(head, inputs)
