"""Writing a model to disk: whole or not at all.

Enters: a model and a path.  Leaves: the file, and `PATH.data` beside it where the source kept
tensors outside or the model is too large for one protobuf message.  Everything is written to
temporary files in the same folder and moved into place at the end; whatever interrupts that,
the temporary files are removed.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import numpy as np
import onnx
from onnx import TensorProto, numpy_helper

from tensat_dl.errors import UsageError
from tensat_dl.graph.copies import copy_fields
from tensat_dl.graph.external import external_content, is_external
from tensat_dl.graph.links import data_locations
from tensat_dl.graph.source import Source, load_source
from tensat_dl.graph.tensors import all_tensors, inner_tensors, inside_bytes, is_too_large
from tensat_dl.graph.writing.pieces import pieces
from tensat_dl.resources import real_path, temporary_prefix

if TYPE_CHECKING:
    import onnx_ir

#: Smaller tensors stay in the model file.
EXTERNAL_THRESHOLD = 1024

#: External tensors start at multiples of this, so that runtimes can map them.
_ALIGNMENT = 4096


def save(
    model: onnx.ModelProto | onnx_ir.Model | Source,
    path: str | Path,
    *,
    force: bool = False,
    made_from: Source | None = None,
) -> Path:
    """Write `model` to `path` and return the path.

    `made_from` is what it was made from: its file is overwritten only with `force`.
    Raises UsageError where the path cannot be written.
    """
    target = Path(path)
    source = load_source(model)
    _check_target(target, None if made_from is None else made_from.path, force)
    external = _has_external(source.proto) or is_too_large(source.proto)
    data = frozenset() if made_from is None else _data_files(made_from)
    if real_path(target) in data:
        raise UsageError(
            f"{target} holds weights of the input model; it is not overwritten",
            help="choose another output with -o",
        )
    avoid = frozenset() if force else data
    write_files(source.proto, source.folder, target, external=external, avoid=avoid)
    return target


def write_files(
    proto: onnx.ModelProto,
    folder: Path | None,
    target: Path,
    *,
    external: bool,
    avoid: frozenset[Path] = frozenset(),
) -> None:
    """Write the model file and, if `external`, its data file.

    `folder` is where the external data of `proto` is now; files in `avoid` are left alone.
    """
    data = _data_path(target, avoid)
    with _temporaries_beside(target) as temporaries:
        if external:
            stream = temporaries.open()
            proto = _moved_out(proto, folder, stream, data.name)
        temporaries.open().writelines(pieces(proto))
        temporaries.commit([data, target] if external else [target])


@dataclass
class _Temporaries:
    folder: Path
    files: list[tuple[Path, BinaryIO]]

    def open(self) -> BinaryIO:
        handle, name = tempfile.mkstemp(dir=self.folder, prefix=temporary_prefix())
        stream = os.fdopen(handle, "wb")
        self.files.append((Path(name), stream))
        return stream

    def commit(self, targets: list[Path]) -> None:
        """Move the files, in the order they were opened, to their places."""
        for (temporary, stream), target in zip(self.files, targets, strict=True):
            stream.flush()
            os.fsync(stream.fileno())
            stream.close()
            temporary.chmod(_mode(target))
        for (temporary, _), target in zip(self.files, targets, strict=True):
            temporary.replace(target)


@contextmanager
def _temporaries_beside(target: Path) -> Iterator[_Temporaries]:
    temporaries = _Temporaries(target.parent, [])
    try:
        yield temporaries
    except OSError as error:
        raise UsageError(
            f"cannot write {target}: {error.strerror or error}",
            help="choose another place with -o",
        ) from None
    finally:
        for path, stream in temporaries.files:
            with suppress(OSError):
                stream.close()
            path.unlink(missing_ok=True)


def _mode(target: Path) -> int:
    """Permissions of the file that is replaced, or those a new file gets."""
    if target.exists():
        return target.stat().st_mode & 0o777
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask


def _check_target(target: Path, source_path: Path | None, force: bool) -> None:
    if target.is_dir():
        raise UsageError(f"{target} is a directory", help="give the output file a name with -o")
    if not target.parent.is_dir():
        raise UsageError(f"the folder {target.parent} does not exist", help="create it first")
    if force or source_path is None or not target.exists():
        return
    if target.samefile(source_path):
        raise UsageError(
            f"{target} is the input model; it is not overwritten",
            help="choose another output with -o, or say --force",
        )


def _data_path(target: Path, avoid: frozenset[Path]) -> Path:
    path = target.with_name(target.name + ".data")
    count = 0
    while real_path(path) in avoid:
        count += 1
        path = target.with_name(f"{target.name}.{count}.data")
    return path


def _data_files(source: Source) -> frozenset[Path]:
    """The files that hold external data of a model."""
    if source.folder is None:
        return frozenset()
    return frozenset(real_path(source.folder / name) for name in data_locations(source.proto))


def _has_external(proto: onnx.ModelProto) -> bool:
    return any(map(is_external, all_tensors(proto)))


def _moved_out(
    proto: onnx.ModelProto, folder: Path | None, stream: BinaryIO, location: str
) -> onnx.ModelProto:
    """A copy of `proto` whose large initializers, and all data that was outside already, are in
    `stream`.  Large data is never copied in memory."""
    moved = onnx.ModelProto()
    copy_fields(proto, moved, skip=("graph",))
    copy_fields(proto.graph, moved.graph, skip=("initializer",))
    for tensor in proto.graph.initializer:
        large = (
            inside_bytes(tensor) >= EXTERNAL_THRESHOLD and tensor.data_type != TensorProto.STRING
        )
        place = moved.graph.initializer.add()
        if large or is_external(tensor):
            _move_out(tensor, place, folder, stream, location)
        else:
            place.CopyFrom(tensor)
    for tensor in inner_tensors(moved):
        if is_external(tensor):
            _move_out(tensor, tensor, folder, stream, location)
    return moved


def _move_out(
    tensor: TensorProto, place: TensorProto, folder: Path | None, stream: BinaryIO, location: str
) -> None:
    """Append the data to `stream` and describe it in `place`."""
    start = -(-stream.tell() // _ALIGNMENT) * _ALIGNMENT
    stream.write(b"\0" * (start - stream.tell()))
    for piece in _pieces(tensor, folder):
        stream.write(piece)
    length = stream.tell() - start
    outside = TensorProto(data_location=TensorProto.EXTERNAL)
    copy_fields(tensor, outside, skip=_DATA_FIELDS)
    for key, value in (("location", location), ("offset", str(start)), ("length", str(length))):
        outside.external_data.add(key=key, value=value)
    place.CopyFrom(outside)


_DATA_FIELDS = (
    "raw_data",
    "float_data",
    "int32_data",
    "int64_data",
    "double_data",
    "uint64_data",
    "external_data",
    "data_location",
)


def _pieces(tensor: TensorProto, folder: Path | None) -> Iterable[bytes]:
    if is_external(tensor):
        return external_content(tensor, folder).chunks()
    return (_raw(tensor),)


def _raw(tensor: TensorProto) -> bytes:
    if tensor.HasField("raw_data"):
        return bytes(tensor.raw_data)
    return bytes(numpy_helper.from_array(np.asarray(numpy_helper.to_array(tensor))).raw_data)
