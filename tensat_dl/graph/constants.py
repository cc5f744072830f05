"""Constants between ONNX tensors, numpy arrays and :class:`Constant`.

Enters: a TensorProto (its data inside or in another file), a sparse one, or an array.  Leaves: a
`Constant` whose digest covers element type, dims and content, so that equal content has an equal
digest wherever it is stored.  Content inside a model is read once; external data is mapped late.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from onnx import numpy_helper

from tensat_dl.errors import InputError
from tensat_dl.graph.copies import copy_tensor
from tensat_dl.graph.external import (
    ExternalContent,
    byte_size,
    element_type,
    external_content,
    is_external,
)
from tensat_dl.graph.hashing import digest_of_bytes, digest_of_pieces, digest_of_texts
from tensat_dl.graph.model import Constant
from tensat_dl.graph.stored import (
    Array,
    StoredArray,
    StoredBytes,
    StoredSparse,
    StoredTensor,
    is_plain,
)
from tensat_dl.vocabulary.attributes import is_negative_zero
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import (
    MAX_FILL_ELEMENTS,
    MAX_FLOAT_VALUE_ELEMENTS,
    MAX_VALUE_ELEMENTS,
    Number,
)

#: So many elements of a large constant tell soon that they are not all equal.
_FIRST = 64


def constant_of_tensor(
    tensor: onnx.TensorProto,
    folder: Path | None = None,
    source_name: str | None = None,
    raw: bytes | None = None,
) -> Constant:
    """The constant that a TensorProto is; `raw`: its raw data, where that is known.  Raises
    InputError where its data is missing."""
    dtype = element_type(tensor)
    dims = tuple(tensor.dims)
    if is_external(tensor):
        content = external_content(tensor, folder)
        return _constant(_external_digest(content), dtype, dims, content, source_name)
    if raw is None and tensor.HasField("raw_data"):
        raw = tensor.raw_data
    _check_complete(tensor, dtype, raw)
    if raw is None:
        digest = content_digest(tensor)
        return _constant(digest, dtype, dims, StoredTensor(tensor), source_name)
    digest = digest_of_bytes(tensor.data_type, dims, raw)
    stored = StoredBytes(raw, dtype, dims, tensor) if is_plain(dtype) else StoredTensor(tensor)
    return _constant(digest, dtype, dims, stored, source_name)


def _check_complete(tensor: onnx.TensorProto, dtype: DType, raw: bytes | None) -> None:
    if raw is not None:
        complete = len(raw) == byte_size(dtype, tensor.dims)
    elif dtype is DType.STRING:  # of any bytes, which numpy would want to be UTF-8
        complete = len(tensor.string_data) == math.prod(tensor.dims)
    else:
        try:
            numpy_helper.to_array(tensor)
            complete = True
        except (ValueError, TypeError, OverflowError):
            complete = False
    if not complete:
        raise InputError(
            f"tensor '{tensor.name}' of dims {list(tensor.dims)} holds more or less than its data",
            help="the model is not valid ONNX; export or download it again",
        )


def constant_of_sparse(tensor: onnx.SparseTensorProto) -> Constant:
    """The constant that a sparse initializer is; it stays sparse in the source."""
    dtype = element_type(tensor.values)
    digest = hashlib.sha256(b"sparse" + tensor.SerializeToString(deterministic=True)).hexdigest()
    dims = tuple(tensor.dims)
    return _constant(digest, dtype, dims, StoredSparse(tensor), tensor.values.name)


def constant_of_array(array: Array, source_name: str | None = None) -> Constant:
    """The constant with that content; its element type is the array's."""
    plain = np.ascontiguousarray(array).reshape(array.shape)
    code = numpy_helper.from_array(plain[:0] if plain.ndim else plain).data_type
    dtype = element_type(onnx.TensorProto(data_type=code))
    if is_plain(dtype):
        content = StoredBytes(plain.tobytes(), dtype, plain.shape)
        digest = digest_of_bytes(code, plain.shape, content.raw)
        return _constant(digest, dtype, plain.shape, content, source_name)
    digest = content_digest(numpy_helper.from_array(plain))
    return _constant(digest, dtype, plain.shape, StoredArray(plain), source_name)


def tensor_of_constant(constant: Constant, name: str) -> onnx.TensorProto:
    """The constant as a TensorProto with its data inside."""
    tensor = onnx.TensorProto()
    fill_tensor(tensor, constant, name)
    return tensor


