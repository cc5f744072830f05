"""What `onnx.checker` says of a model, without looking at large tensors.

Enters: a model.  Leaves: its complaint in one line, or "".  Large initializers, and those whose
data is elsewhere, are shown to the checker as inputs of the same type, so that nothing large is
copied and no file is looked for.
"""

from __future__ import annotations

import onnx
from onnx import helper

from tensat_dl.graph.copies import copy_fields
from tensat_dl.graph.external import is_external
from tensat_dl.graph.tensors import inside_bytes

#: Larger tensors are not shown to the checker.
_SHOWN_BYTES = 1 << 16


def checker_complaint(proto: onnx.ModelProto) -> str:
    """Why `onnx.checker` refuses the model; "" where it accepts it."""
    try:
        onnx.checker.check_model(_without_large_tensors(proto))
    except (onnx.checker.ValidationError, RuntimeError, ValueError) as error:
        return "; ".join(line.strip() for line in str(error).splitlines() if line.strip())
    return ""


def _without_large_tensors(proto: onnx.ModelProto) -> onnx.ModelProto:
    light = onnx.ModelProto()
    copy_fields(proto, light, skip=("graph",))
    copy_fields(proto.graph, light.graph, skip=("initializer",))
    listed = {value.name for value in proto.graph.input}
    for tensor in proto.graph.initializer:
        if not is_external(tensor) and inside_bytes(tensor) <= _SHOWN_BYTES:
            light.graph.initializer.add().CopyFrom(tensor)
        elif tensor.name not in listed:
            value = helper.make_tensor_value_info(tensor.name, tensor.data_type, tensor.dims)
            light.graph.input.append(value)
    return light
