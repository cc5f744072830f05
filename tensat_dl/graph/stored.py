"""Where the content of a constant is, when it is in memory.

Enters: a tensor, bytes or an array.  Leaves: what gives the array when it is called.  Each look at
the data of a message copies it, so that of large tensors is looked at once, and its bytes are kept:
those who need them later find them in the :class:`Contents` of a model.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.helper import tensor_dtype_to_np_dtype

from tensat_dl.vocabulary.dtypes import DType

Array = NDArray[Any]

#: Smaller tensors are not worth the trouble: to look again costs nothing.
LARGE = 1 << 16


@dataclass(frozen=True)
class StoredTensor:
    """A TensorProto whose data is inside."""

    proto: onnx.TensorProto

    def __call__(self) -> Array:
        """The array (strings as an object array of `str`)."""
        return numpy_helper.to_array(self.proto)


@dataclass(frozen=True)
class StoredBytes:
    """Bytes as numpy has them too; `proto`: the tensor whose data they are, if any."""

    raw: bytes
    dtype: DType
    dims: tuple[int, ...]
    proto: onnx.TensorProto | None = None

    def __call__(self) -> Array:
        """The array, not to be changed: nothing is copied."""
        return np.frombuffer(self.raw, numpy_type(self.dtype)).reshape(self.dims)


@dataclass(frozen=True)
class StoredSparse:
    """A sparse tensor."""

    proto: onnx.SparseTensorProto

    def __call__(self) -> Array:
        """The dense array."""
        values = numpy_helper.to_array(self.proto.values)
        indices = numpy_helper.to_array(self.proto.indices)
        dims = tuple(self.proto.dims)
        dense = np.zeros(dims, dtype=values.dtype)
        flat = indices if indices.ndim == 1 else np.ravel_multi_index(tuple(indices.T), dims)
        dense.reshape(-1)[flat] = values
        return dense


@dataclass(frozen=True)
class StoredArray:
    """An array."""

    array: Array

    def __call__(self) -> Array:
        """The array."""
        return self.array


@dataclass(frozen=True)
class Contents:
    """The data of large tensors of the model `proto`, by the name of the initializer or of what
    the Constant node makes."""

    proto: onnx.ModelProto
    data: Mapping[str, bytes]

    def of(self, proto: onnx.ModelProto) -> Mapping[str, bytes]:
        """The data, if `proto` is the model that it belongs to."""
        return self.data if proto is self.proto else {}


def note_content(data: dict[str, bytes], name: str, load: object) -> None:
    """Remember the data of the tensor `name`, where it is large and at hand; of one that is defined
    twice, that of the last."""
    if isinstance(load, StoredBytes) and len(load.raw) >= LARGE:
        data[name] = load.raw
    else:
        data.pop(name, None)


def is_plain(dtype: DType) -> bool:
    """Raw data of ONNX is as numpy has it."""
    return dtype.bits >= 8 and dtype is not DType.STRING and sys.byteorder == "little"


def numpy_type(dtype: DType) -> np.dtype[Any]:
    """The numpy type (of `ml_dtypes` where numpy has none)."""
    return tensor_dtype_to_np_dtype(dtype.onnx_code)