def fill_tensor(tensor: onnx.TensorProto, constant: Constant, name: str) -> None:
    """Make an empty tensor hold the constant, under a name; large data is copied no more than it
    takes."""
    content = constant.load
    if isinstance(content, StoredTensor | StoredBytes) and content.proto is not None:
        copy_tensor(content.proto, tensor)
    elif is_plain(constant.dtype):
        tensor.data_type = constant.dtype.onnx_code
        tensor.dims.extend(constant.dims)
        if isinstance(content, StoredBytes):
            tensor.raw_data = content.raw
        else:
            tensor.raw_data = np.asarray(content()).tobytes()
    else:
        copy_tensor(numpy_helper.from_array(np.asarray(content())), tensor)
    tensor.name = name


def content_digest(tensor: onnx.TensorProto) -> str:
    """Digest of element type, dims and content of a tensor whose data is inside."""
    code, dims = tensor.data_type, tuple(tensor.dims)
    if code == onnx.TensorProto.STRING:
        return digest_of_texts(code, dims, tensor.string_data)
    if tensor.HasField("raw_data"):
        return digest_of_bytes(code, dims, tensor.raw_data)
    try:
        raw = numpy_helper.from_array(numpy_helper.to_array(tensor)).raw_data
    except (ValueError, TypeError, OverflowError) as error:
        raise InputError(
            f"tensor '{tensor.name}' cannot be read: {error}",
            help="the model is not valid ONNX; export or download it again",
        ) from None
    return digest_of_bytes(code, dims, raw)


def _external_digest(content: ExternalContent) -> str:
    return digest_of_pieces(content.dtype.onnx_code, content.dims, content.chunks())


def _constant(
    digest: str,
    dtype: DType,
    dims: tuple[int, ...],
    load: Callable[[], Array],
    source_name: str | None,
) -> Constant:
    constant = Constant(digest, dtype, dims, load, source_name)
    if _is_small(constant):
        return replace(constant, value=_value(constant))
    return replace(constant, fill=_fill(constant))


def _is_small(constant: Constant) -> bool:
    limit = MAX_FLOAT_VALUE_ELEMENTS if constant.dtype.is_float else MAX_VALUE_ELEMENTS
    return math.prod(constant.dims) <= limit


def _value(constant: Constant) -> tuple[int | float | bool, ...] | None:
    """NaN is no value: it does not equal itself.  Nor is -0.0: it equals 0.0, and is another."""
    dtype = constant.dtype
    if dtype.is_float:
        values = tuple(float(x) for x in constant.load().reshape(-1))
        return None if any(math.isnan(v) or is_negative_zero(v) for v in values) else values
    whole = dtype.is_integer or dtype is DType.BOOL
    return tuple(_as_python(constant.load())) if whole else None


def _fill(constant: Constant) -> Number | None:
    """The number that every element is; weights differ within their first elements."""
    dtype = constant.dtype
    numbers = dtype.is_float or dtype.is_integer or dtype is DType.BOOL
    if not numbers or math.prod(constant.dims) > MAX_FILL_ELEMENTS:
        return None
    flat = constant.load().reshape(-1)
    first = flat[:1]
    if not (flat[:_FIRST] == first).all() or not (flat == first).all():
        return None
    if dtype.is_float and not flat.any():  # 0.0 and -0.0 equal each other, and differ
        return None if np.signbit(flat.astype(np.float32)).any() else 0.0
    found: Number = float(first[0]) if dtype.is_float else _as_python(first)[0]
    return found


def _as_python(array: Array) -> list[Any]:
    """int4 and its like become int first: they have no Python scalars."""
    plain = array if array.dtype.kind in "iub" else array.astype(np.int64)
    flat: list[Any] = plain.reshape(-1).tolist()
    return flat


def initializer_map(graph: onnx.GraphProto) -> Mapping[str, onnx.TensorProto]:
    """The dense initializers of a graph, by name; of one that is defined twice, the last."""
    return {tensor.name: tensor for tensor in graph.initializer}


def sparse_map(graph: onnx.GraphProto) -> Mapping[str, onnx.SparseTensorProto]:
    """The sparse initializers of a graph, by name."""
    return {tensor.values.name: tensor for tensor in graph.sparse_initializer}
