"""External data where those who run a model read it.

Enters: a model whose data is in a folder.  Leaves: the model and a folder that holds all of its
data, links followed; or the model with its data inside, for the reference evaluator, which reads
no files.  onnxruntime refuses what a link leads out of the folder it is given; but of
a model that it opens by its path, it takes the folder where a link to the model leads, too.
Caches that keep files by their content, and link to them, count on that.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import onnx

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.external import external_content, is_external
from tensat_dl.graph.tensors import all_tensors
from tensat_dl.resources import real_path


def followed(proto: onnx.ModelProto, folder: Path) -> tuple[onnx.ModelProto, Path]:
    """The model as it is, where its data is inside `folder`; else a copy whose data is inside the
    folder beside it."""
    home = real_path(folder)
    files = {name: real_path(folder / name) for name in data_locations(proto)}
    if all(file.is_relative_to(home) for file in files.values()):
        return proto, home
    common = Path(os.path.commonpath([file.parent for file in files.values()]))
    return _moved(proto, {name: file.relative_to(common) for name, file in files.items()}), common


def with_data_inside(proto: onnx.ModelProto, folder: Path) -> onnx.ModelProto:
    """The model as it is, where it has no data outside; else a copy that holds it."""
    if not data_locations(proto):
        return proto
    whole = copy_model(proto)
    for tensor in filter(is_external, all_tensors(whole)):
        tensor.raw_data = b"".join(external_content(tensor, folder).chunks())
        tensor.ClearField("external_data")
        tensor.ClearField("data_location")
    return whole


def data_locations(proto: onnx.ModelProto) -> frozenset[str]:
    """Where the model says that its external data is."""
    return frozenset(_location(tensor) for tensor in all_tensors(proto) if is_external(tensor))


def _moved(proto: onnx.ModelProto, places: Mapping[str, Path]) -> onnx.ModelProto:
    moved = copy_model(proto)
    for tensor in filter(is_external, all_tensors(moved)):
        place = places[_location(tensor)].as_posix()
        for entry in tensor.external_data:
            entry.value = place if entry.key == "location" else entry.value
    return moved


def _location(tensor: onnx.TensorProto) -> str:
    return next((os.fsdecode(e.value) for e in tensor.external_data if e.key == "location"), "")
