"""One spelling for each attribute, so that equal nodes are equal keys.

Enters: an operator, attributes as a model or a rule gives them, and the types of the inputs.
Leaves: :class:`Attributes` with defaults filled in (those that depend on the rank at that rank),
negative axes counted from the front, `auto_pad` turned into pads where shapes allow, floats
rounded to float32, and without what the inputs imply.  What cannot be decided yet stays as it
was given.  Nothing here raises: a wrong value is kept, and `infer` says what is wrong with it.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping, Sequence

from tensat_dl.vocabulary import dims, windows
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import AttributeKind, FormalAttribute, Operator, OperatorKind
from tensat_dl.vocabulary.types import TensorType, Type

#: Attributes that count dims of input 0, which may be negative: operator -> names.
AXES: Mapping[str, frozenset[str]] = {
    **{
        name: frozenset({"axis"})
        for name in (
            "ArgMax", "ArgMin", "Compress", "Concat", "DequantizeLinear", "Flatten", "Gather",
            "GatherElements", "Hardmax", "LayerNormalization", "LogSoftmax", "LpNormalization",
            "QuantizeLinear", "RMSNormalization", "ScatterElements", "Softmax", "Split",
            "SplitToSequence", "TopK", "Unique",
        )
    },
    "CenterCropPad": frozenset({"axes"}),
    "Resize": frozenset({"axes"}),
}  # fmt: skip

_RECURRENT = ("GRU", "LSTM", "RNN")


def canonical_attributes(
    op: Operator, given: Mapping[str, AttributeValue], inputs: Sequence[Type]
) -> Attributes:
    """The canonical attributes of `op` applied to `inputs`, `given` being what was written."""
    if op.kind is OperatorKind.OPAQUE:
        return Attributes.of(given)
    values: dict[str, AttributeValue] = {}
    for formal in op.attributes:
        value = _value_of(op, formal, given, inputs)
        if value is not None:
            values[formal.name] = value
    undeclared = {name: value for name, value in given.items() if op.attribute(name) is None}
    return Attributes.of(_resolve(op, {**undeclared, **values}, given, inputs))


def has_other_spellings(op: Operator) -> bool:
    """Can several sets of attributes, beyond defaults and single values, be the same node?"""
    return not op.domain and (op.name in _RESOLVERS or op.attribute("auto_pad") is not None)


def default_of(op: Operator, name: str, inputs: Sequence[Type]) -> AttributeValue | None:
    """The value that an attribute has when it is not mentioned; None where that is "absent".

    None also where it depends on a rank that is not known.
    """
    formal = op.attribute(name)
    if formal is None:
        return None
    if formal.rank_dependent:
        return windows.ranked_default(op.name, name, inputs)
    if name == "hidden_size" and op.name in _RECURRENT:
        return _hidden_size(inputs)
    if (op.name, name) == ("Attention", "scale"):
        return _attention_scale(inputs)
    return None if formal.default is None else normalise(op, name, formal.default, inputs)


def normalise(
    op: Operator, name: str, value: AttributeValue | DType, inputs: Sequence[Type]
) -> AttributeValue:
    """The canonical spelling of one value: axis -1 as rank - 1, `f32` as its ONNX code, ..."""
    formal = op.attribute(name)
    plain = value.onnx_code if isinstance(value, DType) else value
    if formal is None:
        return plain
    typed = _of_kind(formal.kind, plain)
    if op.domain:
        return typed
    if name in AXES.get(op.name, ()):
        return _from_front(typed, _rank(inputs))
    if op.name == "OneHot" and name == "axis":
        rank = _rank(inputs)
        return _from_front(typed, None if rank is None else rank + 1)
    if op.name == "Shape" and name in ("start", "end"):
        return _clamped(typed, _rank(inputs))
    if op.name == "Einsum" and isinstance(typed, str):
        return typed.replace(" ", "")
    return typed


def _value_of(
    op: Operator,
    formal: FormalAttribute,
    given: Mapping[str, AttributeValue],
    inputs: Sequence[Type],
) -> AttributeValue | None:
    if formal.name not in given:
        return default_of(op, formal.name, inputs)
    value = normalise(op, formal.name, given[formal.name], inputs)
    if formal.implied and value == windows.implied_kernel(op.name, inputs):
        return None
    return value


def _resolve(
    op: Operator,
    values: dict[str, AttributeValue],
    given: Mapping[str, AttributeValue],
    inputs: Sequence[Type],
) -> dict[str, AttributeValue]:
    """Settle attributes that depend on each other or on a value."""
    if op.domain:
        return values
    if "auto_pad" in values:
        return windows.resolve_padding(op.name, values, given, inputs)
    resolver = _RESOLVERS.get(op.name)
    if resolver is not None:
        resolver(values, inputs)
    return values


def _drop_all_axes(values: dict[str, AttributeValue], inputs: Sequence[Type]) -> None:
    rank = _rank(inputs)
    if rank is not None and values.get("axes") == tuple(range(rank)):
        values.pop("axes")


def _drop_last_end(values: dict[str, AttributeValue], inputs: Sequence[Type]) -> None:
    if "end" in values and values["end"] == _rank(inputs):
        values.pop("end")


def _forget_zeros(values: dict[str, AttributeValue], inputs: Sequence[Type]) -> None:
    if _has_no_zero(inputs[1:2]):
        values["allowzero"] = 0


def _forget_empty_axes(values: dict[str, AttributeValue], inputs: Sequence[Type]) -> None:
    """What happens without axes is nothing to ask where there are some."""
    axes = inputs[1] if len(inputs) > 1 else None
    if isinstance(axes, TensorType) and axes.dims and dims.is_positive(axes.dims[0]):
        values["noop_with_empty_axes"] = 0


_REDUCTIONS = (
    "ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
    "ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare",
)  # fmt: skip

#: Beside `auto_pad`: what drops or sets attributes of an operator.
_RESOLVERS: Mapping[str, Callable[[dict[str, AttributeValue], Sequence[Type]], None]] = {
    **dict.fromkeys(_REDUCTIONS, _forget_empty_axes),
    "CenterCropPad": _drop_all_axes,
    "Reshape": _forget_zeros,
    "Resize": _drop_all_axes,
    "Shape": _drop_last_end,
}


def _has_no_zero(target: Sequence[Type]) -> bool:
    """The target shape is known and none of its elements can be 0."""
    if not target or not isinstance(target[0], TensorType) or target[0].value is None:
        return False
    return all(item == -1 or dims.is_positive(_as_dim(item)) for item in target[0].value)


def _as_dim(item: object) -> dims.Dim:
    return item if isinstance(item, int | dims.SymbolicDim) else 0


def _rank(inputs: Sequence[Type]) -> int | None:
    first = inputs[0] if inputs else None
    return first.rank if isinstance(first, TensorType) else None


def _hidden_size(inputs: Sequence[Type]) -> int | None:
    recurrence = inputs[2] if len(inputs) > 2 else None
    if not isinstance(recurrence, TensorType) or not recurrence.dims:
        return None
    size = recurrence.dims[-1]
    return size if isinstance(size, int) else None


def _attention_scale(inputs: Sequence[Type]) -> float | None:
    """One over the root of the head's size, where the dims tell that without the attributes."""
    queries = inputs[0] if inputs else None
    if not isinstance(queries, TensorType) or queries.dims is None or len(queries.dims) != 4:
        return None
    size = queries.dims[3]
    return _float32(1 / math.sqrt(size)) if isinstance(size, int) and size > 0 else None


