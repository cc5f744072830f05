"""Values of number and string literals, with a complaint for each way to get them wrong.

Enters: the text of a token and its span.  Leaves: the value, and diagnostics.
"""

from __future__ import annotations

import math
import re

from tensat_dl.diagnostics import Diagnostics, Span

_MAX_DIGITS = 1_000
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.DOTALL)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", '"': '"', "\\": "\\"}


def number_value(text: str, span: Span, diagnostics: Diagnostics) -> int | float:
    """`50_000` as an int, `1e-5` as a float; what does not fit is reported and read as 0."""
    digits = text.replace("_", "")
    if len(digits) > _MAX_DIGITS:
        diagnostics.error(
            "E0111",
            f"a number has at most {_MAX_DIGITS:,} digits",
            span,
            label=f"{len(digits):,} characters",
        )
        return 0
    if digits.isdigit():
        return int(digits)
    value = float(digits)
    if math.isinf(value):
        diagnostics.error("E0111", "this number is too large for a float", span)
        return 0
    return value


def string_value(text: str, span: Span, diagnostics: Diagnostics) -> str:
    """The content of a string in double quotes, escapes resolved."""

    def resolve(match: re.Match[str]) -> str:
        escape = match.group(1)
        if escape in _SIMPLE:
            return _SIMPLE[escape]
        if len(escape) == 5:
            return _character(int(escape[1:], 16), at(match), diagnostics)
        diagnostics.error(
            "E0105",
            f"unknown escape `\\{escape}` in a string",
            at(match),
            help=r"the escapes are `\\`, `\"`, `\n`, `\r`, `\t` and `\u` with four hex digits",
        )
        return ""

    def at(match: re.Match[str]) -> Span:
        first = span.start + 1
        return Span(span.file, first + match.start(), first + match.end())

    return _ESCAPE.sub(resolve, text[1:-1])


def _character(code: int, span: Span, diagnostics: Diagnostics) -> str:
    if not 0xD800 <= code <= 0xDFFF:
        return chr(code)
    diagnostics.error("E0105", "this escape is half of a surrogate pair, no character", span)
    return ""
