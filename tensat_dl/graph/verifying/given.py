"""Inputs that the user gives for the verification, from a file of numpy's.

Enters: an .npz file and the model.  Leaves: arrays by input name, of the model's element types,
and the sizes that they give to symbolic dims.  Keys are input names; where some begin with `in:`,
only those count.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto
from onnx.helper import tensor_dtype_to_np_dtype

from tensat_dl.errors import UsageError
from tensat_dl.graph.interface import named_dims, tensor_dims
from tensat_dl.graph.running.plain import plain_code

Array = NDArray[Any]

_PREFIX = "in:"


def read_given(path: str, proto: onnx.ModelProto) -> Mapping[str, Array]:
    """The arrays of a file; {} for no path.  Raises UsageError where one does not fit."""
    if not path:
        return {}
    inputs = {value.name: value for value in proto.graph.input}
    arrays = _arrays(Path(path))
    unknown = sorted(set(arrays) - set(inputs))
    if unknown:
        raise UsageError(
            f"{path}: the model has no input '{unknown[0]}'",
            help=f"it has: {', '.join(inputs) or 'none'}",
        )
    return {name: _fitted(path, inputs[name], array) for name, array in arrays.items()}


def sizes_of(given: Mapping[str, Array], proto: onnx.ModelProto) -> dict[str, int]:
    """Symbolic dim -> its size in the given arrays."""
    found: dict[str, int] = {}
    for value in proto.graph.input:
        if value.name in given:
            dims = tensor_dims(named_dims(value))
            pairs = zip(dims, given[value.name].shape, strict=True) if dims else ()
            found.update({dim.dim_param: size for dim, size in pairs if dim.dim_param})
    return found


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with np.load(path, allow_pickle=False) as content:
            names = [name for name in content if name.startswith(_PREFIX)] or list(content)
            return {name.removeprefix(_PREFIX): content[name] for name in names}
    except FileNotFoundError:
        raise UsageError(f"{path} does not exist") from None
    except (OSError, ValueError, AttributeError, TypeError, EOFError, zipfile.BadZipFile):
        raise UsageError(
            f"{path} is no .npz file of plain arrays",
            help="write it with numpy.savez(FILE, INPUT=array, ...)",
        ) from None


def _fitted(path: str, value: onnx.ValueInfoProto, array: Array) -> Array:
    if not value.type.HasField("tensor_type"):
        raise UsageError(f"{path}: input '{value.name}' is not a tensor and cannot be given")
    code = plain_code(value.type.tensor_type.elem_type)
    if code == TensorProto.STRING:
        return array.astype(object)
    wanted = tensor_dtype_to_np_dtype(code)
    if not np.can_cast(array.dtype, wanted, "same_kind"):
        raise UsageError(f"{path}: input '{value.name}' is {array.dtype}, the model takes {wanted}")
    _check_shape(path, value, array)
    return array.astype(wanted)


def _check_shape(path: str, value: onnx.ValueInfoProto, array: Array) -> None:
    if not value.type.tensor_type.HasField("shape"):
        return
    dims = tensor_dims(value.type)
    sizes = [dim.dim_value if dim.HasField("dim_value") else dim.dim_param or "?" for dim in dims]
    fits = len(sizes) == array.ndim and all(
        not isinstance(dim, int) or dim == size
        for dim, size in zip(sizes, array.shape, strict=True)
    )
    if not fits:
        raise UsageError(
            f"{path}: input '{value.name}' is {list(array.shape)}, the model takes "
            f"[{', '.join(map(str, sizes))}]"
        )
