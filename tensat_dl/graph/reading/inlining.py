"""A conditional whose condition is known: the nodes of the branch that it takes.

Enters: an `If` node, the branch, and the names that are visible outside.  Leaves: the branch's
nodes and initializers with names of their own.  What the branch gives has the names of what the
`If` gave; where the branch gives something that has another name already (an outer value, an
initializer, one value twice), an Identity does.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import onnx
from onnx import helper

from tensat_dl.graph.names import Names, subgraphs
from tensat_dl.graph.structure import initializer_names, sorted_branch
from tensat_dl.graph.subgraphs import rename_captured, rename_inputs


@dataclass(frozen=True)
class Inlined:
    """`declared`: types that the branch declares for its values, under their new names."""

    nodes: tuple[onnx.NodeProto, ...]
    initializers: tuple[onnx.TensorProto, ...]
    sparse: tuple[onnx.SparseTensorProto, ...]
    declared: Mapping[str, onnx.TypeProto]


@dataclass
class Inliner:
    """`names` gives new names; `visible` are those of values outside of all subgraphs."""

    names: Names
    visible: set[str]
    _new: dict[str, str] = field(default_factory=dict, init=False)

    def inline(self, node: onnx.NodeProto, branch: onnx.GraphProto) -> Inlined:
        """The branch in place of the node."""
        self._new = self._new_names(node, branch)
        order = sorted_branch(branch)
        nodes = [self._renamed(branch.node[index]) for index in order]
        nodes += self._identities(node, branch)
        return Inlined(
            tuple(nodes),
            tuple(map(self._renamed_tensor, branch.initializer)),
            tuple(map(self._renamed_sparse, branch.sparse_initializer)),
            {
                self._new[value.name]: value.type
                for value in branch.value_info
                if value.name in self._new
            },
        )

    def _new_names(self, node: onnx.NodeProto, branch: onnx.GraphProto) -> dict[str, str]:
        made = {name for inner in branch.node for name in inner.output if name}
        new: dict[str, str] = {}
        for value, name in zip(branch.output, node.output, strict=False):
            if value.name in made and name:
                new.setdefault(value.name, name)
        for name in (*initializer_names(branch), *sorted(made)):
            if name not in new:
                new[name] = self._unique(name)
        return new

    def _unique(self, name: str) -> str:
        """A name keeps itself unless it is taken outside: other branches may use it as well."""
        unique = self.names.fresh(name) if name in self.visible else name
        self.visible.add(unique)
        return unique

    def _identities(
        self, node: onnx.NodeProto, branch: onnx.GraphProto
    ) -> Iterator[onnx.NodeProto]:
        for value, name in zip(branch.output, node.output, strict=False):
            source = self._new.get(value.name, value.name)
            if name and source != name:
                yield helper.make_node("Identity", [source], [name])

    def _renamed(self, original: onnx.NodeProto) -> onnx.NodeProto:
        node = onnx.NodeProto()
        node.CopyFrom(original)
        rename_inputs(node, self._new)
        for index, name in enumerate(node.output):
            node.output[index] = self._new.get(name, name)
        for subgraph in subgraphs(node):
            rename_captured(subgraph, self._new)
        return node

    def _renamed_tensor(self, original: onnx.TensorProto) -> onnx.TensorProto:
        tensor = onnx.TensorProto()
        tensor.CopyFrom(original)
        tensor.name = self._new[original.name]
        return tensor

    def _renamed_sparse(self, original: onnx.SparseTensorProto) -> onnx.SparseTensorProto:
        tensor = onnx.SparseTensorProto()
        tensor.CopyFrom(original)
        tensor.values.name = self._new[original.values.name]
        return tensor


def is_conditional(node: onnx.NodeProto) -> bool:
    """An `If` of ONNX's own."""
    return node.op_type == "If" and node.domain in ("", "ai.onnx")


def branch_of(node: onnx.NodeProto, condition: bool) -> onnx.GraphProto:
    """The branch that an `If` takes."""
    name = "then_branch" if condition else "else_branch"
    branch: onnx.GraphProto = next(a.g for a in node.attribute if a.name == name)
    return branch
