"""One node of the model as a node of the vocabulary, with the types of its outputs.

Enters: a NodeProto and what is known of the values it reads.  Leaves: the lifted node, None where
no adapter knows it, or the reason why it has no type as lifted.  `opaque` carries a node along.
"""

from __future__ import annotations

from collections.abc import MutableMapping
from dataclasses import dataclass, field
from pathlib import Path

import onnx

from tensat_dl.graph.attributes import read_attributes
from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.model import Constant, Node
from tensat_dl.graph.names import Names
from tensat_dl.graph.source import opset_imports, plain_domain
from tensat_dl.graph.stored import Array
from tensat_dl.graph.structure import describe_node, read_names
from tensat_dl.graph.subgraphs import captured_by
from tensat_dl.vocabulary import adapters, catalog
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.infer import infer
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.types import ABSENT, UNDECLARED, Type, TypeFault
from tensat_dl.vocabulary.versions.form import Form

#: A node with the types of its outputs.
TypedNode = tuple[Node, tuple[Type, ...]]


@dataclass
class Lifter:
    """Lifts the nodes of one model, in topological order.  `constants` and `types` are what is
    known so far; constants that adapters need (attributes that became inputs) are added."""

    proto: onnx.ModelProto
    names: Names
    constants: MutableMapping[str, Constant]
    types: MutableMapping[str, Type]
    folder: Path | None = None
    opsets: dict[str, int] = field(init=False)
    read: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        self.opsets = opset_imports(self.proto)
        self.read = read_names(self.proto.graph)

    def lift(self, proto: onnx.NodeProto, index: int) -> TypedNode | str | None:
        """The node in the vocabulary; a string says why it has no type there."""
        domain = plain_domain(proto.domain)
        made: list[str] = []
        outputs = self._used_outputs(proto)
        form = Form(
            proto.op_type,
            read_attributes(proto),
            tuple(name or None for name in proto.input),
            tuple(self.types[name] if name else ABSENT for name in proto.input),
            len(outputs),
            self._content,
            lambda array: self._add_constant(proto, array, made),
        )
        lifted = adapters.lift(form, domain, self.opsets.get(domain, 1))
        if lifted is None:
            self._forget(made)
            return None
        types = tuple(ABSENT if name is None else self.types[name] for name in lifted.inputs)
        attributes = canonical_attributes(lifted.operator, lifted.attributes, types)
        found = infer(lifted.operator, attributes, types, len(outputs), outputs[0])
        if isinstance(found, TypeFault):
            self._forget(made)
            return self._reason(found, types, proto, index)
        node = Node(lifted.operator, attributes, lifted.inputs, outputs, proto.name, index)
        return node, found

    def opaque(self, proto: onnx.NodeProto, index: int) -> Node:
        """The node as one that is only carried along."""
        domain = plain_domain(proto.domain)
        inputs = tuple(name or None for name in proto.input)
        return Node(
            catalog.opaque(domain, proto.op_type, self.opsets.get(domain, 1)),
            Attributes.of(read_attributes(proto)),
            (*inputs, *captured_by(proto)),
            self._outputs(proto),
            proto.name,
            index,
        )

    def _add_constant(self, proto: onnx.NodeProto, array: Array, made: list[str]) -> str:
        name = self.names.fresh(f"{next(filter(None, proto.output))}_{proto.op_type}_constant")
        constant = constant_of_array(array)
        self.constants[name] = constant
        self.types[name] = constant.type
        made.append(name)
        return name

    def _forget(self, made: list[str]) -> None:
        for name in made:
            del self.constants[name], self.types[name]

    def _content(self, name: str) -> Array | None:
        constant = self.constants.get(name)
        return None if constant is None else constant.load()

    def _reason(
        self, fault: TypeFault, types: tuple[Type, ...], proto: onnx.NodeProto, index: int
    ) -> str | None:
        """No reproach where the type of an input is not known."""
        if UNDECLARED in types:
            return None
        return f"{describe_node(proto, index)} is left as it is: {fault.reason}"

    def _used_outputs(self, proto: onnx.NodeProto) -> tuple[str, ...]:
        """Without optional ones at the end that nothing reads."""
        operator = catalog.operator(proto.op_type, plain_domain(proto.domain))
        count = len(proto.output)
        while operator and proto.output[count - 1] not in self.read and _may_cut(operator, count):
            count -= 1
        return self._outputs(proto)[:count]

    def _outputs(self, proto: onnx.NodeProto) -> tuple[str, ...]:
        """Unused outputs get a name too."""
        return tuple(name or self.names.fresh(f"{proto.op_type}_unused") for name in proto.output)


def _may_cut(operator: Operator, count: int) -> bool:
    """The last of `count` outputs is optional."""
    formals = operator.outputs
    if count < 2 or count > len(formals):
        return False
    return formals[count - 1].optional and not formals[count - 1].variadic
