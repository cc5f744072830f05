"""Types between ONNX's TypeProto and ours.

A dim without a name gets an unknown symbol, named by what the caller says the type belongs to.
Types that are no tensors are kept as text: `seq(f32[2, N])`, `optional(..)`, `map(i64, ..)`,
`sparse(f32[2])`; a tensor without a shape is `f32[...]` there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache

from onnx import TypeProto

from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.dims import Dim, SymbolicDim, symbol, unknown
from tensat_dl.vocabulary.types import UNDECLARED, AbsentType, OtherType, TensorType, Type


def type_of(
    proto: TypeProto,
    owner: str,
    names: Mapping[str, Dim] | None = None,
    *,
    ambiguous: bool = False,
) -> Type:
    """The type that `proto` says.

    `names` maps dim names to dims; other names are symbols.  Dims without a name are unknown,
    named by `owner` and their axis.
    """
    kind = proto.WhichOneof("value")
    if kind != "tensor_type":
        return OtherType(_text(proto)) if kind else UNDECLARED
    tensor = proto.tensor_type
    dtype = dtypes.from_onnx(tensor.elem_type)
    if dtype is None:
        return UNDECLARED
    if not tensor.HasField("shape"):
        return TensorType(dtype, None)
    found: list[Dim] = []
    for axis, dim in enumerate(tensor.shape.dim):
        if dim.HasField("dim_value") and dim.dim_value >= 0:
            found.append(dim.dim_value)
        elif dim.dim_param:
            found.append((names or {}).get(dim.dim_param) or symbol(dim.dim_param))
        else:
            found.append(unknown(f"{owner}[{axis}]", ambiguous=ambiguous))
    return TensorType(dtype, tuple(found))


@lru_cache(maxsize=4096)
def proto_of(type_: Type) -> TypeProto | None:
    """The TypeProto of a type, symbols by their text; None for one that ONNX cannot say.

    Shared between callers: not to be changed.
    """
    proto = TypeProto()
    match type_:
        case AbsentType():
            return None
        case OtherType(text):
            return proto if _parse(text.replace(" ", ""), proto) == "" else None
        case TensorType():
            fill_tensor(proto.tensor_type, type_)
    return proto


def fill_tensor(proto: TypeProto.Tensor, type_: TensorType) -> None:
    """Write element type and dims."""
    proto.elem_type = type_.dtype.onnx_code
    if type_.dims is None:
        return
    proto.shape.SetInParent()
    for dim in type_.dims:
        entry = proto.shape.dim.add()
        if isinstance(dim, SymbolicDim):
            entry.dim_param = str(dim)
        else:
            entry.dim_value = dim


def _text(proto: TypeProto) -> str:
    match proto.WhichOneof("value"):
        case "tensor_type":
            return _tensor_text(proto.tensor_type)
        case "sparse_tensor_type":
            return f"sparse({_tensor_text(proto.sparse_tensor_type)})"
        case "sequence_type":
            return f"seq({_text(proto.sequence_type.elem_type)})"
        case "optional_type":
            return f"optional({_text(proto.optional_type.elem_type)})"
        case "map_type":
            key = dtypes.from_onnx(proto.map_type.key_type)
            return f"map({key}, {_text(proto.map_type.value_type)})"
    return "?"


def _tensor_text(tensor: TypeProto.Tensor | TypeProto.SparseTensor) -> str:
    dtype = dtypes.from_onnx(tensor.elem_type) or "?"
    if not tensor.HasField("shape"):
        return f"{dtype}[...]"
    sizes = (
        str(dim.dim_value) if dim.HasField("dim_value") else dim.dim_param or "_"
        for dim in tensor.shape.dim
    )
    return f"{dtype}[{', '.join(sizes)}]"


_TENSOR = re.compile(r"(\w+)\[([^\[\]]*)\]")


def _parse(text: str, proto: TypeProto) -> str:
    """Fill `proto` from the head of `text`; what is left, or "!" where it cannot be read."""
    for prefix, field in (("seq(", "sequence_type"), ("optional(", "optional_type")):
        if text.startswith(prefix):
            rest = _parse(text.removeprefix(prefix), getattr(proto, field).elem_type)
            return rest[1:] if rest.startswith(")") else "!"
    if text.startswith("map("):
        key, _, value = text.removeprefix("map(").partition(",")
        dtype = dtypes.from_name(key)
        proto.map_type.key_type = dtype.onnx_code if dtype else 0
        rest = _parse(value, proto.map_type.value_type)
        return rest[1:] if rest.startswith(")") else "!"
    match = _TENSOR.match(text)
    dtype = dtypes.from_name(match.group(1)) if match else None
    if match is None or dtype is None:
        return "!"
    proto.tensor_type.elem_type = dtype.onnx_code
    if match.group(2) != "...":
        _parse_dims(match.group(2), proto.tensor_type)
    return text[match.end() :]


def _parse_dims(text: str, tensor: TypeProto.Tensor) -> None:
    tensor.shape.SetInParent()
    for size in filter(None, text.split(",")):
        entry = tensor.shape.dim.add()
        if size.isdigit():
            entry.dim_value = int(size)
        elif size != "_":
            entry.dim_param = size
