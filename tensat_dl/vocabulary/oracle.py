"""ONNX's own type inference, asked about one application.

Enters: a :class:`Question`.  Leaves: output types with None for dims that ONNX does not know, or
Refusal with ONNX's reason.  Symbols go in as names and come back as the dims they stand for.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from functools import cache, lru_cache

import numpy as np
from onnx import (
    AttributeProto,
    NodeProto,
    OperatorSetIdProto,
    TensorProto,
    TypeProto,
    checker,
    helper,
    numpy_helper,
    shape_inference,
)
from onnx.defs import OpSchema

from tensat_dl.vocabulary import dtypes
from tensat_dl.vocabulary.attributes import AttributeValue, Blob
from tensat_dl.vocabulary.catalog import schema_at, version_of
from tensat_dl.vocabulary.dims import Dim, SymbolicDim, unknown
from tensat_dl.vocabulary.operators import AttributeKind, FormalAttribute
from tensat_dl.vocabulary.protos import proto_of, type_of
from tensat_dl.vocabulary.question import Question, Refusal, Shape
from tensat_dl.vocabulary.types import OtherType, TensorType, Type, type_text

#: A type as ONNX knows it: element type with dims, or anything else as it is.
Answer = tuple[dtypes.DType, Shape] | OtherType

#: Newer versions that only widened the element types of operators are asked when opset 21
#: refuses an element type.
NEWEST_VERSION = 25

#: Lists that ONNX takes for missing where their rank is not known, and answers wrongly.
_LISTS: Mapping[str, tuple[int, ...]] = {"Pad": (1, 3), "Slice": (1, 2, 3, 4)}

#: Outputs of which ONNX takes dims for 0, or for none, that it does not know: operator, place, and
#: rank of the first input, 0 where that is not known.
_MISINFERRED = frozenset(
    {("Attention", 0, 3), ("Attention", 3, 3), ("Attention", 3, 4), ("Attention", 3, 0)}
)

_FAILURES = (
    shape_inference.InferenceError,
    checker.ValidationError,
    RuntimeError,
    ValueError,
    IndexError,
    TypeError,
)


def ask(question: Question, version: int | None = None) -> list[Answer | None]:
    """ONNX's answer, one entry an output; None where it has none.

    `version` is that of the operator's domain; the language's by default.
    """
    domain = question.op.domain
    asked = version_of(question.op.name, domain) if version is None else version
    schema = schema_at(domain, question.op.name, asked)
    if schema is None:
        return [None] * question.outputs
    try:
        node, types, data = _application(question)
    except (OverflowError, ValueError, TypeError) as error:
        raise Refusal(f"ONNX cannot hold this: {_reason(error)}") from None
    try:
        found = _infer(schema, node, types, data, asked)
    except _FAILURES as error:
        found = _ask_newest(question, schema, node, types, data, error)
    answers = [_answer(found.get(name), question) for name in node.output]
    return [
        (answer[0], None)
        if isinstance(answer, tuple) and is_misinferred(node.op_type, place, question.inputs)
        else answer
        for place, answer in enumerate(answers)
    ]


def is_misinferred(op_type: str, place: int, inputs: Iterable[Type]) -> bool:
    """ONNX's dims of that output cannot be believed."""
    shapes = [given.dims for given in inputs if isinstance(given, TensorType)]
    if not shapes or (op_type, place, len(shapes[0] or ())) not in _MISINFERRED:
        return False
    return not all(isinstance(dim, int) for shape in shapes for dim in shape or (None,))


def _ask_newest(
    question: Question,
    schema: OpSchema,
    node: NodeProto,
    types: dict[str, TypeProto],
    data: dict[str, TensorProto],
    error: BaseException,
) -> dict[str, TypeProto]:
    newest = schema_at(question.op.domain, question.op.name, NEWEST_VERSION)
    widened = newest is not None and newest.since_version > schema.since_version
    if newest is None or not widened or "unsupported type" not in str(error):
        raise Refusal(_reason(error)) from None
    try:
        return _infer(newest, node, types, data, NEWEST_VERSION)
    except _FAILURES as again:
        raise Refusal(_reason(again)) from None


def _infer(
    schema: OpSchema,
    node: NodeProto,
    types: dict[str, TypeProto],
    data: dict[str, TensorProto],
    version: int,
) -> dict[str, TypeProto]:
    return shape_inference.infer_node_outputs(
        schema, node, types, data, None, [_opset(schema.domain, version)], 10
    )


@cache
def _opset(domain: str, version: int) -> OperatorSetIdProto:
    return helper.make_opsetid(domain, version)


