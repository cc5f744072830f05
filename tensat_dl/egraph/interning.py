"""Numbers for what the engine cannot hold, or only at length: attributes, analyses, lists of
these, constants.

The engine sees 64-bit integers; Python keeps what they stand for.  Enters: canonical attributes,
types, constants.  Leaves: ids, stable within one exploration.

An *analysis* is what is known of a tensor: its type and whether it depends on constants alone.
Its id grows with its information (`vocabulary.refine.information`), so that the engine's
`max` merge keeps the better informed of two analyses of one class.

Ids are hashes of content, not serial numbers: they do not depend on the order in which rules ask.
"""

from __future__ import annotations

import hashlib
from collections.abc import Container
from dataclasses import dataclass, field

from tensat_dl.graph.model import Constant
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.refine import information
from tensat_dl.vocabulary.types import ABSENT, Type

#: Bits of content hash in an id; an analysis id has its information score above them.
_HASH_BITS = 40


def content_hash(text: str, bits: int = _HASH_BITS) -> int:
    """A hash that is the same on every run and machine."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "big") >> (64 - bits)


def _free_id(text: str, taken: Container[int], above: int = 0) -> int:
    number = above << _HASH_BITS | content_hash(text)
    while number in taken:
        number += 1
    return number


@dataclass(frozen=True)
class Analysis:
    """What is known of one tensor."""

    type: Type
    weight: bool


#: The analysis of a missing input; its id is 0.
ABSENT_ANALYSIS = Analysis(ABSENT, True)


@dataclass
class Interner:
    """Two-way tables, filled as the exploration goes."""

    _attribute_ids: dict[tuple[Attributes, int], int] = field(default_factory=dict)
    _attributes: dict[int, tuple[Attributes, int]] = field(default_factory=dict)
    _analysis_ids: dict[Analysis, int] = field(default_factory=dict)
    _analyses: dict[int, Analysis] = field(default_factory=dict)
    _list_ids: dict[tuple[int, ...], int] = field(default_factory=dict)
    _lists: dict[int, tuple[Analysis, ...]] = field(default_factory=dict)
    _constant_ids: dict[str, int] = field(default_factory=dict)
    _constants: dict[int, Constant] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._analysis_ids[ABSENT_ANALYSIS] = 0
        self._analyses[0] = ABSENT_ANALYSIS

    def attributes_id(self, attributes: Attributes, outputs: int) -> int:
        """Id of an attribute record; `outputs` counts the outputs of the application."""
        key = (attributes, outputs)
        found = self._attribute_ids.get(key)
        if found is None:
            found = _free_id(f"{attributes.items!r} {outputs}", self._attributes)
            self._attribute_ids[key] = found
            self._attributes[found] = key
        return found

    def attributes(self, number: int) -> tuple[Attributes, int]:
        """The attribute record and output count behind an id."""
        return self._attributes[number]

    def analysis_id(self, analysis: Analysis) -> int:
        """Id of an analysis: greater when more is known."""
        found = self._analysis_ids.get(analysis)
        if found is None:
            score = 2 * information(analysis.type) + analysis.weight + 1
            found = _free_id(repr(analysis), self._analyses, above=score)
            self._analysis_ids[analysis] = found
            self._analyses[found] = analysis
        return found

    def kept(self, analysis: Analysis) -> Analysis:
        """The one object that stands for an analysis."""
        return self._analyses[self.analysis_id(analysis)]

    def analysis(self, number: int) -> Analysis:
        """The analysis behind an id."""
        return self._analyses[number]

    def list_id(self, numbers: tuple[int, ...]) -> int:
        """Id of a list of analyses, given by their ids."""
        found = self._list_ids.get(numbers)
        if found is None:
            found = _free_id(repr(numbers), self._lists)
            self._list_ids[numbers] = found
            self._lists[found] = tuple(map(self.analysis, numbers))
        return found

    def analyses(self, number: int) -> tuple[Analysis, ...]:
        """The list of analyses behind an id."""
        return self._lists[number]

    def constant_id(self, constant: Constant) -> int:
        """Id of a constant, by content."""
        found = self._constant_ids.get(constant.digest)
        if found is None:
            found = _free_id(constant.digest, self._constants)
            self._constant_ids[constant.digest] = found
            self._constants[found] = constant
        return found

    def constant(self, number: int) -> Constant:
        """The constant behind an id."""
        return self._constants[number]

    def constants(self) -> dict[str, Constant]:
        """All constants, by digest."""
        return {c.digest: c for c in self._constants.values()}
