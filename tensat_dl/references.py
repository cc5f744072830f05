"""Other files that a file names, found by a look at its bytes.

Enters: paths of rule files, of a model.  Leaves: the rule files that they import, the files where
the model's weights are.  Sooner too many than too few: they are not to be written over, which is to
be known before anything is read in earnest.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from mmap import ACCESS_READ, mmap
from pathlib import Path

from tensat_dl.reading import UnreadableError, read_bytes, why_no_file

_IMPORT = re.compile(rb'^[ \t]*import\s+"([^"\n]+)"', re.MULTILINE)
#: A rule file has fewer bytes.
_MOST = 1 << 24

#: How protobuf writes the entry that says where external data is: key, and before its length the
#: value's tag.
_LOCATION = b"\n\x08location\x12"
#: A path has fewer bytes.
_LONGEST = 1 << 14


def imported_files(rules: Iterable[Path]) -> list[Path]:
    """The files that rule files import, and those that these import."""
    found: dict[Path, None] = {}
    waiting = list(rules)
    while waiting:
        importer = waiting.pop()
        for path in (importer.parent / name for name in _imports(importer)):
            if path not in found and not why_no_file(path):
                found[path] = None
                waiting.append(path)
    return list(found)


def _imports(path: Path) -> Iterator[str]:
    if why_no_file(path):
        return
    try:
        content = read_bytes(path, _MOST)
    except UnreadableError:
        return
    for name in _IMPORT.findall(content):
        yield name.decode("utf-8", "replace")


def weight_files(model: Path) -> list[Path]:
    """The files beside an ONNX model that hold its external data."""
    if why_no_file(model):
        return []
    try:
        with model.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as content:
            return [model.parent / name for name in dict.fromkeys(_locations(content))]
    except (OSError, ValueError):  # it is empty, or not to be read, which others say
        return []


def _locations(content: mmap) -> Iterator[str]:
    place = content.find(_LOCATION)
    while place >= 0:
        start = place + len(_LOCATION)
        length, start = _length(content[start : start + 3], start)
        if length < _LONGEST:
            yield content[start : start + length].decode("utf-8", "replace").replace("\0", "")
        place = content.find(_LOCATION, start)


def _length(digits: bytes, start: int) -> tuple[int, int]:
    """A length of protobuf, seven bits a byte, and where it ends."""
    length = 0
    for number, digit in enumerate(digits):
        length |= (digit & 0x7F) << (7 * number)
        if digit < 0x80:
            return length, start + number + 1
    return _LONGEST, start