def _application(
    question: Question,
) -> tuple[NodeProto, dict[str, TypeProto], dict[str, TensorProto]]:
    op = question.op
    node = NodeProto(op_type=op.name, domain=op.domain)
    types: dict[str, TypeProto] = {}
    data: dict[str, TensorProto] = {}
    names: dict[Type, str] = {}  # inputs of one type are one input several times
    for index, said in enumerate(question.inputs):
        given = _as_list(said) if index in _LISTS.get(op.name, ()) else said
        if given not in names:
            proto = proto_of(given)
            if proto is None and question.has(index):
                shown = type_text(given)
                raise Refusal(f"the type {shown} of `{question.name(index)}` is not known to ONNX")
            names[given] = name = "" if proto is None else f"i{index}"
            if proto is not None:
                types[name] = proto
                data.update((name, tensor) for tensor in _constant(given))
        node.input.append(names[given])
    node.output.extend(f"o{index}" for index in range(question.outputs))
    for name, value in question.attributes.items:
        node.attribute.append(_attribute_proto(name, value, op.attribute(name)))
    return node, types, data


def _as_list(given: Type) -> Type:
    """The type with the rank that the operator asks for."""
    if not isinstance(given, TensorType) or given.dims is not None:
        return given
    return replace(given, dims=(unknown("length"),))


def _constant(given: object) -> Iterator[TensorProto]:
    """The input as a TensorProto where its value is known and holds numbers only."""
    if not isinstance(given, TensorType) or given.value is None or given.dims is None:
        return
    if any(isinstance(item, SymbolicDim) for item in (*given.value, *given.dims)):
        return
    numpy_type = helper.tensor_dtype_to_np_dtype(given.dtype.onnx_code)
    with np.errstate(over="ignore"):  # numbers beyond the largest are infinite
        array = np.array(given.value, dtype=numpy_type)
    yield numpy_helper.from_array(array.reshape(given.dims))  # type: ignore[arg-type]


def _attribute_proto(
    name: str, value: AttributeValue, formal: FormalAttribute | None
) -> AttributeProto:
    """The attribute as ONNX has it; `formal` tells the type of an empty list."""
    if isinstance(value, Blob):
        return _blob_proto(name, value)
    # 1 and 1.0 are equal keys but other attributes.
    items = value if isinstance(value, tuple) else (value,)
    return _plain_proto(name, value, formal, tuple(map(type, items)))


@lru_cache(maxsize=4096)
def _plain_proto(
    name: str,
    value: AttributeValue,
    formal: FormalAttribute | None,
    types: tuple[type, ...],
) -> AttributeProto:
    if value == ():
        kinds = {
            AttributeKind.FLOATS: AttributeProto.FLOATS,
            AttributeKind.STRINGS: AttributeProto.STRINGS,
        }
        kind = kinds.get(formal.kind, AttributeProto.INTS) if formal else AttributeProto.INTS
        return AttributeProto(name=name, type=kind)
    return helper.make_attribute(name, value)


def _blob_proto(name: str, blob: Blob) -> AttributeProto:
    if isinstance(blob.payload, tuple):
        raise Refusal(f"the attribute `{name}` is a list of {blob.kind}")
    return helper.make_attribute(name, blob.payload)


def _answer(proto: TypeProto | None, question: Question) -> Answer | None:
    if proto is None or proto.WhichOneof("value") is None:
        return None
    if proto.WhichOneof("value") != "tensor_type":
        found = type_of(proto, "")
        return found if isinstance(found, OtherType) else None
    dtype = dtypes.from_onnx(proto.tensor_type.elem_type)
    if dtype is None:
        return None
    if not proto.tensor_type.HasField("shape"):
        return dtype, None
    names = _names(question)
    return dtype, [_dim(dim, names) for dim in proto.tensor_type.shape.dim]


def _dim(dim: object, names: dict[str, Dim]) -> Dim | None:
    size = getattr(dim, "dim_value", 0)
    if dim.HasField("dim_value"):  # type: ignore[attr-defined]
        return int(size)
    return names.get(getattr(dim, "dim_param", ""))


def _names(question: Question) -> dict[str, Dim]:
    tensors = (given for given in question.inputs if isinstance(given, TensorType))
    return {str(dim): dim for tensor in tensors for dim in tensor.dims or ()}


def _reason(error: BaseException) -> str:
    text = str(error).strip().split("\n")[0]
    for prefix in ("[ShapeInferenceError] ", "[TypeInferenceError] "):
        text = text.removeprefix(prefix)
    return text
