"""Copying protobuf messages without the fields that are to be replaced."""

from __future__ import annotations

from collections.abc import Container

from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message import Message


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
