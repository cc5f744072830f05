"""What a misspelt name was probably meant to be."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name most like `name`, capitals aside; None where none is near."""
    by_folded = {candidate.casefold(): candidate for candidate in sorted(known)}
    found = difflib.get_close_matches(name.casefold(), by_folded, n=1, cutoff=0.6)
    return by_folded[found[0]] if found else None


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """`did you mean ...?`, or what there is."""
    names = sorted(known)
    guess = closest(name, names)
    return f"did you mean `{guess}`?" if guess else f"there are: {', '.join(names)}"
