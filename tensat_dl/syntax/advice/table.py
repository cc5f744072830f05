"""What to write instead of a text that does not fit the grammar.

Enters: a :class:`Place`: what was found there, and what could stand there.  Leaves: a help line,
or "" where nothing is known to help.  Each mistake is a function, the most telling first.
"""

from __future__ import annotations

from collections.abc import Callable

from tensat_dl.syntax.advice import blocks, declarations, expressions, rewrites, words
from tensat_dl.syntax.advice.place import Place


def advise(place: Place) -> str:
    """The first advice that fits."""
    for advice in _ADVICE:
        text = advice(place)
        if text:
            return text
    return ""


_ADVICE: tuple[Callable[[Place], str], ...] = (
    rewrites.arrow,
    expressions.comparison,
    expressions.condition,
    expressions.brackets,
    declarations.declaration,
    blocks.block,
    rewrites.title,
    words.spelling,
    words.annotation,
    words.item,
)
