"""Equations of Einsum: a letter for each dim of each input, and those of the output.

Enters: an equation as it is written.  Leaves: its parts; what is wrong with one that ONNX's
inference, and onnxruntime with it, would read forever.  Whether it fits the inputs is not asked
here.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

ELLIPSIS = "..."
_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", re.ASCII)


@dataclass(frozen=True)
class Equation:
    """`terms`: the letters of each input; `result`: those of the output, also where they are not
    written.  `...` stands for any number of dims, the same everywhere."""

    terms: tuple[str, ...]
    result: str

    @property
    def has_ellipsis(self) -> bool:
        """Some rank is not known from the equation alone."""
        return any(ELLIPSIS in part for part in (*self.terms, self.result))


def read_equation(text: str) -> Equation:
    """The parts of an equation; spaces mean nothing.  Without `->` the output has what `...` stands
    for, then the letters that occur once, in the order of the alphabet."""
    left, arrow, right = text.replace(" ", "").partition("->")
    if not arrow:
        once = sorted(letter for letter in set(left) - set(",.") if left.count(letter) == 1)
        right = (ELLIPSIS if ELLIPSIS in left else "") + "".join(once)
    return Equation(tuple(left.split(",")), right)


def endless_term(text: str) -> str:
    """What is wrong with the term of an input at whose end ONNX never arrives, "" where it does."""
    for term in read_equation(text).terms:
        if not _TERM.fullmatch(term):
            return f"`{term}` in its equation is more than letters and one `...`"
    return ""
