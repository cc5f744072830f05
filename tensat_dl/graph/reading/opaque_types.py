"""Types of what opaque nodes give: ONNX's own inference on the node alone, then declarations.

Enters: one node as it stands in the model, and the types of what it reads, captured values
included.  Leaves: one type for each output.  Where ONNX has no inference, `schema_types` says what
the operator's schema does, and `contrib_types` knows operators of onnxruntime's own.  Only here
are declared types believed: of `value_info` all, of graph outputs no more than element type and
rank.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import onnx
from onnx import shape_inference

from tensat_dl.graph.constants import tensor_of_constant
from tensat_dl.graph.model import Constant
from tensat_dl.graph.names import subgraphs
from tensat_dl.graph.reading.contrib_types import contrib_types
from tensat_dl.graph.reading.schema_types import types_by_schema
from tensat_dl.graph.source import opset_imports, plain_domain
from tensat_dl.graph.subgraphs import captured_by
from tensat_dl.vocabulary.dims import Dim, SymbolicDim, unknown
from tensat_dl.vocabulary.oracle import is_misinferred
from tensat_dl.vocabulary.protos import proto_of, type_of
from tensat_dl.vocabulary.refine import meet
from tensat_dl.vocabulary.types import UNDECLARED, TensorType, Type

#: Constants of at most this many bytes are shown to the inference: shapes, axes, trip counts.
_SHOWN_BYTES = 1024


#: What ONNX says of a model whose types it cannot infer.
_REFUSALS = (RuntimeError, onnx.checker.ValidationError, shape_inference.InferenceError)


@dataclass
class OpaqueTypes:
    """Knows one model: its opsets, functions and declarations.  `doubted`: what subgraphs declare
    is not believed either.  `believed`: values of which declarations may have said more than
    nodes do."""

    proto: onnx.ModelProto
    declared: Mapping[str, onnx.TypeProto]
    declared_outputs: Mapping[str, onnx.TypeProto]
    fixed: Mapping[str, Dim]
    doubted: bool = False
    believed: list[str] = field(default_factory=list)

    def infer(
        self, node: onnx.NodeProto, types: Mapping[str, Type], constants: Mapping[str, Constant]
    ) -> tuple[Type, ...]:
        """One type for each output of `node`; UNDECLARED where nothing is known."""
        found = self._inferred(node, types, constants)
        version = opset_imports(self.proto).get(plain_domain(node.domain), 1)
        found |= types_by_schema(node, version, types, found)
        found |= contrib_types(node, types)
        return tuple(self._with_declaration(name, found.get(name)) for name in node.output)

    def _with_declaration(self, name: str, inferred: Type | None) -> Type:
        declared = self._declaration(name)
        if declared is None:
            return inferred or UNDECLARED
        found = declared if inferred is None else meet(inferred, declared) or inferred
        if found != inferred:
            self.believed.append(name)
        return found

    def _declaration(self, name: str) -> Type | None:
        if name in self.declared:
            return type_of(self.declared[name], name, self.fixed)
        if name not in self.declared_outputs:
            return None
        shown = type_of(self.declared_outputs[name], name, self.fixed)
        if not isinstance(shown, TensorType) or shown.dims is None:
            return shown
        return TensorType(
            shown.dtype, tuple(unknown(f"{name}[{axis}]") for axis in range(len(shown.dims)))
        )

    def _inferred(
        self, node: onnx.NodeProto, types: Mapping[str, Type], constants: Mapping[str, Constant]
    ) -> dict[str, Type]:
        reads = dict.fromkeys([*filter(None, node.input), *captured_by(node)])
        protos = {name: proto_of(types[name]) for name in reads}
        if any(proto is None for proto in protos.values()):
            return {}
        model = self._model_of(node)
        for name, proto in protos.items():
            model.graph.input.add(name=name, type=proto)
            constant = constants.get(name)
            if constant is not None and constant.nbytes <= _SHOWN_BYTES:
                model.graph.initializer.append(tensor_of_constant(constant, name))
        try:
            result = shape_inference.infer_shapes(model, data_prop=True)
        except (*_REFUSALS, ValueError):  # the last tells of element types that are none
            return {}
        given = [types[name] for name in reads]
        symbols = _symbols(given)
        return {
            value.name: _type(value, symbols)
            for place, value in enumerate(result.graph.output)
            if value.type.WhichOneof("value") is not None
            and not is_misinferred(node.op_type, place, given)
        }

    def _model_of(self, node: onnx.NodeProto) -> onnx.ModelProto:
        model = onnx.ModelProto(ir_version=max(self.proto.ir_version, 4))
        model.opset_import.extend(self.proto.opset_import)
        model.functions.extend(self.proto.functions)
        model.graph.name = "node"
        model.graph.node.append(node)
        inner = list(subgraphs(model.graph.node[0]))
        if self.doubted:
            _forget_declared(inner, model.functions)
        elif inner:
            self.believed.extend(node.output)
        for name in filter(None, node.output):
            model.graph.output.add(name=name)
        return model


def _forget_declared(
    graphs: Sequence[onnx.GraphProto], functions: Iterable[onnx.FunctionProto] = ()
) -> None:
    """Take out what they declare of their values, but for the element types of interfaces."""
    bodies: list[onnx.GraphProto | onnx.FunctionProto] = [*graphs, *functions]
    for body in bodies:
        del body.value_info[:]
        _forget_declared([graph for node in body.node for graph in subgraphs(node)])
    for value in (value for graph in graphs for value in (*graph.input, *graph.output)):
        if value.type.HasField("tensor_type"):
            value.type.tensor_type.ClearField("shape")


def _symbols(types: Iterable[Type]) -> dict[str, Dim]:
    """Text -> dim of every symbolic dim in the types."""
    return {
        str(dim): dim
        for type_ in types
        if isinstance(type_, TensorType)
        for dim in type_.dims or ()
        if isinstance(dim, SymbolicDim)
    }


def _type(value: onnx.ValueInfoProto, symbols: Mapping[str, Dim]) -> Type:
    """Names of dims that the inference made up say nothing."""
    proto = onnx.TypeProto()
    proto.CopyFrom(value.type)
    for dim in proto.tensor_type.shape.dim if proto.HasField("tensor_type") else ():
        if dim.HasField("dim_param") and dim.dim_param not in symbols:
            dim.Clear()
    return type_of(proto, value.name, symbols)
