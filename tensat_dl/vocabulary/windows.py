"""Attributes of sliding windows (convolutions, pools) and others whose length is a rank.

Enters: an operator's name, attributes, input types.  Leaves: the defaults at that rank, the
kernel that a weight implies, and `auto_pad` resolved to pads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tensat_dl.vocabulary.attributes import AttributeValue
from tensat_dl.vocabulary.dims import Dim
from tensat_dl.vocabulary.types import TensorType, Type

#: Which input is the weight.
WEIGHT = {"Conv": 1, "ConvInteger": 1, "ConvTranspose": 1, "DeformConv": 1, "QLinearConv": 3}

_FILL = {"strides": 1, "dilations": 1, "pads": 0, "output_padding": 0}


def input_dims(inputs: Sequence[Type], index: int) -> tuple[Dim, ...] | None:
    """Dims of an input, or None where they are not known."""
    if index >= len(inputs):
        return None
    given = inputs[index]
    return given.dims if isinstance(given, TensorType) else None


def ranked_default(op_name: str, name: str, inputs: Sequence[Type]) -> AttributeValue | None:
    """The default of a rank-dependent attribute, or None where the rank is not known."""
    if name in _FILL:
        rank = spatial_rank(op_name, inputs)
        return None if rank is None else (_FILL[name],) * (2 * rank if name == "pads" else rank)
    shape = input_dims(inputs, 0)
    if shape is None:
        return None
    return tuple(reversed(range(len(shape))))


def spatial_rank(op_name: str, inputs: Sequence[Type]) -> int | None:
    """Number of dims that the window slides along."""
    if op_name == "Col2Im":
        image = input_dims(inputs, 1)
        return image[0] if image and isinstance(image[0], int) else None
    for index in (0, WEIGHT.get(op_name, 0)):
        shape = input_dims(inputs, index)
        if shape is not None and len(shape) >= 2:
            return len(shape) - 2
    return None


def implied_kernel(op_name: str, inputs: Sequence[Type]) -> tuple[int, ...] | None:
    """`kernel_shape` as the weight has it, or None."""
    shape = input_dims(inputs, WEIGHT[op_name]) if op_name in WEIGHT else None
    if shape is None:
        return None
    kernel = tuple(dim for dim in shape[2:] if isinstance(dim, int))
    return kernel if len(kernel) == len(shape) - 2 else None


def resolve_padding(
    op_name: str,
    values: dict[str, AttributeValue],
    given: Mapping[str, AttributeValue],
    inputs: Sequence[Type],
) -> dict[str, AttributeValue]:
    """Turn `auto_pad` into pads where that is exact; else leave pads out unless given.

    Left alone: ConvTranspose but for VALID, and pools that round up.
    """
    mode = values["auto_pad"]
    if "output_shape" in values:
        values.pop("pads", None)
        return values
    if mode == "NOTSET":
        return values
    pads = _pads_of_mode(op_name, str(mode), values, inputs)
    if pads is not None:
        return {**values, "auto_pad": "NOTSET", "pads": pads}
    if "pads" not in given:
        values.pop("pads", None)
    return values


def _pads_of_mode(
    op_name: str, mode: str, values: Mapping[str, AttributeValue], inputs: Sequence[Type]
) -> tuple[int, ...] | None:
    rank = spatial_rank(op_name, inputs)
    if rank is None:
        return None
    if mode == "VALID":
        return (0,) * (2 * rank)
    if op_name == "ConvTranspose" or values.get("ceil_mode") or not mode.startswith("SAME_"):
        return None
    totals = _same_totals(op_name, rank, values, inputs)
    if totals is None:
        return None
    small = [total // 2 for total in totals]
    large = [total - half for total, half in zip(totals, small, strict=True)]
    return tuple(small + large if mode == "SAME_UPPER" else large + small)


def _same_totals(
    op_name: str, rank: int, values: Mapping[str, AttributeValue], inputs: Sequence[Type]
) -> list[int] | None:
    """Padding along each spatial dim so that the output has ceil(input / stride) elements."""
    kernel = _ints(values.get("kernel_shape") or implied_kernel(op_name, inputs), rank)
    strides = _ints(values.get("strides"), rank)
    dilations = _ints(values.get("dilations", (1,) * rank), rank)
    shape = input_dims(inputs, 0)
    if kernel is None or strides is None or dilations is None:
        return None
    sizes: Sequence[Dim | None] = shape[2:] if shape is not None else (None,) * rank
    totals = map(_same_total, sizes, kernel, strides, dilations)
    known = [total for total in totals if total is not None]
    return known if len(known) == rank else None


def _same_total(size: Dim | None, kernel: int, stride: int, dilation: int) -> int | None:
    reach = dilation * (kernel - 1) + 1
    if stride == 1:
        return reach - 1
    if not isinstance(size, int) or stride < 1:
        return None
    return max((-(-size // stride) - 1) * stride + reach - size, 0)


def _ints(value: AttributeValue | None, length: int) -> tuple[int, ...] | None:
    if not isinstance(value, tuple) or len(value) != length:
        return None
    numbers = tuple(item for item in value if isinstance(item, int))
    return numbers if len(numbers) == length else None
