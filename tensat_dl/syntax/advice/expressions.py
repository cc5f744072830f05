"""Conditions, expressions, and the brackets in them.

Enters: a :class:`Place`.  Leaves: a help line, or "".
"""

from __future__ import annotations

import re

from tensat_dl.syntax import wording
from tensat_dl.syntax.advice.phrases import CLASS, LIST
from tensat_dl.syntax.advice.place import Place
from tensat_dl.syntax.grammar import RESERVED

_DIMS = "dims stand in square brackets: `f32[M, N]`"


def comparison(place: Place) -> str:
    """`=` and `==`, one for the other."""
    if place.kind == "EQUAL" and "EQUALS" in place.accepted:
        return "`==` compares; `=` binds a name"
    if place.kind == "EQUALS" and "EQUAL" in place.accepted:
        return "`=` binds a name; `==` compares"
    return ""


def condition(place: Place) -> str:
    """Conditions and choices, written as elsewhere or in the wrong place."""
    if place.kind == "IF" and "WHERE" in place.accepted and not _has_clauses(place):
        return "conditions stand behind `where`"
    if place.kind == "IF" and "ARROW" in place.accepted:
        return "conditions stand behind both sides: `rewrite name: left => right where condition`"
    ternary = place.before("QUESTION") and place.kind not in ("RPAR", "COMMA")
    if (place.kind == "IF" and "AND" in place.accepted) or (ternary and place.between_items):
        return "write `if condition then a else b`"
    if place.text == "is" and "WHERE" in place.accepted:
        return "values are compared by `==`; for an input that is absent, write a rule without it"
    if place.kind in ("WHERE", "LET") and wording.accepts_expression(place.accepted):
        return "conditions and `let` stand behind the two sides of a rewrite"
    if place.kind == "COLON" and place.accepted == {"THEN"}:
        return "conditions stand behind `where`; a choice is `if condition then a else b`"
    if place.kind == "BAR" and place.accepted == {"COLON"}:
        return CLASS
    if place.kind == "BAR":
        return "`or` joins conditions; `|` joins the members of a class"
    return ""


def _has_clauses(place: Place) -> bool:
    """Has the rule a `where` or a `let` already?"""
    return bool({"where", "let"} & set(place.item.split()))


def brackets(place: Place) -> str:
    """Brackets of another kind, and what cannot stand in them."""
    if place.kind == "COMMA" and place.bracket == "(" and not _is_call(place):
        return "a list stands in brackets: `[0, 1]`"
    if place.kind == "FOR" and place.bracket == "[":
        return "there are no loops; `compose(p, q)` is `[p[j] for j in q]`, `range(n)` counts"
    if place.kind in ("LPAR", "LESS") and place.accepted == {"LSQB", "RPAR", "COMMA"}:
        return _DIMS
    if place.kind == "COMMA" and place.bracket == "[" and {"RSQB", "COLON"} <= place.accepted:
        return "a type stands behind its name: `x: f32[M, N]`"
    if place.kind in ("NUMBER", "STRING") and place.bracket in "([" and "COMMA" in place.accepted:
        return LIST
    if place.kind == "LBRACE" and wording.accepts_expression(place.accepted):
        return "lists stand in `[ ]`, inputs in `( )`; braces are for the blocks of an item"
    if place.kind == "QUESTION" and wording.accepts_expression(place.accepted):
        return (
            "any dim is written `_`" if place.bracket == "[" else "names need no sign before them"
        )
    return ""


def _is_call(place: Place) -> bool:
    """Do the innermost brackets hold the inputs of an operator?"""
    before = place.file.text[: place.open[-1].start].rstrip()
    word = re.search(r"\w*$", before)
    return word is not None and word.group() not in {"", *RESERVED}
