"""An application in ONNX's reference evaluator, for operators without an evaluator here.

Enters: a :class:`Call` in an ordered scheme.  Leaves: its outputs; reals are computed in float64.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import onnx

from tensat_dl.errors import TensatError
from tensat_dl.graph.model import Graph, Node, Output
from tensat_dl.graph.run import CannotRun, open_reference
from tensat_dl.graph.source import Source
from tensat_dl.graph.write import build_proto
from tensat_dl.soundness.arithmetic import Array, Reals, Unsupported
from tensat_dl.soundness.operators.call import Call
from tensat_dl.vocabulary.catalog import VERSIONS
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType, Type


def evaluate_by_reference(call: Call) -> list[Array]:
    """The outputs.  Raises Unsupported where the reference evaluator cannot."""
    if not call.operator.deterministic:
        raise Unsupported("random")
    if isinstance(call.scheme.floats, Reals):
        call.scheme.floats.exact = False
    names = tuple(None if a is None else f"i{i}" for i, a in enumerate(call.arrays))
    outputs = tuple(f"o{i}" for i in range(len(call.results)))
    types = {name: _wide(call, t) for name, t in zip(names, call.types, strict=False) if name}
    types |= {name: _wide(call, t) for name, t in zip(outputs, call.results, strict=True)}
    graph = Graph(
        inputs=tuple(name for name in names if name),
        constants={},
        nodes=(Node(call.operator, call.attributes, names, outputs),),
        outputs=tuple(Output(name, name) for name in outputs),
        types=types,
        opsets=VERSIONS,
        source=Source(onnx.ModelProto(ir_version=10)),
    )
    feeds = {name: a for name, a in zip(names, call.arrays, strict=True) if name and a is not None}
    try:
        with np.errstate(all="ignore"):
            found = open_reference(Source(build_proto(graph))).run(feeds)
    except (CannotRun, TensatError) as reason:
        raise Unsupported(str(reason)) from None
    return [_stored(call, index, array) for index, array in enumerate(found)]


def _wide(call: Call, type_: Type) -> Type:
    """Reals are float64 there."""
    if not isinstance(type_, TensorType):
        return type_
    wide = type_.dtype.is_float and call.scheme.floats is not None
    return replace(type_, dtype=DType.F64 if wide else type_.dtype, value=None)


def _stored(call: Call, index: int, array: object) -> Array:
    return np.asarray(array).astype(call.scheme.storage(call.result(index).dtype))
