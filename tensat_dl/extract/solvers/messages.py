"""What the session and its worker process say to each other: pickled dataclasses over pipes."""

from __future__ import annotations

import pickle
import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO

from tensat_dl.extract.program import Program, Row
from tensat_dl.extract.solvers.answer import SolverAnswer, SolverProgress
from tensat_dl.extract.solvers.table import Solver
from tensat_dl.settings import SettingValue

_HEADER = struct.Struct("<Q")


@dataclass(frozen=True)
class Load:
    """Start anew with this program."""

    program: Program
    solver: Solver
    options: Mapping[str, SettingValue]


@dataclass(frozen=True)
class AddRows:
    """Add rows to the program that is loaded."""

    rows: tuple[Row, ...]


@dataclass(frozen=True)
class Solve:
    """Solve until `time.monotonic()`, which all processes share, is `until`; answered by any
    number of SolverProgress and one SolverAnswer.  `relaxed`: the linear relaxation."""

    until: float
    gap: float
    relaxed: bool = False


Request = Load | AddRows | Solve
Reply = SolverProgress | SolverAnswer


def encode(message: Request | Reply) -> bytes:
    """A message with its length before it."""
    data = pickle.dumps(message, protocol=pickle.HIGHEST_PROTOCOL)
    return _HEADER.pack(len(data)) + data


def read_request(stream: BinaryIO) -> Request | None:
    """The next request, None at the end of the stream."""
    header = stream.read(_HEADER.size)
    if len(header) < _HEADER.size:
        return None
    (size,) = _HEADER.unpack(header)
    request: Request = pickle.loads(stream.read(size))
    return request


class ReplyBuffer:
    """Collects bytes as they come and gives the replies that are complete."""

    def __init__(self) -> None:
        self._data = b""

    def feed(self, data: bytes) -> list[Reply]:
        """Replies completed by `data`."""
        self._data += data
        replies: list[Reply] = []
        while len(self._data) >= _HEADER.size:
            (size,) = _HEADER.unpack(self._data[: _HEADER.size])
            end = _HEADER.size + size
            if len(self._data) < end:
                break
            replies.append(pickle.loads(self._data[_HEADER.size : end]))
            self._data = self._data[end:]
        return replies
