"""A subgraph of control flow as a model of its own, and back in its place.

Enters: a subgraph and what is known outside of it.  Leaves: a model that computes what it does;
what it captures are inputs, or constants where they are known.  And from that model as it was
written again, a subgraph with the interface of the first, whose new names are nobody else's.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Mapping
from dataclasses import dataclass

import numpy as np
import onnx
from onnx import helper

from tensat_dl.graph.constants import constant_of_array, tensor_of_constant
from tensat_dl.graph.model import Constant
from tensat_dl.graph.names import Names, value_names
from tensat_dl.graph.source import Source
from tensat_dl.graph.stored import numpy_type
from tensat_dl.graph.subgraphs import captured, rename_everywhere
from tensat_dl.graph.writing.write import FREE_INITIALIZERS
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.protos import proto_of
from tensat_dl.vocabulary.types import TensorType, Type

#: The element types of what is computed of shapes.
_OF_SHAPES = (DType.I64, DType.I32, DType.BOOL)


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
        model = onnx.ModelProto(ir_version=max(self.whole.proto.ir_version, FREE_INITIALIZERS))
        model.opset_import.extend(self.whole.proto.opset_import)
        model.functions.extend(self.whole.proto.functions)
        model.graph.CopyFrom(body)
        for name in captured(body):
            constant = self.constants.get(name) or _known(self.types[name])
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
        rename_everywhere(written, {old: name for old, name in new.items() if old != name})
        if self.whole.proto.ir_version < FREE_INITIALIZERS:
            _make_nodes_of(written, {tensor.name for tensor in body.initializer})
        return written


def _known(type_: Type) -> Constant | None:
    """A value that follows from shapes, as a constant."""
    if not isinstance(type_, TensorType) or type_.value is None or type_.dims is None:
        return None
    numbers = [each for each in type_.value if isinstance(each, int | bool)]
    dims = [dim for dim in type_.dims if isinstance(dim, int)]
    complete = len(numbers) == len(type_.value) and len(dims) == len(type_.dims)
    if not complete or type_.dtype not in _OF_SHAPES:
        return None
    return constant_of_array(np.array(numbers, numpy_type(type_.dtype)).reshape(dims))


def _make_nodes_of(graph: onnx.GraphProto, kept: Container[str]) -> None:
    """Write initializers, but for those `kept`, as Constant nodes: older versions have them as
    inputs only."""
    made = [tensor for tensor in graph.initializer if tensor.name not in kept]
    nodes = [helper.make_node("Constant", [], [tensor.name], value=tensor) for tensor in made]
    nodes.extend(graph.node)
    rest = [tensor for tensor in graph.initializer if tensor.name in kept]
    del graph.node[:], graph.initializer[:]
    graph.node.extend(nodes)
    graph.initializer.extend(rest)
