"""An application in ONNX's reference evaluator, for operators without an evaluator here.

Enters: a :class:`Call` in an ordered scheme.  Leaves: its outputs; reals are computed in float64.
"""

from __future__ import annotations

import contextlib
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import onnx

from tensat_dl.errors import TensatError
from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.model import Graph, Node, Output
from tensat_dl.graph.running.run import CannotRun, open_reference
from tensat_dl.graph.source import Source
from tensat_dl.graph.stored import numpy_type
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.soundness.arithmetic import Array, Reals, Unsupported
from tensat_dl.soundness.operators.call import Call
from tensat_dl.vocabulary.catalog import versions_of
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType, Type


def evaluate_by_reference(call: Call, opset: int = 0) -> list[Array]:
    """The outputs, the operator being written as of `opset` (0: as the language has it).  Raises
    Unsupported where that, or the reference evaluator, cannot."""
    if not call.operator.deterministic:
        raise Unsupported("random")
    if call.operator.name == "TopK" and call.attributes.get("sorted") == 0:
        raise Unsupported("ONNX leaves the order open where `sorted` is 0")
    if isinstance(call.scheme.floats, Reals):
        call.scheme.floats.exact = False
        with contextlib.suppress(Unsupported):
            return _evaluated(call, opset, wide=True)
    return _evaluated(call, opset, wide=False)


def _evaluated(call: Call, opset: int, *, wide: bool) -> list[Array]:
    """With `wide`, floats of every width are float64, where the operator has that."""
    names = tuple(None if a is None else f"i{i}" for i, a in enumerate(call.arrays))
    outputs = tuple(f"o{i}" for i in range(len(call.results)))
    types = {name: _stated(t, wide) for name, t in zip(names, call.types, strict=False) if name}
    feeds = {
        name: array.astype(_storage(types[name], array))
        for name, array in zip(names, call.arrays, strict=True)
        if name and array is not None
    }
    types |= {name: _stated(t, wide) for name, t in zip(outputs, call.results, strict=True)}
    known = {  # older versions have some of them as attributes
        name: constant_of_array(feeds.pop(name))
        for name, type_ in zip(names, call.types, strict=False)
        if name and isinstance(type_, TensorType) and type_.value is not None
    }
    versions = versions_of([call.operator])
    graph = Graph(
        inputs=tuple(feeds),
        constants=known,
        nodes=(Node(call.operator, call.attributes, names, outputs),),
        outputs=tuple(Output(name, name) for name in outputs),
        types=types,
        opsets={**versions, "": opset or versions[""]},
        source=no_source(),
    )
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings(action="ignore"):
            found = open_reference(Source(build_proto(graph))).run(feeds)
    except (CannotRun, TensatError) as reason:
        raise Unsupported(str(reason)) from None
    return [_stored(call, index, array) for index, array in enumerate(found)]


def no_source() -> Source:
    """That of a graph which comes from no model."""
    return Source(onnx.ModelProto(ir_version=10))


def _stated(type_: Type, wide: bool) -> Type:
    if not isinstance(type_, TensorType):
        return type_
    dtype = DType.F64 if wide and type_.dtype.is_float else type_.dtype
    return replace(type_, dtype=dtype, value=None)


def _storage(type_: Type, array: Array) -> np.dtype[Any]:
    return numpy_type(type_.dtype) if isinstance(type_, TensorType) else array.dtype


def _stored(call: Call, index: int, array: object) -> Array:
    return np.asarray(array).astype(call.scheme.storage(call.result(index).dtype))
