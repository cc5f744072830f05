"""Types of an application: ONNX's inference, our own checks and completions, folded values.

Enters: operator, canonical attributes, input types, number of outputs.  Leaves: one type an
output, or a :class:`TypeFault` that says why there is none; nothing raises.  Answers are cached.

A dim that nobody knows becomes a symbol named by the question.  Where the output's dims depend
on contents that the input types do not hold, that symbol is ambiguous (see `dims`), unless the
caller names the tensor by `identity`: then it is unknown, but its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING

from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.catalog import VERSIONS
from tensat_dl.vocabulary.dims import Dim, unknown
from tensat_dl.vocabulary.equations import endless_term
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.question import Question, Refusal, Shape
from tensat_dl.vocabulary.refine import meet, meet_dims
from tensat_dl.vocabulary.types import (
    UNDECLARED,
    Number,
    OtherType,
    TensorType,
    Type,
    TypeFault,
)

if TYPE_CHECKING:
    from tensat_dl.vocabulary.oracle import Answer

#: Inputs whose *contents* settle the dims of the outputs; None: all of them, at any length.
CONTENTS: Mapping[str, tuple[int, ...] | None] = {
    "AffineGrid": (1,),
    "BlackmanWindow": (0,),
    "CenterCropPad": (1,),
    "Col2Im": (1, 2),
    "Compress": None,
    "ConcatFromSequence": None,
    "ConstantOfShape": (0,),
    "DFT": (1, 2),
    "Expand": (1,),
    "HammingWindow": (0,),
    "HannWindow": (0,),
    "ImageDecoder": None,
    "MaxUnpool": (2,),
    "MelWeightMatrix": None,
    "NonMaxSuppression": None,
    "NonZero": None,
    "OneHot": (1,),
    "OptionalGetElement": None,
    "Pad": (1, 3),
    "Range": None,
    "Reshape": (1,),
    "Resize": (1, 2, 3),
    "STFT": (1, 3),
    "SequenceAt": None,
    "SequenceErase": None,
    "SequenceInsert": None,
    "Slice": (1, 2, 3, 4),
    "Split": (1,),
    "SplitToSequence": None,
    "Squeeze": (1,),
    "StringSplit": None,
    "Tile": (1,),
    "TopK": (1,),
    "Unique": None,
    "Unsqueeze": (1,),
    **{
        f"Reduce{name}": (1,)
        for name in (
            "L1", "L2", "LogSum", "LogSumExp", "Max", "Mean", "Min", "Prod", "Sum", "SumSquare",
        )
    },
}  # fmt: skip


def infer(
    op: Operator,
    attributes: Attributes,
    inputs: tuple[Type, ...],
    outputs: int,
    identity: str = "",
) -> tuple[Type, ...] | TypeFault:
    """The types of the outputs of `op` applied to tensors of types `inputs`."""
    found, unnamed = _infer(op, attributes, inputs, outputs, "")
    if not (identity and unnamed):
        return found
    return _infer(op, attributes, inputs, outputs, identity)[0]


@lru_cache(maxsize=1 << 16)
def _infer(
    op: Operator, attributes: Attributes, inputs: tuple[Type, ...], outputs: int, identity: str
) -> tuple[tuple[Type, ...] | TypeFault, bool]:
    """The types, and whether there are dims that nobody knows: only these go by `identity`."""
    if op.kind is not OperatorKind.ONNX:
        return infer_opaque(op, attributes, inputs, outputs, None, identity), True
    question = Question(op, attributes, inputs, outputs)
    fault = _fault_of_form(question)
    if fault:
        return TypeFault(fault), False
    try:
        return _answer(question, identity)
    except Refusal as refusal:
        return TypeFault(str(refusal)), False


def infer_opaque(
    op: Operator,
    attributes: Attributes,
    inputs: tuple[Type, ...],
    outputs: int,
    declared: Sequence[Type] | None,
    identity: str = "",
) -> tuple[Type, ...]:
    """The types of an operator that is only carried along: what the model declares, refined by
    what ONNX infers at the operator's own version; :data:`UNDECLARED` where neither says."""
    stated: list[Type] = list(declared or ())[:outputs]
    stated += [UNDECLARED] * (outputs - len(stated))
    question = Question(op, attributes, inputs, outputs)
    found = [
        _opaque_type(answer, question, identity, index)
        for index, answer in enumerate(_opaque_answers(question))
    ]
    pairs = zip(stated, found, strict=True)
    return tuple(left if (met := meet(left, right)) is None else met for left, right in pairs)


def _fault_of_form(question: Question) -> str:
    """What is wrong with the number of inputs, outputs, or with attributes; "" if nothing."""
    op, given = question.op, question.inputs
    if len(given) > len(op.inputs) and not op.is_variadic:
        return f"`{op.name}` takes at most {len(op.inputs)} inputs, not {len(given)}"
    if question.outputs > len(op.outputs) and not (op.outputs and op.outputs[-1].variadic):
        return f"`{op.name}` has at most {len(op.outputs)} outputs, not {question.outputs}"
    for index, formal in enumerate(op.inputs):
        if not question.has(index) and not (formal.optional or index >= op.min_inputs):
            return f"`{op.name}` needs the input `{formal.name}`"
    for attribute in op.attributes:
        if attribute.required and attribute.name not in question.attribute_values:
            return f"`{op.name}` needs the attribute `{attribute.name}`"
    if (op.domain, op.name) == ("", "Einsum"):  # ONNX would not come to an end
        return endless_term(question.text("equation"))
    return ""


