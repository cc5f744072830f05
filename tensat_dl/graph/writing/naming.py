"""The name of each value in the model that is written.

Enters: a graph.  Leaves: :class:`Naming`.  Inputs and outputs have the public names; constants
that were initializers theirs; other values keep the name they have in the graph where it is
free, else get a new one that nothing in the source has, its subgraphs included.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import onnx

from tensat_dl.graph.model import Graph
from tensat_dl.graph.names import Names, outer_names, subgraphs, value_names


@dataclass(frozen=True)
class Naming:
    """`names`: value -> name.  `copies`: (value, name) of outputs that need an Identity, because
    their value has another public name already.  `fresh` gives further names."""

    names: dict[str, str]
    copies: tuple[tuple[str, str], ...]
    fresh: Names


def name_values(graph: Graph) -> Naming:
    """Choose all names."""
    return _Assignment(graph).naming()


class _Assignment:
    def __init__(self, graph: Graph) -> None:
        proto = graph.source.proto
        self.graph = graph
        self.names: dict[str, str] = {}
        self.copies: list[tuple[str, str]] = []
        self.used: set[str] = {output.name for output in graph.outputs}
        carried = (graph.source.node(node.index) for node in graph.nodes if node.index >= 0)
        self.inner = set(_inner_names(carried))
        self.fresh = Names(
            [
                *value_names(proto.graph),
                *self.inner,
                *graph.types,
                *self.used,
                *graph.inputs,
                *graph.constants,
            ]
        )

    def naming(self) -> Naming:
        for name in self.graph.inputs:
            self.names[name] = name
            self.used.add(name)
        for output in self.graph.outputs:
            self._name_output(output.value, output.name)
        for name, constant in self.graph.constants.items():
            self._name(name, constant.source_name or name)
        for node in self.graph.nodes:
            for name in node.outputs:
                self._name(name, name)
        return Naming(self.names, tuple(self.copies), self.fresh)

    def _name_output(self, value: str, name: str) -> None:
        if self.names.get(value) == name:
            return
        if value in self.names or self._has_another_name(value, name):
            self.copies.append((value, name))
        else:
            self.names[value] = name

    def _has_another_name(self, value: str, name: str) -> bool:
        """An initializer of the source that should keep its name."""
        constant = self.graph.constants.get(value)
        return constant is not None and constant.source_name not in (None, name)

    def _name(self, value: str, hint: str) -> None:
        if value in self.names:
            return
        free = hint not in self.used and hint not in self.inner
        name = hint if free else self.fresh.fresh(hint)
        self.names[value] = name
        self.used.add(name)


def _inner_names(nodes: Iterable[onnx.NodeProto]) -> Iterator[str]:
    """Names that subgraphs define: an outer value of that name would be hidden from them."""
    for node in nodes:
        for inner in subgraphs(node):
            yield from outer_names(inner)
            yield from _inner_names(inner.node)
