"""Statements, steps and rows: what stands in braces.

Enters: a :class:`Place`.  Leaves: a help line, or "".
"""

from __future__ import annotations

from tensat_dl.syntax.advice.phrases import BLOCKS, close_word
from tensat_dl.syntax.advice.place import Place

_EMIT = "`emit { .. }` says what the outputs of the match are equal to"


def block(place: Place) -> str:
    """In the braces of a rule, a ruleset, a schedule, a cost model or a test."""
    statements = {"NAME", "RBRACE", "STAR_TARGET"} <= place.accepted
    entries = {"NAME", "RBRACE"} <= place.accepted or {"RUN", "RBRACE"} <= place.accepted
    if place.kind == "COMMA" and (entries or place.between_items):
        return "nothing stands between two of a block, or of the file; remove the `,`"
    if statements and place.kind == "LPAR":
        return "outputs stand without brackets: `a, b = Op(..)`"
    if place.accepted == {"RBRACE"} and place.kind in ("WHERE", "LET"):
        return f"`{place.text}` stands between `match` and `emit`"
    if place.accepted == {"EMIT", "LET", "WHERE"}:
        return close_word(place) or _EMIT
    if {"INCLUDE", "RBRACE"} <= place.accepted and place.kind == "NAME":
        return close_word(place) or f"write `include {place.text}`"
    if {"RUN", "SATURATE"} <= place.accepted and place.kind == "NAME":
        return close_word(place) or f"write `run {place.text}` or `saturate {place.text}`"
    if {"GIVEN", "EXPECT"} <= place.accepted and place.kind == "NAME":
        return close_word(place) or _TEST_LINE
    if place.accepted == {"EQUAL", "COMMA"} and place.kind == "LPAR":
        return f"a statement names its output: `y = {place.previous}(..)`"
    if place.accepted == {"EQUAL"} and place.bracket == "{":
        return f"a row is written `{place.previous} = 1`"
    return _missing_part(place)


_TEST_LINE = "a line of a test starts with `input`, `weight`, `given` or `expect`"


def _missing_part(place: Place) -> str:
    """What a step, a block or a line lacks."""
    if place.accepted == {"MATCH"}:
        return BLOCKS
    if place.accepted == {"LBRACE", "EACH"}:
        return "statements stand in braces: `match { y = Op(..) }`"
    if place.accepted == {"LBRACE"}:
        return "what belongs to it stands in braces: `{ .. }`"
    if place.accepted == {"LPAR"} and place.before("LIMIT"):
        return "a limit is written `limit(iters=10)`"
    if place.accepted == {"NUMBER"} and place.before("REPEAT"):
        return "the number of repetitions is missing: `repeat 3 { .. }`"
    if place.accepted == {"NAME", "LBRACE"}:
        return "write `saturate name`, or `saturate { run a run b }`"
    return ""
