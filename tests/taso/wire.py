"""Substitution files, byte by byte: the wire format of protobuf, written by hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from tensat_dl.taso.read import Node, Substitution, Tensor


def varint(value: int) -> bytes:
    """Negative numbers are written as of 64 bits."""
    value %= 1 << 64
    found = bytearray()
    while value >= 128:
        found.append(value % 128 + 128)
        value //= 128
    return bytes([*found, value])


def number(field: int, value: int) -> bytes:
    return varint(field * 8) + varint(value)


def message(field: int, content: bytes) -> bytes:
    return varint(field * 8 + 2) + varint(len(content)) + content


def numbers(*values: int) -> bytes:
    return b"".join(number(field, value) for field, value in enumerate(values, start=1))


def encode(substitutions: Iterable[Substitution]) -> bytes:
    """The bytes of a file."""
    return b"".join(message(1, _substitution(each)) for each in substitutions)


def _substitution(substitution: Substitution) -> bytes:
    left = b"".join(message(1, _node(node)) for node in substitution.left)
    right = b"".join(message(2, _node(node)) for node in substitution.right)
    pairs = b"".join(
        message(3, numbers(one.operator, other.operator, one.output, other.output))
        for one, other in substitution.outputs
    )
    return left + right + pairs


def _node(node: Node) -> bytes:
    inputs = b"".join(message(2, numbers(t.operator, t.output)) for t in node.inputs)
    parameters = b"".join(message(3, numbers(*pair)) for pair in node.parameters.items())
    return number(1, node.kind) + inputs + parameters


def node(
    kind: int, *inputs: int | tuple[int, int], parameters: Mapping[int, int] | None = None
) -> Node:
    """An operator that reads first outputs, or (operator, output)."""
    pairs = [(each, 0) if isinstance(each, int) else each for each in inputs]
    return Node(kind, tuple(Tensor(*pair) for pair in pairs), dict(parameters or {}))


def substitution(
    left: Sequence[Node],
    right: Sequence[Node],
    *outputs: tuple[int | tuple[int, int], int | tuple[int, int]],
) -> Substitution:
    """`outputs`: pairs; by default the last operator of each side."""
    pairs = outputs or ((len(left) - 1, len(right) - 1),)
    return Substitution(
        tuple(left), tuple(right), tuple((_tensor(one), _tensor(other)) for one, other in pairs)
    )


def _tensor(place: int | tuple[int, int]) -> Tensor:
    return Tensor(place, 0) if isinstance(place, int) else Tensor(*place)
