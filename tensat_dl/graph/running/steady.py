"""What a model makes of its large weights alone is the same at every run: it is computed once.

Enters: a model whose large weights are inputs.  Leaves: a :class:`Steady`: the nodes that read
nothing else (transpositions of weights, say), as a model of their own, and what is left.  What goes
from one to the other is fed, so it must be tensors of element types that numpy arrays say: of fp8
onnxruntime gives the bits as integers.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import onnx
from numpy.typing import NDArray
from onnx import helper

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.functions import function_bodies
from tensat_dl.graph.names import subgraphs
from tensat_dl.graph.randomness import may_be_random
from tensat_dl.graph.source import plain_domain
from tensat_dl.graph.subgraphs import captured_by

_CONSTANT = "Constant"


@dataclass(frozen=True)
class Steady:
    """`once`: a model that computes what is the same at every run, its outputs, from some weights;
    `whole`: the model that it is a part of; `nodes`: where its nodes stand there; `spent`: the
    weights that no others read."""

    once: onnx.ModelProto
    whole: onnx.ModelProto
    nodes: frozenset[int]
    spent: frozenset[str]

    def rest(self, computed: Mapping[str, NDArray[Any]]) -> onnx.ModelProto:
        """The model with what was computed as inputs in place of the weights that are spent."""
        graph = self.whole.graph
        rest = copy_model(self.whole, skip=("node", "value_info", "input"))
        rest.graph.node.extend(n for i, n in enumerate(graph.node) if i not in self.nodes)
        rest.graph.value_info.extend(v for v in graph.value_info if v.name not in computed)
        rest.graph.input.extend(v for v in graph.input if v.name not in self.spent)
        for name, array in computed.items():
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            rest.graph.input.append(helper.make_tensor_value_info(name, code, array.shape))
        return rest


def steady_part(
    proto: onnx.ModelProto, weights: Collection[str], wanted: Collection[str]
) -> Steady | None:
    """What `proto` computes from the inputs `weights` alone, but for the values `wanted`; None
    where that is nothing."""
    graph = proto.graph
    shown = {*wanted, *(value.name for value in graph.output)}
    chosen = frozenset(_steady_nodes(proto, weights, shown))
    if not chosen:
        return None
    nodes = [graph.node[index] for index in sorted(chosen)]
    left = (node for index, node in enumerate(graph.node) if index not in chosen)
    read = {name for node in left for name in (*node.input, *captured_by(node))} | shown
    outputs = [name for node in nodes for name in node.output if name in read]
    return Steady(_model_of(proto, nodes, outputs), proto, chosen, frozenset(weights) - read)


def _steady_nodes(proto: onnx.ModelProto, weights: Collection[str], shown: set[str]) -> list[int]:
    """Positions of nodes that read weights, directly or not, and beside them constants alone."""
    graph, functions = proto.graph, function_bodies(proto)
    listed = {value.name for value in graph.input}
    known = {*weights, *(t.name for t in graph.initializer if t.name not in listed)}
    large, chosen = set(weights), []
    for index, node in enumerate(graph.node):
        reads = set(filter(None, node.input))
        depends = known >= reads and not large.isdisjoint(reads)
        if plain_domain(node.domain) or any(subgraphs(node)) or may_be_random(node, functions):
            continue
        if node.op_type == _CONSTANT:
            known.update(node.output)
        elif depends and shown.isdisjoint(node.output):
            known.update(node.output)
            large.update(node.output)
            chosen.append(index)
    return chosen


def _model_of(
    proto: onnx.ModelProto, nodes: Sequence[onnx.NodeProto], outputs: Sequence[str]
) -> onnx.ModelProto:
    read = {name for node in nodes for name in node.input}
    graph = proto.graph
    constants = [n for n in graph.node if n.op_type == _CONSTANT and not read.isdisjoint(n.output)]
    once = onnx.ModelProto(ir_version=proto.ir_version, opset_import=proto.opset_import)
    once.functions.extend(proto.functions)
    part = once.graph
    part.name = graph.name or "graph"
    part.node.extend([*constants, *nodes])
    part.initializer.extend(tensor for tensor in graph.initializer if tensor.name in read)
    part.input.extend(value for value in graph.input if value.name in read)
    part.output.extend(onnx.ValueInfoProto(name=name) for name in outputs)
    return once
