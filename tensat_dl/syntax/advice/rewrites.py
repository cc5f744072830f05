"""The two sides of a rewrite, and what stands before them.

Enters: a :class:`Place`.  Leaves: a help line, or "".
"""

from __future__ import annotations

import re

from tensat_dl.syntax.advice.phrases import BLOCKS, CLASS
from tensat_dl.syntax.advice.place import Place
from tensat_dl.syntax.brackets import open_brackets

_RELATIONS = re.compile(r"<=(?!>)|==|(?<![=<])>=|<(?![=-])")
_REWRITE = "a rewrite is written `rewrite name: left => right`"


def arrow(place: Place) -> str:
    """The arrow of a rewrite, written as elsewhere."""
    if place.kind in ("EQUAL", "YIELDS") and "ARROW" in place.accepted:
        return f"a rewrite is written with `=>`, not `{place.text}`"
    if place.kind == "YIELDS" and place.before("LESS"):
        return "a rewrite that holds both ways is written with `<=>`"
    if "ARROW" in place.accepted and (found := _relation(place)):
        return f"`{found}` compares; a rewrite is written with `=>`"
    return ""


def _relation(place: Place) -> str:
    """The relation outside of brackets in an item that lacks its arrow."""
    item = place.item
    start = place.offset - len(item)
    for found in _RELATIONS.finditer(item) if item.startswith("rewrite") else ():
        if not open_brackets(place.file, start, start + found.start()):
            return found.group()
    return ""


def title(place: Place) -> str:
    """Between `rewrite` or `rule` and what it says."""
    if place.accepted == {"COLON", "FOR"}:
        return BLOCKS if place.kind == "LBRACE" else _name_or(place, _REWRITE)
    if place.accepted == {"FOR", "LBRACE"}:
        return BLOCKS if place.kind == "COLON" else _name_or(place, BLOCKS)
    if place.accepted == {"NAME"} and place.previous is not None:
        return _name(place)
    return ""


#: What a name is missing in, after the word before it.
_NAMELESS = {
    "REWRITE": _REWRITE,
    "RULE": "a rule has a name: `rule name { .. }`",
    "RULESET": "a ruleset has a name: `ruleset name { .. }`",
    "SCHEDULE": "a schedule has a name: `schedule main { .. }`",
    "MODEL": "a cost model has a name: `cost model name { .. }`",
    "COST": "a default names a cost model: `default cost roofline`",
}


def _name_or(place: Place, otherwise: str) -> str:
    if place.kind != "MINUS":
        return otherwise
    return "names are made of letters, digits and `_`: no `-` can stand in them"


def _name(place: Place) -> str:
    if place.kind == "STRING":
        return "names are written without quotes"
    if place.kind == "NUMBER" and place.before("COLON"):
        return "a type stands behind `:`; an attribute is given with `=`, as in `axis=1`"
    if place.kind == "NUMBER":
        return "a name starts with a letter"
    if place.kind == "LSQB" and place.before("COLON"):
        return "a type begins with an element type: `f32[M, N]`, or `_[M, N]` for any"
    if place.kind == "LSQB" and place.before("IN"):
        return CLASS
    return _NAMELESS.get(place.previous.type, "") if place.previous is not None else ""
