"""Writing a :class:`Graph` as a model.

Enters: a graph with its source.  Leaves: a model at the opset and IR version of the graph, with
the source's inputs and outputs (names, order, types, dim names), metadata, doc strings, functions
and opset imports.  Nodes that are as they were read are copied from the source; others are
lowered.  Unused initializers are dropped unless a caller may override them.  Before IR version 4
every initializer is an input too, so there new constants become Constant nodes.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

import onnx
from onnx import helper

from tensat_dl.graph.constants import (
    fill_tensor,
    initializer_map,
    sparse_map,
    tensor_of_constant,
)
from tensat_dl.graph.copies import copy_fields, copy_tensor
from tensat_dl.graph.interface import with_fixed_dims
from tensat_dl.graph.model import Constant, Graph
from tensat_dl.graph.source import Source, opset_imports
from tensat_dl.graph.stored import Contents, note_content
from tensat_dl.graph.structure import initializer_names
from tensat_dl.graph.subgraphs import captured_by
from tensat_dl.graph.training import names_read_by_training
from tensat_dl.graph.writing.lowering import Lowering
from tensat_dl.graph.writing.naming import name_values
from tensat_dl.vocabulary.protos import proto_of

if TYPE_CHECKING:
    import onnx_ir

#: From this IR version on, initializers need not be inputs.
FREE_INITIALIZERS = 4


def build_model(graph: Graph) -> onnx_ir.Model:
    """The model as `onnx_ir` has it; external data stays where it is."""
    import onnx_ir
    from onnx_ir import external_data

    model = onnx_ir.from_proto(_densified(build_proto(graph)))
    folder = graph.source.folder
    if folder is not None:
        external_data.set_base_dir(model.graph, folder)
    return model


def build_source(graph: Graph) -> Source:
    """The model with the place of its external data, for running and saving."""
    writer = _Writer(graph)
    proto = writer.model()
    contents = Contents(proto, writer.data)
    return Source(proto, folder=graph.source.folder, contents=contents)


def build_proto(graph: Graph) -> onnx.ModelProto:
    """The model as protobuf."""
    return _Writer(graph).model()


class _Writer:
    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.source: Source = graph.source
        self.proto = self.source.proto
        self.naming = name_values(graph)
        self.names = self.naming.names
        self.lowering = Lowering(graph, self.naming)
        self.initializers = initializer_map(self.proto.graph)
        self.sparse = sparse_map(self.proto.graph)
        self.target = onnx.ModelProto()
        self.data: dict[str, bytes] = {}

    def model(self) -> onnx.ModelProto:
        copy_fields(self.proto, self.target, skip=("graph", "opset_import", "ir_version"))
        self._write_opsets()
        graph = self.target.graph
        kept = ("name", "doc_string", "metadata_props")
        fields = {field.name for field, _ in self.proto.graph.ListFields()}
        copy_fields(self.proto.graph, graph, skip=fields - set(kept))
        graph.name = graph.name or "graph"
        nodes = self._nodes()
        self._write_constants(nodes)
        self._write_inputs()
        graph.node.extend(nodes)
        self._write_outputs()
        self._write_annotations()
        return self.target

    def _nodes(self) -> list[onnx.NodeProto]:
        nodes = [self.lowering.lower(node) for node in self.graph.nodes]
        copies = self.naming.copies
        return nodes + [self.lowering.identity(self.names[value], name) for value, name in copies]

    def _write_opsets(self) -> None:
        before = opset_imports(self.proto)
        wanted = self.graph.opsets
        if before == dict(wanted):
            self.target.opset_import.extend(self.proto.opset_import)
            self.target.ir_version = self.proto.ir_version
            return
        for domain, version in {**before, **wanted}.items():
            self.target.opset_import.append(helper.make_opsetid(domain, version))
        least = helper.find_min_ir_version_for(list(self.target.opset_import), True)
        self.target.ir_version = max(self.proto.ir_version, least)

    def _write_constants(self, nodes: Sequence[onnx.NodeProto]) -> None:
        """Initializers in the order of the source, new ones after them.

        A constant that an attribute became is not read by a node that is copied.
        """
        read = {name for node in nodes for name in (*node.input, *captured_by(node))}
        read |= {output.name for output in self.graph.outputs}
        order = {name: position for position, name in enumerate(self.initializers)}
        used = [value for value in self.graph.constants if self.names[value] in read]
        used.sort(key=lambda n: order.get(self.graph.constants[n].source_name or "", len(order)))
        for name in used:
            self._write_constant(name)
        self._keep_initializers((*self.graph.inputs, *names_read_by_training(self.proto)))

    def _keep_initializers(self, names: Iterable[str]) -> None:
        """Those that are not constants, or are named elsewhere than in nodes, as they were."""
        graph = self.target.graph
        written = set(initializer_names(graph))
        for name in dict.fromkeys(name for name in names if name not in written):
            if name in self.initializers:
                copy_tensor(self.initializers[name], graph.initializer.add())
            elif name in self.sparse:
                graph.sparse_initializer.add().CopyFrom(self.sparse[name])

    def _write_constant(self, known: str) -> None:
        constant = self.graph.constants[known]
        name, old = self.names[known], constant.source_name or ""
        graph = self.target.graph
        if old in self.sparse:
            sparse = graph.sparse_initializer.add()
            sparse.CopyFrom(self.sparse[old])
            sparse.values.name = name
        elif old in self.initializers and (old == name or self._may_rename()):
            tensor = graph.initializer.add()
            copy_tensor(self.initializers[old], tensor)
            tensor.name = name
            if (raw := self.source.known_data.get(old)) is not None:
                self.data[name] = raw
        elif self._may_rename():
            self._fill(graph.initializer.add(), constant, name)
        else:
            node = graph.node.add(op_type="Constant", output=[name])
            value = node.attribute.add(name="value", type=onnx.AttributeProto.TENSOR)
            self._fill(value.t, constant, name)

    def _fill(self, tensor: onnx.TensorProto, constant: Constant, name: str) -> None:
        fill_tensor(tensor, constant, name)
        note_content(self.data, name, constant.load)

    def _may_rename(self) -> bool:
        return self.target.ir_version >= FREE_INITIALIZERS

    def _write_inputs(self) -> None:
        """The source's inputs in order, without constants that are gone; then, for parts of a
        graph, inputs that the source does not have."""
        graph = self.target.graph
        written = set(initializer_names(graph))
        kept = {
            value.name: value
            for value in self.proto.graph.input
            if value.name in self.graph.inputs or self._is_listed(value.name, written)
        }
        for value in kept.values():
            graph.input.add().CopyFrom(with_fixed_dims(value, self.source.dims))
        for name in self.graph.inputs:
            if name not in kept and name not in written:
                graph.input.add(name=name, type=proto_of(self.graph.types[name]))

    def _is_listed(self, name: str, written: set[str]) -> bool:
        """A constant that must stand among the inputs."""
        return self.target.ir_version < FREE_INITIALIZERS and name in written

    def _write_outputs(self) -> None:
        declared = {value.name: value for value in self.proto.graph.output}
        for output in self.graph.outputs:
            if output.name in declared:
                value = with_fixed_dims(declared[output.name], self.source.dims)
                self.target.graph.output.add().CopyFrom(value)
            else:
                proto = proto_of(self.graph.types[output.value])
                self.target.graph.output.add(name=output.name, type=proto)

    def _write_annotations(self) -> None:
        """Declared types of values that are made as before, and quantisation annotations with the
        initializers that they name."""
        graph = self.target.graph
        for info in self.proto.graph.value_info:
            if info.name in self.lowering.unchanged:
                graph.value_info.add().CopyFrom(with_fixed_dims(info, self.source.dims))
        known = set(self.names.values())
        for annotation in self.proto.graph.quantization_annotation:
            if annotation.tensor_name in known:
                graph.quantization_annotation.add().CopyFrom(annotation)
                self._keep_initializers(e.value for e in annotation.quant_parameter_tensor_names)


def _densified(proto: onnx.ModelProto) -> onnx.ModelProto:
    """`onnx_ir` has no sparse initializers: make them dense."""
    if not proto.graph.sparse_initializer:
        return proto
    from tensat_dl.graph.constants import constant_of_sparse

    for sparse in proto.graph.sparse_initializer:
        dense = constant_of_sparse(sparse)
        proto.graph.initializer.append(tensor_of_constant(dense, sparse.values.name))
    del proto.graph.sparse_initializer[:]
    return proto
