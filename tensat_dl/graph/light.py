"""A model without its large tensors: what is left is quick to copy, to serialise and to load.

Enters: a model, and which of its tensors are to go.  Leaves: a :class:`Light`.  Constants that
nodes make are weights, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import onnx
from onnx import TensorProto, helper

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.external import is_external
from tensat_dl.graph.source import plain_domain
from tensat_dl.graph.tensors import inside_bytes

#: Larger tensors do not matter to who looks at a model's structure.
_SHOWN_BYTES = 1 << 16


@dataclass(frozen=True)
class Light:
    """`proto`: the model without the tensors `moved`, which are still those of the model, by
    name."""

    proto: onnx.ModelProto
    moved: Mapping[str, TensorProto]


def lighten(proto: onnx.ModelProto, goes: Callable[[str, TensorProto], bool]) -> Light:
    """The model without the initializers, and the nodes that make a tensor, for which `goes`; the
    model itself where there are none."""
    graph = proto.graph
    last = dict(_named_tensors(graph))  # of a name that is defined twice the last counts
    moved = {name: tensor for name, tensor in last.items() if name and goes(name, tensor)}
    if not moved:
        return Light(proto, moved)
    light = copy_model(proto, skip=("initializer", "node"))
    light.graph.initializer.extend(t for t in graph.initializer if t.name not in moved)
    light.graph.node.extend(n for n in graph.node if _constant(n) not in moved)
    return Light(light, moved)


def with_weights_as_inputs(proto: onnx.ModelProto) -> onnx.ModelProto:
    """The model with large initializers, those whose data is elsewhere, and large constants as
    inputs: nothing large is copied, and no file is looked for."""
    return with_inputs(lighten(proto, lambda _, tensor: _is_hidden(tensor)))


def with_inputs(light: Light) -> onnx.ModelProto:
    """The model with an input of the same type for each tensor that is gone."""
    proto = light.proto
    listed = {value.name for value in proto.graph.input}
    missing = [name for name in light.moved if name not in listed]
    if not missing:
        return proto
    fed = copy_model(proto)
    for name in missing:
        tensor = light.moved[name]
        value = helper.make_tensor_value_info(name, tensor.data_type, tensor.dims)
        fed.graph.input.append(value)
    return fed


def _is_hidden(tensor: TensorProto) -> bool:
    return is_external(tensor) or inside_bytes(tensor) > _SHOWN_BYTES


def _named_tensors(graph: onnx.GraphProto) -> Iterator[tuple[str, TensorProto]]:
    for tensor in graph.initializer:
        yield tensor.name, tensor
    for node in graph.node:
        if name := _constant(node):
            yield name, next(each.t for each in node.attribute if each.name == "value")


def _constant(node: onnx.NodeProto) -> str:
    """The name of the tensor that a Constant node makes; "" for other nodes."""
    if node.op_type != "Constant" or plain_domain(node.domain):
        return ""
    return node.output[0] if any(each.name == "value" for each in node.attribute) else ""
