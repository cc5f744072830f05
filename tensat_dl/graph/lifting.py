"""One node of the model as nodes of the vocabulary, with their types.

Enters: a NodeProto and what is known of the values it reads.  Leaves: the lifted nodes, or None
for what no adapter knows, or why the node has no type as lifted.  `opaque` carries a node along.
"""

from __future__ import annotations

from collections.abc import Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tensat_dl.graph.attributes import read_attributes
from tensat_dl.graph.constants import constant_of_array, constant_of_tensor, constant_type
from tensat_dl.graph.model import Constant, Node
from tensat_dl.graph.names import Names
from tensat_dl.graph.source import plain_domain
from tensat_dl.graph.structure import describe_node
from tensat_dl.graph.subgraphs import captured_by
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import ABSENT, Type, TypeFault

#: A node with the types of its outputs.
TypedNode = tuple[Node, tuple[Type, ...]]


@dataclass(frozen=True)
class Lifter:
    """Lifts the nodes of one model, in topological order."""

    opsets: Mapping[str, int]
    names: Names
    constants: MutableMapping[str, Constant]
    types: MutableMapping[str, Type]
    read: frozenset[str]

    def lift(self, proto: onnx.NodeProto, index: int) -> list[TypedNode] | str | None:
        domain = plain_domain(proto.domain)
        version = self.opsets.get(domain, 1)
        op = catalog.operator(proto.op_type, domain)
        schema = catalog.schema_at(domain, proto.op_type, version)
        if op is None or schema is None or schema.since_version != op.since:
            return None
        inputs = _padded([name or None for name in proto.input], op)
        outputs = self._used_outputs(proto, op)
        types = tuple(ABSENT if name is None else self.types[name] for name in inputs)
        attributes = canonical_attributes(op, read_attributes(proto), types)
        found = infer(op, attributes, types, len(outputs), outputs[0])
        if isinstance(found, TypeFault):
            return f"{describe_node(proto, index)} is left as it is: {found.reason}"
        return [(Node(op, attributes, inputs, outputs, proto.name, index), found)]

    def opaque(self, proto: onnx.NodeProto, index: int) -> Node:
        """The node as one that is only carried along."""
        domain = plain_domain(proto.domain)
        operator = catalog.opaque(domain, proto.op_type, self.opsets.get(domain, 1))
        inputs = tuple(name or None for name in proto.input)
        return Node(
            operator,
            Attributes.of(read_attributes(proto)),
            (*inputs, *captured_by(proto)),
            self._outputs(proto),
            proto.name,
            index,
        )

    def _used_outputs(self, proto: onnx.NodeProto, op: Operator) -> tuple[str, ...]:
        """Without optional ones at the end that nothing reads."""
        outputs = list(self._outputs(proto))
        while (
            len(outputs) > 1 and outputs[-1] not in self.read and _is_optional(op, len(outputs) - 1)
        ):
            outputs.pop()
        return tuple(outputs)

    def _outputs(self, proto: onnx.NodeProto) -> tuple[str, ...]:
        """Unused outputs get a name too."""
        return tuple(name or self.names.fresh(f"{proto.op_type}_unused") for name in proto.output)


def _is_optional(op: Operator, index: int) -> bool:
    formal = op.outputs[index] if index < len(op.outputs) else None
    return formal is not None and formal.optional and not formal.variadic


def _padded(inputs, op):
    if op.is_variadic:
        return tuple(inputs)
    return tuple(inputs) + (None,) * (len(op.inputs) - len(inputs))


def constant_node_value(proto: onnx.NodeProto, folder: Path | None) -> Constant | None:
    """The value of a Constant node; None for other nodes and for sparse values."""
    if proto.op_type != "Constant" or plain_domain(proto.domain):
        return None
    for attribute in proto.attribute:
        if attribute.name == "value":
            return constant_of_tensor(attribute.t, folder)
        if attribute.name in _CONSTANT_TYPES:
            value = onnx.helper.get_attribute_value(attribute)
            return constant_of_array(_array(value, _CONSTANT_TYPES[attribute.name]))
    return None


_CONSTANT_TYPES: Mapping[str, Any] = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
    "value_string": object,
    "value_strings": object,
}


def _array(value: Any, dtype: Any) -> Any:
    if dtype is not object:
        return np.array(value, dtype=dtype)
    items = value if isinstance(value, list) else [value]
    array = np.array([item.decode() for item in items], dtype=object)
    return array if isinstance(value, list) else array.reshape(())
