"""Tensor data in files beside the model: finding, checking and reading it late.

Enters: a TensorProto with `data_location` EXTERNAL and the folder of the model.  Leaves: an
:class:`ExternalContent`, which maps the file when it is called.  Locations outside the model's
folder are refused, as onnxruntime does.
"""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.helper import tensor_dtype_to_np_dtype

from tensat_dl.errors import InputError
from tensat_dl.graph.hashing import PIECE
from tensat_dl.resources import real_path
from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.dtypes import DType

#: Digits of the largest offset that a file can have.
_DIGITS = 19


@dataclass(frozen=True)
class ExternalContent:
    """`length` bytes from `offset` of a file, as a tensor."""

    path: Path
    offset: int
    length: int
    dtype: DType
    dims: tuple[int, ...]

    def __call__(self) -> NDArray[Any]:
        """The array: a read-only map of the file, unpacked for types under 8 bits."""
        if self.dtype.bits < 8:
            return numpy_helper.to_array(self._proto())
        numpy_type = tensor_dtype_to_np_dtype(self.dtype.onnx_code)
        if not self.length:
            return np.empty(self.dims, numpy_type)
        raw = np.memmap(self.path, np.uint8, "r", self.offset, (self.length,))
        return np.asarray(raw).view(numpy_type).reshape(self.dims)

    def chunks(self) -> Iterator[bytes]:
        """The bytes, piece by piece."""
        with self.path.open("rb") as file:
            file.seek(self.offset)
            left = self.length
            while left > 0 and (piece := file.read(min(left, PIECE))):
                left -= len(piece)
                yield piece

    def _proto(self) -> onnx.TensorProto:
        raw = b"".join(self.chunks())
        return onnx.TensorProto(dims=self.dims, data_type=self.dtype.onnx_code, raw_data=raw)


def external_content(tensor: onnx.TensorProto, folder: Path | None) -> ExternalContent:
    """Where the data of `tensor` is.  Raises InputError where it is not."""
    dtype = element_type(tensor)
    # what is not UTF-8 comes as bytes
    entries = {entry.key: os.fsdecode(entry.value) for entry in tensor.external_data}
    path = _path(tensor.name, entries.get("location", ""), folder)
    dims = tuple(tensor.dims)
    expected = byte_size(dtype, dims)
    offset = _number(tensor.name, "offset", entries.get("offset", "0"))
    length = _number(tensor.name, "length", entries.get("length", str(expected)))
    if length != expected:
        raise InputError(
            f"tensor '{tensor.name}' needs {expected} bytes of external data, "
            f"but the model gives it {length}",
            help="the model is not valid ONNX; export it again",
        )
    _check_size(tensor.name, path, offset + length)
    return ExternalContent(path, offset, length, dtype, dims)


def byte_size(dtype: DType, dims: Iterable[int]) -> int:
    """Bytes of a tensor's data, types under 8 bits packed."""
    return (math.prod(dims) * dtype.bits + 7) // 8


def element_type(tensor: onnx.TensorProto) -> DType:
    """Its element type.  Raises InputError where ONNX defines none."""
    dtype = dtypes.from_onnx(tensor.data_type)
    if dtype is None:
        raise InputError(
            f"tensor '{tensor.name}' has an element type that ONNX does not define "
            f"({tensor.data_type})"
        )
    return dtype


def is_external(tensor: onnx.TensorProto) -> bool:
    """Its data is in another file."""
    return tensor.data_location == onnx.TensorProto.EXTERNAL


def _path(name: str, location: str, folder: Path | None) -> Path:
    if folder is None:
        raise InputError(
            f"tensor '{name}' has its data in '{location}', but where that is is not known",
            help="give the model by its path, or load its external data first",
        )
    if not location or _leads_out(location, folder):
        raise InputError(
            f"tensor '{name}' has its data in '{location}', outside the folder of the model",
            help="onnxruntime refuses such models too; store the data beside the model",
        )
    return folder / location


def _leads_out(location: str, folder: Path) -> bool:
    """It names another folder; links inside the folder may lead anywhere."""
    inside = Path(location)
    up = ".." in inside.parts
    return inside.is_absolute() or (
        up and not real_path(folder / inside).is_relative_to(real_path(folder))
    )


def _number(name: str, key: str, text: str) -> int:
    if text.isascii() and text.isdigit() and len(text) <= _DIGITS:
        return int(text)
    raise InputError(
        f"the {key} of the external data of tensor '{name}' is '{text[:_DIGITS]}', no number",
        help="the model is not valid ONNX; export it again",
    )


def _check_size(name: str, path: Path, needed: int) -> None:
    try:
        size = path.stat().st_size if path.is_file() else None
    except (OSError, ValueError):
        size = None
    if size is None:
        raise InputError(
            f"the external data file {path} of tensor '{name}' does not exist",
            help="copy it beside the model: model and data belong together",
        )
    if size < needed:
        raise InputError(
            f"the external data file {path} is cut short: tensor '{name}' ends at byte {needed}, "
            f"the file at {size}",
            help="copy or download it again",
        )
