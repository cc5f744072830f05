"""Conditionals inside the branches of a conditional that stays.

Enters: an `If` node whose condition is not known, and what is known outside.  Leaves: the same
node with those conditionals in its branches inlined whose condition is known there.  A branch is
read like a model of its own: what it captures are inputs, or constants where they are known.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import onnx

from tensat_dl.graph.constants import tensor_of_constant
from tensat_dl.graph.model import Constant, Graph
from tensat_dl.graph.names import outer_names, subgraphs
from tensat_dl.graph.reading.inlining import is_conditional
from tensat_dl.graph.source import Source
from tensat_dl.graph.subgraphs import captured
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.vocabulary.protos import proto_of
from tensat_dl.vocabulary.types import Type

#: Captured constants of at most this many bytes are shown to the branch.
_SHOWN_BYTES = 1024


@dataclass(frozen=True)
class Branches:
    """`proto` gives opsets and functions; `read` reads a model; `visible`: names outside."""

    proto: onnx.ModelProto
    folder: Path | None
    types: Mapping[str, Type]
    constants: Mapping[str, Constant]
    visible: set[str]
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
        model = self._model_of(branch)
        if model is None:
            return None, 0
        graph = self.read(Source(model, folder=self.folder))
        if not graph.source.conditionals or graph.source.warnings:
            # A node without a type: it cannot run there, and a runtime that saw so would refuse.
            return None, 0
        written = build_proto(graph).graph
        outside = set(captured(branch))
        inner = [t for t in written.initializer if t.name not in outside]
        del written.input[:], written.initializer[:]
        written.initializer.extend(inner)
        if self._hides(written, branch):
            return None, 0
        return written, graph.source.conditionals

    def _model_of(self, branch: onnx.GraphProto) -> onnx.ModelProto | None:
        model = onnx.ModelProto(ir_version=max(self.proto.ir_version, 4))
        model.opset_import.extend(self.proto.opset_import)
        model.functions.extend(self.proto.functions)
        model.graph.CopyFrom(branch)
        for name in captured(branch):
            constant = self.constants.get(name)
            type_ = proto_of(self.types[name])
            if constant is not None and constant.nbytes <= _SHOWN_BYTES:
                model.graph.initializer.append(tensor_of_constant(constant, name))
            elif type_ is None:
                return None
            else:
                model.graph.input.add(name=name, type=type_)
        return model

    def _hides(self, written: onnx.GraphProto, branch: onnx.GraphProto) -> bool:
        """A new name would hide an outer value."""
        return not self.visible.isdisjoint(set(outer_names(written)) - set(outer_names(branch)))


def _has_conditionals(graph: onnx.GraphProto) -> bool:
    return any(is_conditional(node) for node in _all_nodes(graph))


def _all_nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from _all_nodes(inner)
