"""One node of a graph as nodes of the model's opset."""

from __future__ import annotations

from collections.abc import Sequence

import onnx
from onnx import helper

from tensat_dl.errors import TensatError
from tensat_dl.graph.attributes import write_attribute
from tensat_dl.graph.model import Graph, Node
from tensat_dl.graph.names import Names, node_names, subgraphs
from tensat_dl.graph.naming import Naming
from tensat_dl.graph.source import Source, opset_imports, plain_domain
from tensat_dl.graph.subgraphs import captured, captured_by, rename_captured
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import Type


class Lowering:
    """Lowers the nodes of one graph.  `unchanged`: names of the values that copied nodes make
    under the name they had in the source."""

    def __init__(self, graph: Graph, naming: Naming) -> None:
        self.graph = graph
        self.source: Source = graph.source
        self.naming = naming
        self.names = naming.names
        self.unchanged: set[str] = set()
        self.node_names = Names(node_names(self.source.proto.graph))
        self._given_names: set[str] = set()
        self.source_opsets = opset_imports(self.source.proto)
        self.read = {name for node in graph.nodes for name in node.inputs}
        self.read |= {output.value for output in graph.outputs}

    def lower(self, node: Node) -> list[onnx.NodeProto]:
        """The nodes that compute `node`'s outputs, the last one under its name."""
        index = self._source_index(node)
        if index is not None:
            return [self._copied(node, index)]
        if node.operator.kind is OperatorKind.OPAQUE:
            raise TensatError(
                f"the node '{node.name}' ({node.operator.qualified_name}) cannot be written: "
                "it is not one of the source's"
            )
        return self._lowered(node)

    def identity(self, value: str, name: str) -> onnx.NodeProto:
        """A copy of a value under another name."""
        return helper.make_node("Identity", [value], [name], self.node_names.fresh("Identity"))

    def _source_index(self, node: Node) -> int | None:
        """Index of the source node that may be copied for `node`."""
        index = node.index
        original = self.source.lifted.get(index)
        if original is None or not _same(node, original):
            return None
        domain = node.operator.domain
        if self.graph.opsets.get(domain) != self.source_opsets.get(domain):
            return None
        if node.operator.kind is OperatorKind.OPAQUE:
            return index
        proto = self.source.proto.graph.node[index]
        given = [name or None for name in proto.input]
        return index if _stripped(given) == _stripped(original.inputs) else None

    def _copied(self, node: Node, index: int) -> onnx.NodeProto:
        original = self.source.proto.graph.node[index]
        proto = onnx.NodeProto()
        proto.CopyFrom(original)
        proto.name = self._own_name(original.name)
        del proto.input[:]
        del proto.output[:]
        count = len(node.inputs) - len(captured_by(original))
        proto.input.extend(self._input_names(node.inputs[:count]))
        proto.output.extend(self._output_names(node, original))
        position = count
        for subgraph, old in zip(subgraphs(proto), subgraphs(original), strict=True):
            names = captured(old)
            new = node.inputs[position : position + len(names)]
            position += len(names)
            rename_captured(subgraph, {n: self.names[v] for n, v in zip(names, new, strict=True)})
        self.unchanged.update(set(proto.output) & set(original.output))
        return proto

    def _lowered(self, node: Node) -> list[onnx.NodeProto]:
        proto = onnx.NodeProto(op_type=node.operator.name, domain=node.operator.domain)
        proto.name = self._node_name(node)
        proto.input.extend(self._input_names(node.inputs))
        proto.output.extend(self._output_names(node, None))
        for name, value in node.attributes.items:
            formal = node.operator.attribute(name)
            proto.attribute.append(write_attribute(name, value, formal))
        return [proto]

    def _node_name(self, node: Node) -> str:
        own = self._own_name(node.name)
        return own or self.node_names.fresh(node.operator.name)

    def _own_name(self, name: str) -> str:
        """`name`, unless a node has it already: onnxruntime refuses names given twice."""
        if name in self._given_names:
            return self.node_names.fresh(name)
        self._given_names.update(filter(None, (name,)))
        return name

    def _input_names(self, inputs: Sequence[str | None]) -> list[str]:
        return ["" if name is None else self.names[name] for name in _stripped(inputs)]

    def _output_names(self, node: Node, original: onnx.NodeProto | None) -> list[str]:
        """Unused optional outputs are left out; so are those the source has no name for."""
        names = [self._output_name(node, index, original) for index in range(len(node.outputs))]
        while names and not names[-1]:
            names.pop()
        return names

    def _output_name(self, node: Node, index: int, original: onnx.NodeProto | None) -> str:
        value = node.outputs[index]
        if value in self.read:
            return self.names[value]
        if original is not None and index < len(original.output) and not original.output[index]:
            return ""
        formals = node.operator.outputs
        optional = index < len(formals) and formals[index].optional and not formals[index].variadic
        return "" if optional else self.names[value]


def _same(node: Node, original: Node) -> bool:
    return (node.operator, node.attributes) == (original.operator, original.attributes)


def _stripped(names: Sequence[str | None]) -> tuple[str | None, ...]:
    """Without absent ones at the end."""
    end = len(names)
    while end and names[end - 1] is None:
        end -= 1
    return tuple(names[:end])