def _of_kind(kind: AttributeKind, value: AttributeValue) -> AttributeValue:
    """`value` in the Python type of its kind; unchanged where it does not fit."""
    match kind, value:
        case AttributeKind.FLOAT, int() | float():
            return _float32(value)
        case AttributeKind.INT, bool():
            return int(value)
        case AttributeKind.FLOATS, tuple() | list():
            numbers = [v for v in value if isinstance(v, int | float)]
            return tuple(map(_float32, numbers)) if len(numbers) == len(value) else value
        case AttributeKind.INTS | AttributeKind.STRINGS, list():
            return tuple(value)
    return value


def _float32(value: float) -> float:
    try:
        return float(struct.unpack("f", struct.pack("f", value))[0])
    except OverflowError:
        return float("inf") if value > 0 else float("-inf")


def _from_front(value: AttributeValue, rank: int | None) -> AttributeValue:
    if rank is None:
        return value
    match value:
        case int() if -rank <= value < 0:
            return value + rank
        case tuple():
            axes = [axis for axis in value if isinstance(axis, int)]
            return tuple(a + rank if -rank <= a < 0 else a for a in axes)
    return value


def _clamped(value: AttributeValue, rank: int | None) -> AttributeValue:
    if rank is None or not isinstance(value, int):
        return value
    return min(max(value + rank if value < 0 else value, 0), rank)
