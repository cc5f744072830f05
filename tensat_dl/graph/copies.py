"""Copying protobuf messages without the fields that are to be replaced."""

from __future__ import annotations

from collections.abc import Container

import onnx
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message


def copy_model(proto: onnx.ModelProto, skip: Container[str] = ()) -> onnx.ModelProto:
    """A copy, made tensor by tensor, as protobuf copies no message of more than 2 GB; `skip` are
    fields of the graph that stay empty."""
    copy = onnx.ModelProto()
    copy_fields(proto, copy, skip=("graph",))
    copy.graph.SetInParent()
    copy_fields(proto.graph, copy.graph, skip)
    return copy


def copy_fields(source: Message, target: Message, skip: Container[str] = ()) -> None:
    """Copy every field that is set, but for those named in `skip`, which are not even read."""
    for field, value in source.ListFields():
        if field.name in skip:
            continue
        if _is_repeated(field):
            getattr(target, field.name).extend(value)
        elif field.message_type is not None:
            getattr(target, field.name).CopyFrom(value)
        else:
            setattr(target, field.name, value)


def _is_repeated(field: FieldDescriptor) -> bool:
    """Newer versions of protobuf have `is_repeated` and drop `label`."""
    if hasattr(field, "is_repeated"):
        return bool(field.is_repeated)
    return bool(field.label == FieldDescriptor.LABEL_REPEATED)
