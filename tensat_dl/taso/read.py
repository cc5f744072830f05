"""A file of TASO's substitutions.

Enters: a path.  Leaves: the substitutions in their order, numbers as they stand in the file.
Raises InputError for what is no such file.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from tensat_dl.errors import InputError
from tensat_dl.reading import UnreadableError, read_bytes


@dataclass(frozen=True)
class Tensor:
    """Output `output` of operator number `operator` of its side; a negative operator is a
    variable, the same on both sides."""

    operator: int
    output: int


@dataclass(frozen=True)
class Node:
    """An operator; `kind` and the keys of `parameters` are numbers of `codes`."""

    kind: int
    inputs: tuple[Tensor, ...]
    parameters: Mapping[int, int]


@dataclass(frozen=True)
class Substitution:
    """`outputs`: pairs of a tensor of the left side and the one that replaces it."""

    left: tuple[Node, ...]
    right: tuple[Node, ...]
    outputs: tuple[tuple[Tensor, Tensor], ...]


def read_substitutions(path: Path) -> tuple[Substitution, ...]:
    """All substitutions of a file."""
    try:
        content = read_bytes(path)
    except UnreadableError as reason:
        raise InputError(f"{path} {reason}") from None
    return decode_substitutions(content, str(path))


def decode_substitutions(content: bytes, name: str) -> tuple[Substitution, ...]:
    """All substitutions of the bytes of a file."""
    if not content:
        raise InputError(f"{name}: the file is empty")
    collection = _message_classes()["RuleCollection"]()
    try:
        collection.ParseFromString(content)
    except DecodeError:
        raise _no_substitutions(name, "it is cut off, or of another kind") from None
    if _has_unknown(collection) or not collection.rule:
        raise _no_substitutions(name, "it is of another kind")
    missing = collection.FindInitializationErrors()
    if missing:
        raise _no_substitutions(name, f"`{missing[0]}` is missing")
    return tuple(_substitution(rule) for rule in collection.rule)


def _no_substitutions(name: str, why: str) -> InputError:
    return InputError(
        f"{name} is no file of TASO's substitutions: {why}",
        help="expected is a protobuf message RuleCollection, as in TASO's graph_subst.pb",
    )


def _has_unknown(message: Any) -> bool:
    if len(UnknownFieldSet(message)):
        return True
    parts = [
        part
        for field, value in message.ListFields()
        if field.message_type is not None
        for part in value
    ]
    return any(map(_has_unknown, parts))


def _substitution(rule: Any) -> Substitution:
    pairs = tuple(
        (Tensor(pair.srcOpId, pair.srcTsId), Tensor(pair.dstOpId, pair.dstTsId))
        for pair in rule.mappedOutput
    )
    return Substitution(_nodes(rule.srcOp), _nodes(rule.dstOp), pairs)


def _nodes(operators: Sequence[Any]) -> tuple[Node, ...]:
    return tuple(
        Node(
            operator.type,
            tuple(Tensor(tensor.opId, tensor.tsId) for tensor in operator.input),
            {parameter.key: parameter.value for parameter in operator.para},
        )
        for operator in operators
    )


#: Message -> its fields in the order of their numbers: a name, and the message it repeats, or ""
#: for one integer.
_SCHEMA: Mapping[str, tuple[tuple[str, str], ...]] = {
    "Parameter": (("key", ""), ("value", "")),
    "Tensor": (("opId", ""), ("tsId", "")),
    "Operator": (("type", ""), ("input", "Tensor"), ("para", "Parameter")),
    "MapOutput": (("srcOpId", ""), ("dstOpId", ""), ("srcTsId", ""), ("dstTsId", "")),
    "Rule": (("srcOp", "Operator"), ("dstOp", "Operator"), ("mappedOutput", "MapOutput")),
    "RuleCollection": (("rule", "Rule"),),
}


@cache
def _message_classes() -> Mapping[str, Any]:
    proto = descriptor_pb2.FileDescriptorProto(
        name="taso/rules.proto", package="GraphSubst", syntax="proto2"
    )
    for name, fields in _SCHEMA.items():
        message = proto.message_type.add(name=name)
        for number, (field, repeated) in enumerate(fields, start=1):
            _add_field(message, field, number, repeated)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(proto.SerializeToString())
    return {
        name: message_factory.GetMessageClass(pool.FindMessageTypeByName(f"GraphSubst.{name}"))
        for name in _SCHEMA
    }


def _add_field(message: Any, name: str, number: int, repeated: str) -> None:
    kinds = descriptor_pb2.FieldDescriptorProto
    field = message.field.add(name=name, number=number)
    if repeated:
        field.label, field.type = kinds.LABEL_REPEATED, kinds.TYPE_MESSAGE
        field.type_name = f".GraphSubst.{repeated}"
    else:
        field.label, field.type = kinds.LABEL_REQUIRED, kinds.TYPE_INT32
