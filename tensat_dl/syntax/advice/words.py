"""Words: misspelt ones, those of other languages, annotations, what begins an item.

Enters: a :class:`Place`.  Leaves: a help line, or "".
"""

from __future__ import annotations

from tensat_dl.syntax.advice.phrases import FUNCTION, IMPORT, LIST, close_word
from tensat_dl.syntax.advice.place import Place
from tensat_dl.syntax.grammar import ITEM_WORDS

_ITEM = "an item starts with a word such as `rewrite`, `rule` or `ruleset`"


def spelling(place: Place) -> str:
    """A word that is nearly one of the language, or one of another language."""
    if place.kind != "NAME":
        return ""
    if place.between_items and place.text in _ELSEWHERE:
        return _ELSEWHERE[place.text]
    if "COMMA" in place.accepted and (not place.starts_line or "WHERE" in place.accepted):
        return close_word(place) or LIST
    return close_word(place)


#: Words with which other languages begin.
_ELSEWHERE = {
    "def": FUNCTION,
    "const": "a value for the whole file is a function: `fn k() -> int = 3`",
    "function": FUNCTION,
    "from": IMPORT,
    "include": IMPORT,
    "when": "conditions stand behind `where`",
}


def annotation(place: Place) -> str:
    """An annotation in the wrong place."""
    if place.kind == "AT" and "AT" not in place.accepted:
        return "annotations stand before `rewrite`, `rule` or `ruleset`"
    annotated = {"REWRITE", "RULE", "RULESET", "AT"} <= place.accepted
    if annotated and not place.between_items and place.text in ITEM_WORDS:
        return "annotations stand before `rewrite`, `rule` or `ruleset` only"
    return ""


def item(place: Place) -> str:
    """What begins no item."""
    if not place.between_items:
        return ""
    if place.kind in ("SLASH", "DOUBLE_SLASH") and place.starts_line:
        return "a remark begins with `#`"
    return _ITEM if place.starts_line or place.kind == "NAME" else ""
