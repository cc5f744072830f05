"""What a misspelt name was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

from tensat_dl.sentences import shortened

#: Names that are listed where none is near.
_LISTED = 30


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, capitals aside; None where none is near."""
    by_folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?`; "" where no name is near."""
    near = closest(name, known)
    return f"did you mean `{near}`?" if near else ""


def nearest_or_all(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?`, or what there is; of more than can be read, what is most like it."""
    names = sorted(known)
    near = did_you_mean(name, names)
    if not near and len(names) > _LISTED:
        names.sort(key=lambda candidate: -_likeness(name, candidate))
    return near or f"there are: {shortened(names, _LISTED)}"


def _likeness(name: str, candidate: str) -> float:
    """From 0 to 1, by the whole name or what stands behind its last dot, capitals aside."""
    name, whole = name.casefold(), candidate.casefold()
    texts = {whole, whole.rpartition(".")[2]}
    return max(difflib.SequenceMatcher(None, name, text).ratio() for text in texts)
