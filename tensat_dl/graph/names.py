"""Names of values and nodes: which are taken, and new readable ones that are not."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import onnx

_WITH_GRAPHS = frozenset((onnx.AttributeProto.GRAPH, onnx.AttributeProto.GRAPHS))


class Names:
    """Gives names that differ from all `taken` ones and from each other."""

    def __init__(self, taken: Iterable[str]) -> None:
        """`taken` is copied."""
        self._taken = set(taken)
        self._counters: dict[str, int] = {}

    def take(self, name: str) -> None:
        """Reserve a name."""
        self._taken.add(name)

    def fresh(self, hint: str) -> str:
        """`hint` itself if it is free, else `hint_1`, `hint_2`, ..."""
        name = hint
        while not name or name in self._taken:
            count = self._counters[hint] = self._counters.get(hint, 0) + 1
            name = f"{hint}_{count}"
        self._taken.add(name)
        return name


def value_names(graph: onnx.GraphProto) -> Iterator[str]:
    """Every value name in a graph and its subgraphs, repeated as it occurs."""
    yield from (value.name for value in graph.input)
    yield from (value.name for value in graph.output)
    yield from (value.name for value in graph.value_info)
    yield from (tensor.name for tensor in graph.initializer)
    yield from (tensor.values.name for tensor in graph.sparse_initializer)
    for node in graph.node:
        yield from node.input
        yield from node.output
        for subgraph in subgraphs(node):
            yield from value_names(subgraph)


def outer_names(graph: onnx.GraphProto) -> Iterator[str]:
    """The values that a graph itself defines, those of its subgraphs left out."""
    yield from (value.name for value in graph.input)
    yield from (tensor.name for tensor in graph.initializer)
    yield from (tensor.values.name for tensor in graph.sparse_initializer)
    yield from (name for node in graph.node for name in node.output if name)


def node_names(graph: onnx.GraphProto) -> Iterator[str]:
    """Every node name in a graph, not in its subgraphs."""
    return (node.name for node in graph.node)


def operators(graph: onnx.GraphProto) -> Iterator[str]:
    """The name of each node's operator in a graph and its subgraphs, constants left out."""
    for node in graph.node:
        if node.op_type != "Constant":
            yield node.op_type
        for inner in subgraphs(node):
            yield from operators(inner)


def operators_inside(node: onnx.NodeProto) -> frozenset[str]:
    """The names of the operators in a node's subgraphs, at any depth, constants left out."""
    return frozenset(name for graph in subgraphs(node) for name in operators(graph))


def subgraphs(node: onnx.NodeProto) -> Sequence[onnx.GraphProto]:
    """The subgraphs in a node's attributes, attributes sorted by name."""
    found = [each for each in node.attribute if each.type in _WITH_GRAPHS]
    if not found:
        return ()
    found.sort(key=lambda a: a.name)
    single = onnx.AttributeProto.GRAPH
    return [g for each in found for g in ([each.g] if each.type == single else each.graphs)]
