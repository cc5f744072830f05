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
    """`did you mean ...?`, or what there is, as far as it can be read."""
    names = sorted(known)
    return did_you_mean(name, names) or f"there are: {shortened(names, _LISTED)}"
