"""Copying protobuf messages, large ones too, and without the fields that are to be replaced.

Protobuf copies no message of more than 2 GB, but a model, or a tensor, in memory may be larger: it
is copied part by part.
"""

from __future__ import annotations

from collections.abc import Container
from typing import Any

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message

from tensat_dl.graph.tensors import inside_bytes
from tensat_dl.graph.wire import unknown_fields

#: Tensors with more bytes inside are copied field by field: as numbers they may take five times
#: what they say.
_LARGE = 1 << 28


def copy_model(proto: onnx.ModelProto, skip: Container[str] = ()) -> onnx.ModelProto:
    """A copy; `skip` are fields of the graph that stay empty."""
    copy = onnx.ModelProto()
    copy_fields(proto, copy, skip=("graph",))
    copy.graph.SetInParent()
    copy_fields(proto.graph, copy.graph, skip)
    return copy


def copy_tensor(source: onnx.TensorProto, target: onnx.TensorProto) -> None:
    """Make an empty tensor a copy of another."""
    if inside_bytes(source) > _LARGE:
        copy_fields(source, target)
    else:
        target.CopyFrom(source)


def copy_fields(source: Message, target: Message, skip: Container[str] = ()) -> None:
    """Copy every field that is set, known or not, but for those named in `skip`, which are not even
    read."""
    target.MergeFromString(unknown_fields(source))
    for field, value in source.ListFields():
        if field.name in skip:
            continue
        if _is_repeated(field):
            _extend(getattr(target, field.name), value)
        elif field.message_type is not None:
            getattr(target, field.name).CopyFrom(value)
        else:
            setattr(target, field.name, value)


def _extend(target: Any, values: Any) -> None:
    if not values or not isinstance(values[0], onnx.TensorProto):
        target.extend(values)
        return
    for tensor in values:
        copy_tensor(tensor, target.add())


def _is_repeated(field: FieldDescriptor) -> bool:
    """Newer versions of protobuf have `is_repeated` and drop `label`."""
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == FieldDescriptor.LABEL_REPEATED)
