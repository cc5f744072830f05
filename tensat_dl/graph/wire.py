"""What protobuf writes, where its messages do not tell: lengths, and fields it does not know.

Models of a newer ONNX have fields that the installed one does not know.  Protobuf keeps them in a
message, and copies them with the whole message only.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import IntEnum

from google.protobuf.message import Message
from google.protobuf.unknown_fields import UnknownFieldSet


class Kind(IntEnum):
    """How a field is written, in the lowest three bits of its tag."""

    VARINT = 0
    FIXED64 = 1
    LENGTH = 2
    GROUP = 3
    END_OF_GROUP = 4
    FIXED32 = 5


def tag(number: int, kind: Kind) -> bytes:
    """What stands before a field of that number."""
    return varint(number << 3 | kind)


def varint(number: int) -> bytes:
    """Seven bits a byte, the lowest first; all bytes but the last have the eighth bit set."""
    digits = []
    while number > 0x7F:
        digits.append(number & 0x7F | 0x80)
        number >>= 7
    return bytes([*digits, number])


def has_unknown_fields(message: Message) -> bool:
    """The message itself has some; those inside it are not looked at."""
    return bool(len(UnknownFieldSet(message)))


def unknown_fields(message: Message) -> bytes:
    """Those of the message itself, to be merged into another."""
    return b"".join(_fields(UnknownFieldSet(message)))


def _fields(found: UnknownFieldSet) -> Iterator[bytes]:
    for field in found:
        number, kind, data = field.field_number, Kind(field.wire_type), field.data
        yield tag(number, kind)
        match kind:
            case Kind.VARINT:
                yield varint(data)
            case Kind.FIXED64:
                yield data.to_bytes(8, "little")
            case Kind.FIXED32:
                yield data.to_bytes(4, "little")
            case Kind.LENGTH:
                yield varint(len(data)) + data
            case Kind.GROUP:
                yield from _fields(data)
                yield tag(number, Kind.END_OF_GROUP)
