"""A :class:`Piece` as a model that onnxruntime takes, with something to feed it.

Enters: a piece, the opsets of the model it is of.  Leaves: a :class:`LittleModel`, None where the
piece cannot be timed alone.  The content is made up, but for shapes, axes and indices: what an
operator takes does not depend on the numbers it works on, as long as they are ordinary ones; but
for an operator that asks each of them for its sign, which are drawn in no order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import onnx
from onnx import helper

from tensat_dl.cost.measured.piece import Call, Piece
from tensat_dl.egraph.loading import without_node_mark
from tensat_dl.graph.attributes import write_attribute
from tensat_dl.graph.stored import numpy_type
from tensat_dl.vocabulary import adapters, catalog
from tensat_dl.vocabulary.dims import SymbolicDim
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import LANGUAGE_OPSET, OperatorKind
from tensat_dl.vocabulary.types import ABSENT, TensorType, Type
from tensat_dl.vocabulary.versions.form import Form

#: Larger pieces are not timed alone: the model would not fit a message.
LARGEST = 1 << 30
#: What a batch holds at most.
BATCH = 8
_BATCH_BYTES = 256 << 20
_IR_VERSION = 10
_BLOCK = 1024
#: onnxruntime branches at the sign of each element. A guess of the processor is half of the time
#: wrong where signs are mixed, and right where they are not: that makes ten times the difference.
_BRANCHING = frozenset({"PRelu"})


@dataclass(frozen=True)
class LittleModel:
    """A model and its inputs by name."""

    proto: onnx.ModelProto
    feeds: Mapping[str, Any]


def little_model(piece: Piece, opsets: Mapping[str, int], integer: int = 1) -> LittleModel | None:
    """The model of `piece`, integers without a known value being `integer`.

    `opsets` are those of the model that it comes from; operators of the language stand at the
    language's opset, whatever that is.  None where the piece is too large or cannot be written.
    """
    if nbytes(piece) > LARGEST:
        return None
    signed = any(call.application.operator.name in _BRANCHING for call in piece.calls)
    content = {number: _content(piece.types[number], integer, signed) for number in piece.given}
    nodes = [_node(call, piece, content) for call in piece.calls]
    if any(node is None for node in nodes):
        return None
    graph = onnx.GraphProto(name="piece")
    graph.node.extend(filter(None, nodes))
    for number, array in content.items():
        if piece.given[number]:
            graph.initializer.append(onnx.numpy_helper.from_array(array, _name(number)))
        else:
            code = helper.np_dtype_to_tensor_dtype(array.dtype)
            graph.input.append(helper.make_tensor_value_info(_name(number), code, array.shape))
    graph.output.extend(_output(number, piece.types[number]) for number in piece.results)
    feeds = {_name(n): array for n, array in content.items() if not piece.given[n]}
    model = helper.make_model(graph, opset_imports=_opsets(piece, opsets), ir_version=_IR_VERSION)
    return LittleModel(model, feeds)


def empty_model() -> LittleModel:
    """A model of no nodes: what a run costs by itself."""
    value = helper.make_tensor_value_info("x", onnx.TensorProto.FLOAT, [1])
    graph = helper.make_graph([], "empty", [value], [value])
    opset = helper.make_opsetid("", LANGUAGE_OPSET)
    model = helper.make_model(graph, opset_imports=[opset], ir_version=_IR_VERSION)
    return LittleModel(model, {"x": np.ones(1, np.float32)})


def batches(pieces: Mapping[str, Piece]) -> Iterator[dict[str, Piece]]:
    """The pieces in groups that may be in memory together."""
    batch: dict[str, Piece] = {}
    for signature, piece in pieces.items():
        together = sum(map(nbytes, (*batch.values(), piece)))
        if batch and (len(batch) == BATCH or together > _BATCH_BYTES):
            yield batch
            batch = {}
        batch[signature] = piece
    if batch:
        yield batch


def _opsets(piece: Piece, opsets: Mapping[str, int]) -> list[onnx.OperatorSetIdProto]:
    wanted = {"": _opset(piece)}
    for call in piece.calls:
        operator = call.application.operator
        own = 1 if operator.kind is OperatorKind.OPAQUE else operator.since
        if operator.domain or operator.kind is not OperatorKind.ONNX:
            wanted[operator.domain] = opsets.get(operator.domain, own)
    return [helper.make_opsetid(domain, version) for domain, version in wanted.items()]


def _opset(piece: Piece) -> int:
    """The language's, raised for operators that came later."""
    return catalog.versions_of(call.application.operator for call in piece.calls)[""]


def _node(call: Call, piece: Piece, content: Mapping[int, Any]) -> onnx.NodeProto | None:
    operator = call.application.operator
    by_name = {_name(number): array for number, array in content.items()}
    form = Form(
        operator.name,
        without_node_mark(call.application.attributes).as_dict(),
        tuple(None if number is None else _name(number) for number in call.inputs),
        tuple(ABSENT if number is None else piece.types[number] for number in call.inputs),
        len(call.outputs),
        by_name.get,
    )
    lowered = adapters.lower(operator, form, operator.since if operator.domain else _opset(piece))
    if lowered is None:
        return None
    node = onnx.NodeProto(op_type=lowered.op_type, domain=lowered.domain)
    node.input.extend(name or "" for name in lowered.inputs)
    node.output.extend(_outputs(call))
    for name, value in sorted(lowered.attributes.items()):
        node.attribute.append(write_attribute(name, value, operator.attribute(name)))
    return node


def _outputs(call: Call) -> list[str]:
    """Optional outputs that nothing reads are left out; others get a name nobody asks for."""
    formals = call.application.operator.outputs
    names = []
    for place, number in enumerate(call.outputs):
        optional = place < len(formals) and formals[place].optional
        unread = "" if optional else f"unread{place}"
        names.append(unread if number is None else _name(number))
    while names and not names[-1]:
        names.pop()
    return names


def _output(number: int, type_: Type) -> onnx.ValueInfoProto:
    assert isinstance(type_, TensorType), "pieces give tensors"
    return helper.make_tensor_value_info(_name(number), type_.dtype.onnx_code, None)


def _name(number: int) -> str:
    return f"v{number}"


def nbytes(piece: Piece) -> int:
    """Bytes of what it is given."""
    return sum(_size(piece.types[number]) for number in piece.given)


def _size(type_: Type) -> int:
    size = type_.nbytes if isinstance(type_, TensorType) else None
    assert size is not None, "pieces are given tensors of known dims"
    return size


def _content(type_: Type, integer: int, signed: bool) -> Any:
    assert isinstance(type_, TensorType) and type_.dims is not None, "pieces are given tensors"
    dtype, dims = numpy_type(type_.dtype), _numbers(type_)
    if type_.value is not None:
        return np.array(type_.value, dtype=dtype).reshape(dims)
    if type_.dtype is DType.STRING:
        return np.full(dims, "a", dtype=object)
    if type_.dtype.is_float and type_.dtype.bits >= 16:
        random = np.random.default_rng(0)
        content = np.resize(random.uniform(0.5, 1.5, _BLOCK).astype(dtype), dims)
        return (
            np.where(random.integers(2, size=dims) == 0, -content, content) if signed else content
        )
    return np.full(dims, integer, dtype=dtype)


def _numbers(type_: TensorType) -> tuple[int, ...]:
    return tuple(int(dim) for dim in type_.dims or () if not isinstance(dim, SymbolicDim))
