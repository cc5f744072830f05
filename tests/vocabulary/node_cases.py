"""ONNX's own node tests as questions of type inference: what goes in, what must come out."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper

from tensat_dl.vocabulary import catalog, dtypes
from tensat_dl.vocabulary.attributes import Attributes, AttributeValue, Blob
from tensat_dl.vocabulary.canonical import canonical_attributes
from tensat_dl.vocabulary.operators import Operator
from tensat_dl.vocabulary.protos import type_of
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type

Array = NDArray[Any]


@dataclass(frozen=True)
class NodeCase:
    """`expected`: for each output its element type and content, None where that is no tensor."""

    name: str
    op: Operator
    attributes: Attributes
    inputs: tuple[Type, ...]
    expected: tuple[tuple[dtypes.DType, Array] | None, ...]


@cache
def node_cases() -> tuple[NodeCase, ...]:
    """All single-node tests whose operator means at their opset what it means at 21."""
    from onnx.backend.test.loader import load_model_tests

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        tests = load_model_tests(kind="node")
        return tuple(case for test in tests for case in _cases(test))


def _cases(test: Any) -> Iterator[NodeCase]:
    model = test.model
    node = model.graph.node[0]
    op = catalog.operator(node.op_type, node.domain)
    opsets = {entry.domain: entry.version for entry in model.opset_import}
    schema = catalog.schema_at(node.domain, node.op_type, opsets.get(node.domain, 1))
    if len(model.graph.node) != 1 or op is None or schema is None:
        return
    if not op.since <= schema.since_version <= 25:
        return
    inputs, outputs = test.data_sets[0]
    known = {v.name: _type(v, data) for v, data in zip(model.graph.input, inputs, strict=True)}
    arrays = dict(zip((v.name for v in model.graph.output), outputs, strict=True))
    expected = tuple(_expected(arrays.get(n), model.graph.output, n) for n in node.output)
    types = tuple(known[name] if name else ABSENT for name in node.input)
    given = {a.name: _value(a) for a in node.attribute}
    if not set(given) <= {a.name for a in op.attributes}:
        return
    yield NodeCase(test.name, op, canonical_attributes(op, given, types), types, expected)


def _type(info: onnx.ValueInfoProto, data: Any) -> Type:
    if info.type.WhichOneof("value") != "tensor_type":
        return type_of(info.type, info.name)
    array = _array(data)
    dtype = dtypes.from_onnx(info.type.tensor_type.elem_type)
    assert dtype is not None
    exact = dtype.is_integer or dtype is dtypes.DType.BOOL
    small = array.size <= (64 if exact else 8)
    shown = small and (exact or dtype in (dtypes.DType.F32, dtypes.DType.F64))
    return TensorType(dtype, array.shape, tuple(array.reshape(-1).tolist()) if shown else None)


def _expected(data: Any, outputs: Any, name: str) -> tuple[dtypes.DType, Array] | None:
    info = next((output for output in outputs if output.name == name), None)
    if info is None or info.type.WhichOneof("value") != "tensor_type":
        return None
    dtype = dtypes.from_onnx(info.type.tensor_type.elem_type)
    assert dtype is not None
    return dtype, _array(data)


def _array(data: Any) -> Array:
    return numpy_helper.to_array(data) if isinstance(data, onnx.TensorProto) else np.asarray(data)


def _value(attribute: onnx.AttributeProto) -> AttributeValue:
    value = onnx.helper.get_attribute_value(attribute)
    match value:
        case bytes():
            return value.decode()
        case list():
            return tuple(v.decode() if isinstance(v, bytes) else v for v in value)
        case int() | float():
            return value
    return Blob.of(attribute.name, value.SerializeToString(), value)