def _answer(question: Question, identity: str) -> tuple[tuple[Type, ...], bool]:
    from tensat_dl.vocabulary import oracle, values
    from tensat_dl.vocabulary.shapes import SHAPES

    ours = SHAPES[question.op.name](question) if _has_shapes(question) else []
    answers = oracle.ask(question)
    types: list[Type] = []
    unnamed = False
    for index, answer in enumerate(answers):
        own = ours[index] if index < len(ours) else None
        if answer is None:
            types.append(UNDECLARED)
        elif isinstance(answer, OtherType):
            types.append(answer)
        else:
            shape = _joined(own, answer[1])
            unnamed |= shape is not None and None in shape
            types.append(TensorType(answer[0], _named(shape, question, identity, index)))
    folded = values.fold(question, types)
    valued = tuple(map(_with_value, types, folded))
    fill = values.fill_of(question)
    if fill is not None:
        valued = tuple(_with_fill(type_, fill) for type_ in valued)
    return valued, unnamed


def _has_shapes(question: Question) -> bool:
    from tensat_dl.vocabulary.shapes import SHAPES

    return question.op.domain in VERSIONS and question.op.name in SHAPES


def _with_value(type_: Type, array: object) -> Type:
    from tensat_dl.vocabulary.values import Array, flat

    if array is None or not isinstance(type_, TensorType):
        return type_
    known: Array = array  # type: ignore[assignment]
    return TensorType(type_.dtype, known.shape, flat(known))


def _with_fill(type_: Type, fill: Number) -> Type:
    if not isinstance(type_, TensorType) or type_.value is not None:
        return type_
    return replace(type_, fill=fill)


def _joined(own: Shape, onnx: Shape) -> Shape:
    """Ours where it knows, ONNX's elsewhere; numbers win over symbols."""
    if own is None or onnx is None:
        return onnx if own is None else own
    if len(own) != len(onnx):
        raise Refusal(f"dims {list(map(str, own))} and {list(map(str, onnx))} do not agree")
    return [_joined_dim(left, right) for left, right in zip(own, onnx, strict=True)]


def _joined_dim(own: Dim | None, onnx: Dim | None) -> Dim | None:
    if own is None or onnx is None:
        return onnx if own is None else own
    if isinstance(own, int):
        return own
    met = meet_dims(own, onnx) if isinstance(onnx, int) else own
    if met is None:
        raise Refusal(f"a dim would be both {own} and {onnx}")
    return met


def _named(shape: Shape, question: Question, identity: str, index: int) -> tuple[Dim, ...] | None:
    """The dims of output `index`, those that nobody knows named by the question."""
    if shape is None:
        return None
    known = tuple(dim for dim in shape if dim is not None)
    if len(known) == len(shape):
        return known
    owner = f"{_owner(question, identity)} {index}"
    ambiguous = not identity and _is_ambiguous(question)
    return tuple(
        unknown(f"{owner} {axis}", ambiguous=ambiguous) if dim is None else dim
        for axis, dim in enumerate(shape)
    )


def _owner(question: Question, identity: str) -> str:
    """The text that names a question; `identity` alone where there is one."""
    if identity:
        return f"tensor {identity}"
    given = "; ".join(map(repr, question.inputs))
    name = f"{question.op.qualified_name} {question.op.kind.value} {question.outputs}"
    return f"{name} {question.attributes!r} {given}"


def _is_ambiguous(question: Question) -> bool:
    """The input types do not settle the output's dims."""
    if question.op.kind is OperatorKind.OPAQUE:
        return True
    if question.op.domain or question.op.name not in CONTENTS:
        return bool(question.op.domain)
    indices = CONTENTS[question.op.name]
    looked_at = range(len(question.inputs)) if indices is None else indices
    return any(question.has(index) and question.value(index) is None for index in looked_at)


def _opaque_answers(question: Question) -> list[Answer | None]:
    from tensat_dl.vocabulary import oracle

    if question.op.kind is not OperatorKind.OPAQUE or _has_subgraph(question):
        return [None] * question.outputs
    try:
        return oracle.ask(question, question.op.since)
    except Refusal:
        return [None] * question.outputs


def _has_subgraph(question: Question) -> bool:
    values = question.attribute_values.values()
    return any(getattr(value, "kind", "") in ("graph", "graphs") for value in values)


def _opaque_type(answer: Answer | None, question: Question, identity: str, index: int) -> Type:
    if answer is None:
        return UNDECLARED
    if isinstance(answer, OtherType):
        return answer
    return TensorType(answer[0], _named(answer[1], question, identity, index))
