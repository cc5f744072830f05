"""A model in memory as the kind of object that a caller gave.

Enters: a :class:`~tensat_dl.graph.source.Source`, which nobody needs any more, and an example.
Leaves: a model of the example's class that shares nothing with it, so that either may be changed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import onnx

from tensat_dl.graph.copies import copy_model
from tensat_dl.graph.source import Source

if TYPE_CHECKING:
    import onnx_ir


def model_like(
    example: onnx.ModelProto | onnx_ir.Model, source: Source
) -> onnx.ModelProto | onnx_ir.Model:
    """The model of `source` as an `onnx.ModelProto` if `example` is one, else `onnx_ir.Model`."""
    proto = copy_model(source.proto) if source.proto is example else source.proto
    if isinstance(example, onnx.ModelProto):
        return proto
    import onnx_ir
    from onnx_ir import external_data

    model = onnx_ir.from_proto(proto)
    if source.folder is not None:
        external_data.set_base_dir(model.graph, source.folder)
    return model
