"""Declared inputs and outputs: names for their dims, and dims that the user fixed.

Enters: a declaration as the model has it.  Leaves: its type with a name for each dim; the
declaration as it is written.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx

#: No names: two dims that are called so need not be equal.
_UNKNOWN = frozenset(("", "None", "none", "unknown", "-1", "*"))


def named_dims(value: onnx.ValueInfoProto) -> onnx.TypeProto:
    """The input's type with a name for every dim that is not a number: `INPUT.AXIS` where the
    model gives none, or what some exporters write for any unknown dim."""
    proto = onnx.TypeProto()
    proto.CopyFrom(value.type)
    for axis, dim in enumerate(tensor_dims(proto)):
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            continue
        name = dim.dim_param.strip()
        known = name not in _UNKNOWN and not name.startswith("?")
        dim.dim_param = name if known else f"{value.name}.{axis}"
    return proto


def with_fixed_dims(value: onnx.ValueInfoProto, fixed: Mapping[str, int]) -> onnx.ValueInfoProto:
    """The declaration with numbers for the dims that the user fixed.

    What was optimised for them may not run at other sizes, so the interface must say so.
    """
    if not fixed:
        return value
    result = onnx.ValueInfoProto()
    result.CopyFrom(value)
    names = tensor_dims(named_dims(value))
    for dim, named in zip(tensor_dims(result.type), names, strict=True):
        if named.dim_param in fixed:
            dim.dim_value = fixed[named.dim_param]
    return result


def element_code(proto: onnx.TypeProto) -> int:
    """The code of the element type of a tensor, or of the tensors in something else; 0 where it is
    not known."""
    match proto.WhichOneof("value"):
        case "sequence_type":
            return element_code(proto.sequence_type.elem_type)
        case "optional_type":
            return element_code(proto.optional_type.elem_type)
        case "map_type":
            return element_code(proto.map_type.value_type)
    return int(proto.tensor_type.elem_type)


def tensor_dims(proto: onnx.TypeProto) -> list[onnx.TensorShapeProto.Dimension]:
    """The dims of a tensor type; none where there is no shape, or no tensor."""
    if not proto.HasField("tensor_type") or not proto.tensor_type.HasField("shape"):
        return []
    return list(proto.tensor_type.shape.dim)
