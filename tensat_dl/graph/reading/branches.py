"""Conditionals inside the branches of a conditional that stays.

Enters: an `If` node whose condition is not known, and what is known outside.  Leaves: the same
node with those conditionals in its branches inlined whose condition is known there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import onnx

from tensat_dl.graph.model import Constant, Graph
from tensat_dl.graph.names import subgraphs
from tensat_dl.graph.reading.inlining import is_conditional
from tensat_dl.graph.reading.outside import Outside
from tensat_dl.graph.source import Source
from tensat_dl.graph.writing.write import build_proto

#: Captured constants of at most this many bytes are shown to the branch.
_SHOWN_BYTES = 1024


@dataclass(frozen=True)
class Branches:
    """`read` reads a model."""

    outside: Outside
    read: Callable[[Source], Graph]

    def simplified(self, node: onnx.NodeProto) -> tuple[onnx.NodeProto, int]:
        """The node, and how many conditionals were inlined (0: it is the same node)."""
        if not any(map(_has_conditionals, subgraphs(node))):
            return node, 0
        result, total = onnx.NodeProto(), 0
        result.CopyFrom(node)
        for attribute in result.attribute:
            if attribute.type == onnx.AttributeProto.GRAPH:
                graph, count = self._branch(attribute.g)
                if graph is not None:
                    attribute.g.CopyFrom(graph)
                    total += count
        return (result, total) if total else (node, 0)

    def _branch(self, branch: onnx.GraphProto) -> tuple[onnx.GraphProto | None, int]:
        model = self.outside.model_of(branch, _is_small)
        if model is None:
            return None, 0
        graph = self.read(model)
        if not graph.source.conditionals or graph.source.warnings:
            # A node without a type: it cannot run there, and a runtime that saw so would refuse.
            return None, 0
        written = self.outside.taken_back(build_proto(graph).graph, branch)
        return written, graph.source.conditionals


def _is_small(_: str, constant: Constant) -> bool:
    return constant.nbytes <= _SHOWN_BYTES


def _has_conditionals(graph: onnx.GraphProto) -> bool:
    return any(is_conditional(node) for node in _all_nodes(graph))


def _all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from _all_nodes(inner)
