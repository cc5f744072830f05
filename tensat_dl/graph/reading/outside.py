"""A subgraph of control flow as a model of its own, and back in its place.

Enters: a subgraph and what is known outside of it.  Leaves: a model that computes what it does;
what it captures are inputs, or constants where they are known.  And from that model as it was
written again, a subgraph with the interface of the first, whose new names are nobody else's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import onnx

from tensat_dl.graph.constants import tensor_of_constant
from tensat_dl.graph.model import Constant
from tensat_dl.graph.names import Names, subgraphs, value_names
from tensat_dl.graph.source import Source
from tensat_dl.graph.subgraphs import captured
from tensat_dl.vocabulary.protos import proto_of
from tensat_dl.vocabulary.types import Type

#: From this IR version on, initializers need not be inputs.
_FREE_INITIALIZERS = 4


@dataclass(frozen=True)
class Outside:
    """What is known where a subgraph stands: `whole` is the model around it, `names` gives new
    names."""

    whole: Source
    types: Mapping[str, Type]
    constants: Mapping[str, Constant]
    names: Names

    def model_of(
        self, body: onnx.GraphProto, is_shown: Callable[[str, Constant], bool]
    ) -> Source | None:
        """The body as a model, its own inputs and outputs as they are declared; None where that
        cannot be said.  `is_shown`: whether it may know a constant that it captures."""
        model = onnx.ModelProto(ir_version=max(self.whole.proto.ir_version, _FREE_INITIALIZERS))
        model.opset_import.extend(self.whole.proto.opset_import)
        model.functions.extend(self.whole.proto.functions)
        model.graph.CopyFrom(body)
        for name in captured(body):
            constant = self.constants.get(name)
            type_ = proto_of(self.types[name])
            if constant is not None and is_shown(name, constant):
                model.graph.initializer.append(tensor_of_constant(constant, name))
            elif type_ is None:
                return None
            else:
                model.graph.input.add(name=name, type=type_)
        return Source(model, folder=self.whole.folder, doubted=self.whole.doubted)

    def taken_back(self, written: onnx.GraphProto, body: onnx.GraphProto) -> onnx.GraphProto:
        """What the body's model became, as a subgraph in the body's place; changes `written`."""
        outside = set(captured(body))
        inner = [tensor for tensor in written.initializer if tensor.name not in outside]
        del written.input[:], written.initializer[:], written.output[:]
        written.input.extend(body.input)
        written.output.extend(body.output)
        written.initializer.extend(inner)
        made = dict.fromkeys(value_names(written)).keys() - set(value_names(body))
        new = {name: self.names.fresh(name) for name in sorted(made) if name}
        _rename(written, {old: name for old, name in new.items() if old != name})
        return written


def _rename(graph: onnx.GraphProto, new: Mapping[str, str]) -> None:
    """Change names in place wherever they stand, at any depth."""
    if not new:
        return
    tensors = [*graph.initializer, *(sparse.values for sparse in graph.sparse_initializer)]
    for named in (*graph.input, *graph.output, *graph.value_info, *tensors):
        named.name = new.get(named.name, named.name)
    for annotation in graph.quantization_annotation:
        annotation.tensor_name = new.get(annotation.tensor_name, annotation.tensor_name)
        for entry in annotation.quant_parameter_tensor_names:
            entry.value = new.get(entry.value, entry.value)
    for node in graph.node:
        for names in (node.input, node.output):
            names[:] = [new.get(name, name) for name in names]
        for inner in subgraphs(node):
            _rename(inner, new)
