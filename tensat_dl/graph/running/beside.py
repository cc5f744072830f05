"""Large weights beside a model instead of inside it, for a session of onnxruntime.

Enters: a model in memory.  Leaves: the model without its large weights, and their data as arrays.
A model that is handed over as bytes is copied three times: into these, out of them, and into
tensors.
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
from tensat_dl.graph.light import Light, lighten, with_inputs
from tensat_dl.graph.stored import LARGE
from tensat_dl.graph.tensors import inside_bytes

#: Element types of which numpy has the same bytes as onnxruntime.
_TYPES = frozenset((TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16, TensorProto.INT8))

#: From this version on callers may override initializers that are listed as inputs.
_OVERRIDABLE = 4


@dataclass(frozen=True)
class Divided:
    """A model without its large weights, and their data by name."""

    light: Light
    weights: Mapping[str, NDArray[Any]]

    def fed(self) -> onnx.ModelProto:
        """The model with the weights as inputs, which are to be fed: nothing is copied."""
        return with_inputs(self.light)

    def outside(self, options: Any) -> onnx.ModelProto:
        """The model with the weights as data elsewhere, which the options of its session have; the
        arrays must outlive it.  onnxruntime copies them once."""
        from onnxruntime import OrtValue

        values = [OrtValue.ortvalue_from_numpy(array) for array in self.weights.values()]
        options.add_external_initializers(list(self.weights), values)
        proto = copy_model(self.light.proto)
        for name, tensor in self.light.moved.items():
            _describe(proto.graph.initializer.add(), name, tensor, self.weights[name].nbytes)
        return proto


def divide(proto: onnx.ModelProto, known: Mapping[str, bytes] | None = None) -> Divided | None:
    """The model and its large weights; None where it has none.  What shape inference looks at is
    smaller, and stays inside.  `known`: the data of those of which it was read before, by name."""
    graph = proto.graph
    kept = {value.name for value in graph.output}
    if proto.ir_version >= _OVERRIDABLE:
        kept.update(value.name for value in graph.input)
    light = lighten(proto, lambda name, tensor: name not in kept and _is_movable(tensor))
    if not light.moved:
        return None
    data = known or {}
    weights = {name: _data(tensor, data.get(name)) for name, tensor in light.moved.items()}
    return Divided(light, weights)


def _is_movable(tensor: TensorProto) -> bool:
    inside = tensor.data_type in _TYPES and not is_external(tensor)
    return inside and inside_bytes(tensor) >= LARGE and tensor.HasField("raw_data")


def _data(tensor: TensorProto, known: bytes | None) -> NDArray[Any]:
    raw = tensor.raw_data if known is None else known  # to look at it is to copy it
    numpy_type = tensor_dtype_to_np_dtype(tensor.data_type)
    return np.frombuffer(raw, numpy_type).reshape(tuple(tensor.dims))


def _describe(place: TensorProto, name: str, tensor: TensorProto, length: int) -> None:
    """Make an empty tensor one of the same type whose data is elsewhere."""
    place.name, place.data_type = name, tensor.data_type
    place.dims.extend(tensor.dims)
    place.data_location = TensorProto.EXTERNAL
    for key, value in (("location", name), ("offset", "0"), ("length", str(length))):
        place.external_data.add(key=key, value=value)
