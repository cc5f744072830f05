"""Is the graph well formed?  And an order in which every value is made before it is read.

Enters: a graph as it was read.  Leaves: the places of its nodes in order.  Raises InputError with
one message for the first of: no outputs, a node without any, a value defined twice, an unknown
name, a cycle.  Nodes in any order are fine.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence

import onnx

from tensat_dl.errors import InputError
from tensat_dl.graph.subgraphs import captured_by

_EXPORT_AGAIN = "the model is not valid ONNX; export it again or fix it with onnx.helper"


def sorted_nodes(graph: onnx.GraphProto) -> tuple[int, ...]:
    """Indices of the graph's nodes in topological order, stable: already sorted stays so."""
    if not graph.output:
        raise InputError("the model has no graph outputs", help=_EXPORT_AGAIN)
    known = _given_values(graph)
    makers = _makers(graph, known)
    reads = [tuple(_reads(node)) for node in graph.node]
    _check_names(graph, reads, known, makers)
    return _order(graph, reads, makers)


def sorted_branch(graph: onnx.GraphProto) -> tuple[int, ...]:
    """The same for a subgraph without inputs; what nothing in it makes is the outer graph's."""
    makers = _makers(graph, set(initializer_names(graph)))
    return _order(graph, [tuple(_reads(node)) for node in graph.node], makers)


def read_names(graph: onnx.GraphProto) -> frozenset[str]:
    """Values that some node, subgraph or graph output reads."""
    return frozenset({*read_by(graph.node), *(value.name for value in graph.output)})


def read_by(nodes: Iterable[onnx.NodeProto]) -> Iterable[str]:
    """Values that nodes and their subgraphs read."""
    return (name for node in nodes for name in _reads(node))


def describe_node(node: onnx.NodeProto, index: int) -> str:
    """`Conv node 'conv1'`, or its position where it has no name."""
    return f"{node.op_type} node " + (f"'{node.name}'" if node.name else f"number {index}")


def _reads(node: onnx.NodeProto) -> Iterable[str]:
    yield from (name for name in node.input if name)
    yield from captured_by(node)


def _given_values(graph: onnx.GraphProto) -> set[str]:
    known: set[str] = set()
    for value in graph.input:
        if value.name in known:
            raise InputError(f"graph input '{value.name}' is declared twice", help=_EXPORT_AGAIN)
        known.add(value.name)
    return known.union(initializer_names(graph))


def initializer_names(graph: onnx.GraphProto) -> Iterable[str]:
    """Of a graph or subgraph, those of sparse initializers included."""
    yield from (tensor.name for tensor in graph.initializer)
    yield from (tensor.values.name for tensor in graph.sparse_initializer)


def _makers(graph: onnx.GraphProto, known: set[str]) -> dict[str, int]:
    makers: dict[str, int] = {}
    for index, node in enumerate(graph.node):
        if not node.output:
            raise InputError(f"{describe_node(node, index)} has no outputs", help=_EXPORT_AGAIN)
        for name in filter(None, node.output):
            if name in makers or name in known:
                first = (
                    describe_node(graph.node[makers[name]], makers[name])
                    if name in makers
                    else "a graph input or initializer"
                )
                raise InputError(
                    f"value '{name}' is defined twice: by {first} and by "
                    f"{describe_node(node, index)}",
                    help=_EXPORT_AGAIN,
                )
            makers[name] = index
    return makers


def _check_names(
    graph: onnx.GraphProto,
    reads: Sequence[tuple[str, ...]],
    known: set[str],
    makers: dict[str, int],
) -> None:
    for index, names in enumerate(reads):
        for name in names:
            if name not in known and name not in makers:
                node = describe_node(graph.node[index], index)
                raise InputError(
                    f"{node} reads '{name}', which nothing defines", help=_EXPORT_AGAIN
                )
    for value in graph.output:
        if value.name not in known and value.name not in makers:
            raise InputError(
                f"graph output '{value.name}' is defined by nothing", help=_EXPORT_AGAIN
            )


def _order(
    graph: onnx.GraphProto, reads: Sequence[tuple[str, ...]], makers: dict[str, int]
) -> tuple[int, ...]:
    readers: list[list[int]] = [[] for _ in reads]
    waiting = [0] * len(reads)
    for index, names in enumerate(reads):
        sources = {makers[name] for name in names if name in makers}
        waiting[index] = len(sources)
        for source in sources:
            readers[source].append(index)
    ready = [index for index, count in enumerate(waiting) if not count]
    order: list[int] = []
    while ready:
        index = heapq.heappop(ready)
        order.append(index)
        for reader in readers[index]:
            waiting[reader] -= 1
            if not waiting[reader]:
                heapq.heappush(ready, reader)
    if len(order) < len(reads):
        index = _on_cycle(reads, makers, set(order))
        node = describe_node(graph.node[index], index)
        raise InputError(f"the graph has a cycle: {node} depends on itself", help=_EXPORT_AGAIN)
    return tuple(order)


def _on_cycle(reads: Sequence[tuple[str, ...]], makers: dict[str, int], done: set[int]) -> int:
    """From a node that never got ready, go to one that it waits for, until one comes again."""
    index = next(index for index in range(len(reads)) if index not in done)
    seen: set[int] = set()
    while index not in seen:
        seen.add(index)
        sources = (makers[name] for name in reads[index] if name in makers)
        index = next(source for source in sources if source not in done)
    return index
