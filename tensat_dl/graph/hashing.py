"""The digest of a tensor's content: equal for equal element type, dims and bytes.

Enters: those, the bytes in pieces or whole, wherever they are stored.  Leaves: the digest, SHA-256
of the SHA-256 of each `PIECE` bytes, so that the pieces of large weights are hashed side by side.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import chain, islice

from tensat_dl.resources import processors

#: Bytes of a piece; data that comes in parts comes in parts of this size.
PIECE = 1 << 24

Buffer = bytes | memoryview


def digest_of_bytes(code: int, dims: Iterable[int], data: Buffer) -> str:
    """Of a tensor of ONNX's element type `code`, whose data is in memory."""
    whole = memoryview(data)
    pieces = (whole[start : start + PIECE] for start in range(0, len(whole), PIECE))
    return digest_of_pieces(code, dims, pieces)


def digest_of_pieces(code: int, dims: Iterable[int], pieces: Iterable[Buffer]) -> str:
    """The same of data in pieces of `PIECE` bytes, the last of which may be shorter."""
    digest = hashlib.sha256(_header(code, dims))
    for piece in _hashed(pieces):
        digest.update(piece)
    return digest.hexdigest()


def digest_of_texts(code: int, dims: Iterable[int], texts: Iterable[bytes]) -> str:
    """Of a tensor of texts."""
    digest = hashlib.sha256(_header(code, dims))
    for text in texts:
        digest.update(b"%d:%s" % (len(text), text))
    return digest.hexdigest()


def _header(code: int, dims: Iterable[int]) -> bytes:
    return f"{code}:{','.join(map(str, dims))}:".encode()


def _hashed(pieces: Iterable[Buffer]) -> Iterator[bytes]:
    """Their digests in order; one piece more is held than can be hashed at a time."""
    rest = iter(pieces)
    first = list(islice(rest, 2))
    if len(first) < 2:
        yield from map(_sha256, first)
        return
    workers = processors()
    waiting: deque[Future[bytes]] = deque()
    with ThreadPoolExecutor(workers) as pool:
        for piece in chain(first, rest):
            waiting.append(pool.submit(_sha256, piece))
            if len(waiting) > workers:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _sha256(piece: Buffer) -> bytes:
    return hashlib.sha256(piece).digest()
