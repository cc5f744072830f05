"""Can every part of the model be read at all?

Enters: a model as protobuf parsed it.  Raises InputError where text is not UTF-8, an attribute
has no type, or a version is out of range: protobuf lets all of that pass.  So it does for an
equation that ONNX's inference, and onnxruntime with it, would read forever.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tensat_dl.errors import InputError
from tensat_dl.graph.source import plain_domain
from tensat_dl.vocabulary.equations import endless_term

#: Versions are 32-bit numbers to ONNX's own tools.
_VERSIONS = range(1 << 31)


def require_readable(proto: onnx.ModelProto, what: str) -> None:
    """Raise InputError for the first part that cannot be read."""
    for entry in proto.opset_import:
        if entry.version not in _VERSIONS:
            raise InputError(
                f"{what} imports version {entry.version} of {entry.domain or 'ai.onnx'}, which is "
                "no version",
                help="export the model again",
            )
    try:
        _visit(proto, what)
    except UnicodeDecodeError:
        raise _not_text(what) from None


def _visit(message: Message, what: str) -> None:
    """Check a message and all in it, but for tensors: their data is not text."""
    fields = message.ListFields()
    _check(message, fields, what)
    for field, value in fields:
        if field.type != FieldDescriptor.TYPE_MESSAGE:
            continue
        for inner in [value] if isinstance(value, Message) else value:
            if not isinstance(inner, onnx.TensorProto):
                _visit(inner, what)


def _check(message: Message, fields: Sequence[tuple[FieldDescriptor, Any]], what: str) -> None:
    if isinstance(message, onnx.AttributeProto) and not message.type and not message.ref_attr_name:
        raise InputError(
            f"{what}: the attribute '{message.name}' of a node has no type",
            help="onnxruntime refuses such models too; export the model again",
        )
    if isinstance(message, onnx.NodeProto) and message.op_type == "Einsum":
        _check_equation(message, what)
    for field, value in fields:
        if field.type == FieldDescriptor.TYPE_STRING:
            texts = [value] if isinstance(value, str | bytes) else value
            if any(isinstance(text, bytes) for text in texts):
                raise _not_text(what)


def _check_equation(node: onnx.NodeProto, what: str) -> None:
    equations = (a.s.decode(errors="replace") for a in node.attribute if a.name == "equation")
    fault = next(filter(None, map(endless_term, equations)), "")
    if fault and not plain_domain(node.domain):
        raise InputError(
            f"{what}: the Einsum node that makes '{', '.join(node.output)}': {fault}",
            help="neither ONNX nor onnxruntime can read it; mend the equation",
        )


def _not_text(what: str) -> InputError:
    return InputError(
        f"{what} holds names or comments that are not UTF-8 text",
        help="export the model again, with ASCII names",
    )
