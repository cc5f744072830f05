"""Subgraphs of control flow: which outer values they read, and giving those other names.

A subgraph reads an outer value simply by its name.  `captured` lists such names;
`rename_captured` changes them, and nothing that the subgraph defines itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import onnx

from tensat_dl.graph.names import Names, subgraphs, value_names


def captured(graph: onnx.GraphProto) -> tuple[str, ...]:
    """Names of outer values that a subgraph (or one inside it) reads, in order of first use."""
    inner = _defined(graph)
    return tuple(dict.fromkeys(name for name in _used(graph) if name and name not in inner))


def captured_by(node: onnx.NodeProto) -> tuple[str, ...]:
    """Outer values read by a node's subgraphs, attribute by attribute in order of their names;
    a value occurs once for each attribute that reads it."""
    return tuple(name for graph in subgraphs(node) for name in captured(graph))


def rename_captured(graph: onnx.GraphProto, new_names: Mapping[str, str]) -> None:
    """Change in place the names of outer values that `graph` reads; what it defines itself under
    one of the new names gets another one, or it would hide that value."""
    inner = _defined(graph)
    outer = {old: new for old, new in new_names.items() if old not in inner and old != new}
    if not outer:
        return
    hidden = sorted(inner.intersection(outer.values()))
    if hidden:
        free = Names([*value_names(graph), *outer.values()])
        rename_everywhere(graph, {name: free.fresh(f"{name}_inside") for name in hidden})
    for node in graph.node:
        rename_inputs(node, outer)
        for subgraph in subgraphs(node):
            rename_captured(subgraph, outer)
    for value in graph.output:
        value.name = outer.get(value.name, value.name)


def rename_everywhere(graph: onnx.GraphProto, new: Mapping[str, str]) -> None:
    """Change names in place wherever they stand, at any depth."""
    if not new:
        return
    tensors = [*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)]
    for named in (*graph.input, *graph.output, *graph.value_info, *tensors):
        named.name = new.get(named.name, named.name)
    for annotation in graph.quantization_annotation:
        annotation.tensor_name = new.get(annotation.tensor_name, annotation.tensor_name)
        for entry in annotation.quant_parameter_tensor_names:
            entry.value = new.get(entry.value, entry.value)
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [new.get(name, name) for name in names]
        for inner in subgraphs(node):
            rename_everywhere(inner, new)


def rename_inputs(node: onnx.NodeProto, new_names: Mapping[str, str]) -> None:
    """Change in place the names of a node's own inputs."""
    for index, name in enumerate(node.input):
        if name in new_names:
            node.input[index] = new_names[name]


def _defined(graph: onnx.GraphProto) -> set[str]:
    names = {value.name for value in graph.input}
    names |= {tensor.name for tensor in graph.initializer}
    names |= {tensor.values.name for tensor in graph.sparse_initializer}
    names |= {name for node in graph.node for name in node.output}
    return names


def _used(graph: onnx.GraphProto) -> Iterator[str]:
    for node in graph.node:
        yield from node.input
        for subgraph in subgraphs(node):
            yield from captured(subgraph)
    yield from (value.name for value in graph.output)
