"""Large weights beside a model instead of inside it, for a session of onnxruntime.

Enters: a model in memory.  Leaves: the model without the data of its large weights, and that data
as arrays.  A model that is handed over as bytes is copied three times: into these, out of
them, and into tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.external import is_external
from tensat_dl.graph.source import plain_domain
from tensat_dl.graph.tensors import inside_bytes

#: Smaller tensors stay inside, as what shape inference wants to see is.
_LARGE = 1 << 16

#: Element types of which numpy has the same bytes as onnxruntime.
_TYPES = frozenset((TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8))

#: From this version on callers may override initializers that are listed as inputs.
_OVERRIDABLE = 4


@dataclass(frozen=True)
class Divided:
    """A model and the data of its large weights, by name."""

    proto: onnx.ModelProto
    weights: Mapping[str, NDArray[Any]]

    def give(self, options: Any) -> None:
        """Hand the weights to the options of a session; they must outlive it."""
        from onnxruntime import OrtValue

        values = [OrtValue.ortvalue_from_numpy(array) for array in self.weights.values()]
        options.add_external_initializers(list(self.weights), values)


def divide(proto: onnx.ModelProto) -> Divided | None:
    """The model and its large weights; None where it has none.

    Constants that nodes make are weights, too.
    """
    graph = proto.graph
    kept = {value.name for value in graph.output}
    if proto.ir_version >= _OVERRIDABLE:
        kept.update(value.name for value in graph.input)
    constants = [_constant(node) for node in graph.node]
    tensors = [*((t.name, t) for t in graph.initializer), *filter(None, constants)]
    moved = {name: tensor for name, tensor in tensors if name not in kept and _is_movable(tensor)}
    if not moved:
        return None
    light = copy_model(proto, skip=("initializer", "node"))
    light.graph.initializer.extend(t for t in graph.initializer if t.name not in moved)
    nodes = zip(graph.node, constants, strict=True)
    light.graph.node.extend(n for n, found in nodes if found is None or found[0] not in moved)
    weights = {name: _moved(tensor, name, light.graph) for name, tensor in moved.items()}
    return Divided(light, weights)


def _constant(node: onnx.NodeProto) -> tuple[str, TensorProto] | None:
    """What a Constant node makes, and its name."""
    if node.op_type != "Constant" or plain_domain(node.domain):
        return None
    values = [attribute.t for attribute in node.attribute if attribute.name == "value"]
    return (node.output[0], values[0]) if values else None


def _is_movable(tensor: TensorProto) -> bool:
    inside = tensor.data_type in _TYPES and not is_external(tensor)
    return inside and inside_bytes(tensor) >= _LARGE and tensor.HasField("raw_data")


def _moved(tensor: TensorProto, name: str, graph: onnx.GraphProto) -> NDArray[Any]:
    """Describe the tensor in `graph`; its data is the result."""
    raw, dims = tensor.raw_data, tuple(tensor.dims)
    place = graph.initializer.add(name=name, data_type=tensor.data_type, dims=dims)
    place.data_location = TensorProto.EXTERNAL
    for key, value in (("location", name), ("offset", "0"), ("length", str(len(raw)))):
        place.external_data.add(key=key, value=value)
    return np.frombuffer(raw, tensor_dtype_to_np_dtype(tensor.data_type)).reshape(dims)
