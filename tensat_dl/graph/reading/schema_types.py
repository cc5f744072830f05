"""Types of what opaque nodes give for which ONNX has no inference at their version.

Enters: a node, the types of what it reads, and what ONNX infers.  Leaves: types for the outputs
without any, or without a rank: the element type, where the operator's schema allows one alone, and
the dims of our own shape functions.  These are mostly operators of ai.onnx.ml in their first
versions, the way tree ensembles are exported.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import zip_longest

import onnx

from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.catalog import opaque, schema_at
from tensat_dl.vocabulary.dims import Dim, unknown
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.question import Question, Shape
from tensat_dl.vocabulary.shapes import classical
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type

_TENSOR = re.compile(r"tensor\((\w+)\)")


def types_by_schema(
    node: onnx.NodeProto, version: int, types: Mapping[str, Type], found: Mapping[str, Type]
) -> dict[str, Type]:
    """Output -> type, for those of `node`, of that version of its domain, that `found` lacks."""
    schema = schema_at(node.domain, node.op_type, version)
    outputs = () if schema is None else schema.outputs
    completed: dict[str, Type] = {}
    for name, formal, shape in zip_longest(node.output, outputs, _shapes(node, version, types)):
        if not name or formal is None:
            continue
        known = found.get(name)
        dtype = known.dtype if isinstance(known, TensorType) else _only(formal.types)
        ranked = known is not None and not (isinstance(known, TensorType) and known.dims is None)
        if dtype is not None and not ranked:
            completed[name] = TensorType(dtype, _named(shape, name))
    return completed


def _shapes(node: onnx.NodeProto, version: int, types: Mapping[str, Type]) -> list[Shape]:
    if node.domain != "ai.onnx.ml" or node.op_type not in classical.SHAPES:
        return []
    given = tuple(types[name] if name else ABSENT for name in node.input)
    operator = opaque(node.domain, node.op_type, version)
    question = Question(operator, Attributes(), given, len(node.output))
    return classical.SHAPES[node.op_type](question)


def _named(shape: Shape, name: str) -> tuple[Dim, ...] | None:
    if shape is None:
        return None
    return tuple(
        unknown(f"{name}[{axis}]") if dim is None else dim for axis, dim in enumerate(shape)
    )


def _only(allowed: Iterable[str]) -> DType | None:
    """The element type of the one tensor type that a schema allows."""
    matches = [_TENSOR.fullmatch(text) for text in allowed]
    if len(matches) != 1 or matches[0] is None:
        return None
    return dtypes.from_onnx(onnx.TensorProto.DataType.Value(matches[0][1].upper()))
