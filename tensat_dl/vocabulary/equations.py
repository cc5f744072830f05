"""Equations of Einsum that make ONNX's inference, and onnxruntime with it, run forever.

Enters: an equation.  Leaves: what is wrong with it, "" where every tool comes to an end.  Whether
it fits the inputs is not asked here.
"""

from __future__ import annotations

import re

_TERM = re.compile(r"[A-Za-z]*(\.\.\.)?[A-Za-z]*", re.ASCII)


def endless_term(equation: str) -> str:
    """What is wrong with the term of an input at whose end ONNX never arrives."""
    left = equation.replace(" ", "").partition("->")[0]
    for term in left.split(","):
        if not _TERM.fullmatch(term):
            return f"`{term}` in its equation is more than letters and one `...`"
    return ""
