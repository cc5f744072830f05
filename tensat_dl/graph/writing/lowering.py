"""One node of a graph as a node of the model's opset.

Enters: a graph, which is to be written; its nodes one by one.  Leaves: a protobuf node of each.  A
node that is as it was read is copied from the source, with new names for what it reads; any
other one is lowered.  An opaque one can only be copied.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx
from onnx import helper

from tensat_dl.errors import TensatError, UsageError
from tensat_dl.graph.attributes import write_attribute
from tensat_dl.graph.model import Graph, Node
from tensat_dl.graph.names import Names, node_names, subgraphs
from tensat_dl.graph.opsets import means_the_same
from tensat_dl.graph.source import LiftedNode, Source, opset_imports, plain_domain
from tensat_dl.graph.stored import Array
from tensat_dl.graph.subgraphs import captured, captured_by, rename_captured
from tensat_dl.graph.writing.naming import Naming
from tensat_dl.vocabulary import adapters
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.refine import meet
from tensat_dl.vocabulary.types import Type
from tensat_dl.vocabulary.versions.form import Form


class Lowering:
    """Lowers the nodes of one graph.  `unchanged`: names of the values that copied nodes make
    under the name they had in the source."""

    def __init__(self, graph: Graph, naming: Naming) -> None:
        self.graph = graph
        self.source: Source = graph.source
        self.names = naming.names
        self.unchanged: set[str] = set()
        self.opsets = opset_imports(self.source.proto)
        self._node_names = Names(node_names(self.source.proto.graph))
        self._given_names: set[str] = set()
        self._identities = {
            node.output[0]: node
            for node in self.source.proto.graph.node
            if node.op_type == "Identity" and not plain_domain(node.domain)
        }
        self._read = {name for node in graph.nodes for name in node.inputs}
        self._read |= {output.value for output in graph.outputs}

    def lower(self, node: Node) -> onnx.NodeProto:
        """The node that computes `node`'s outputs.

        Raises TensatError where it has no equal in the model's opset.
        """
        original = self.source.lifted.get(node.index)
        if node.operator.kind is OperatorKind.OPAQUE:
            return self._copied_opaque(node, original)
        if original is not None and self._is_unchanged(node, original):
            return self._copied(node)
        return self._lowered(node)

    def identity(self, value: str, name: str) -> onnx.NodeProto:
        """A copy of a value under another name, as the source makes it where it does."""
        original = self._identities.get(name)
        if original is not None:
            proto = onnx.NodeProto()
            proto.CopyFrom(original)
            self._name_copy(proto)
            proto.input[:] = [value]
            return proto
        return helper.make_node("Identity", [value], [name], self._node_names.fresh("Identity"))

    # --- copying ------------------------------------------------------------------------------

    def _copied_opaque(self, node: Node, original: LiftedNode | None) -> onnx.NodeProto:
        if original is None or node.operator != original.node.operator:
            raise TensatError(
                f"the node '{node.name}' ({node.operator.qualified_name}) cannot be written: "
                "it is none of the source's"
            )
        proto = self.source.node(node.index)
        if not means_the_same(proto, self.opsets, self.graph.opsets):
            raise UsageError(
                f"the model's opset cannot be raised: {proto.op_type} changed its meaning, and "
                f"the node '{node.name}' is only carried along",
                help="leave `model.opset` out",
            )
        return self._copied(node)

    def _is_unchanged(self, node: Node, original: LiftedNode) -> bool:
        """Operator, attributes and opset are those of the source, what the source's node does
        not show among its inputs is too, and no input has another type."""
        before = original.node
        if (node.operator, node.attributes) != (before.operator, before.attributes):
            return False
        domain = node.operator.domain
        if self.graph.opsets.get(domain) != self.opsets.get(domain):
            return False
        shown = _stripped([n or None for n in self.source.node(node.index).input])
        count = len(shown)
        if before.inputs[:count] != shown or len(node.inputs) != len(before.inputs):
            return False
        if any(map(self._differs, node.inputs[count:], original.digests[count:])):
            return False
        return all(map(_agree, self._types(node), original.types))

    def _differs(self, name: str | None, digest: str | None) -> bool:
        constant = self.graph.constants.get(name or "")
        return (constant.digest if constant else None) != digest

    def _copied(self, node: Node) -> onnx.NodeProto:
        original = self.source.node(node.index)
        proto = onnx.NodeProto()
        proto.CopyFrom(original)
        self._name_copy(proto)
        count = len(node.inputs) - len(captured_by(original))
        shown = min(count, len(original.input))
        del proto.input[:], proto.output[:]
        # Absent ones at the end stay: a Loop must have two inputs, and both may be absent.
        proto.input.extend(self._input_names(node.inputs[:shown]))
        proto.output.extend(self._output_names(node, original))
        _rename_sharded(proto, original)
        self._rename_captured(proto, original, node.inputs[count:])
        self.unchanged.update(set(proto.output) & set(original.output))
        return proto

    def _rename_captured(
        self, proto: onnx.NodeProto, original: onnx.NodeProto, values: Sequence[str | None]
    ) -> None:
        position = 0
        for subgraph, before in zip(subgraphs(proto), subgraphs(original), strict=True):
            names = captured(before)
            new = values[position : position + len(names)]
            position += len(names)
            pairs = zip(names, new, strict=True)
            rename_captured(subgraph, {old: self.names[v] for old, v in pairs if v is not None})

    # --- lowering -----------------------------------------------------------------------------

    def _lowered(self, node: Node) -> onnx.NodeProto:
        operator = node.operator
        opset = self.graph.opsets.get(operator.domain, operator.since)
        form = Form(
            operator.name,
            node.attributes.as_dict(),
            node.inputs,
            self._types(node),
            len(node.outputs),
            self._content,
        )
        lowered = adapters.lower(operator, form, opset)
        if lowered is None:
            raise TensatError(
                f"{operator.qualified_name} with these attributes and inputs does not exist at "
                f"version {opset} of {operator.domain or 'ai.onnx'}"
            )
        proto = onnx.NodeProto(op_type=lowered.op_type, domain=lowered.domain)
        proto.name = self._own_name(node.name) or self._node_names.fresh(operator.name)
        proto.input.extend(self._input_names(_stripped(lowered.inputs)))
        proto.output.extend(self._output_names(node, None))
        self._add_attributes(proto, node, lowered.attributes)
        return proto

    def _add_attributes(
        self, proto: onnx.NodeProto, node: Node, attributes: Mapping[str, object]
    ) -> None:
        for name, value in sorted(attributes.items()):
            formal = node.operator.attribute(name)
            proto.attribute.append(write_attribute(name, value, formal))  # type: ignore[arg-type]

    def _content(self, name: str) -> Array | None:
        constant = self.graph.constants.get(name)
        return None if constant is None else constant.load()

    def _types(self, node: Node) -> tuple[Type, ...]:
        return tuple(map(self.graph.type_of, node.inputs))

    # --- names --------------------------------------------------------------------------------

    def _own_name(self, name: str) -> str:
        """`name`, unless a node has it already: onnxruntime refuses names given twice."""
        if name in self._given_names:
            return self._node_names.fresh(name)
        self._given_names.update(filter(None, (name,)))
        return name

    def _name_copy(self, proto: onnx.NodeProto) -> None:
        if (name := self._own_name(proto.name)) != proto.name:
            proto.name = name

    def _input_names(self, inputs: Sequence[str | None]) -> list[str]:
        return ["" if name is None else self.names[name] for name in inputs]

    def _output_names(self, node: Node, original: onnx.NodeProto | None) -> list[str]:
        """Unused optional outputs are left out; so are those an opaque node has no name for."""
        names = [self._output_name(node, index, original) for index in range(len(node.outputs))]
        while names and not names[-1]:
            names.pop()
        return names

    def _output_name(self, node: Node, index: int, original: onnx.NodeProto | None) -> str:
        value = node.outputs[index]
        if value in self._read:
            return self.names[value]
        if node.operator.kind is OperatorKind.OPAQUE:
            nameless = original is None or not original.output[index]
            return "" if nameless else self.names[value]
        formals = node.operator.outputs
        optional = index < len(formals) and formals[index].optional and not formals[index].variadic
        return "" if optional else self.names[value]


def _rename_sharded(proto: onnx.NodeProto, original: onnx.NodeProto) -> None:
    """How tensors are spread over devices is said by their names."""
    if not proto.device_configurations:
        return
    old, new = ((*node.input, *node.output) for node in (original, proto))
    names = dict(zip(old, new, strict=False))
    for configuration in proto.device_configurations:
        for spec in configuration.sharding_spec:
            spec.tensor_name = names.get(spec.tensor_name, spec.tensor_name)


def _agree(left: Type, right: Type) -> bool:
    return left == right or meet(left, right) is not None


def _stripped(names: Sequence[str | None]) -> tuple[str | None, ...]:
    """Without absent ones at the end."""
    end = len(names)
    while end and names[end - 1] is None:
        end -= 1
    return tuple(names[:end])
