"""Functions, operators, classes, imports and the like.

Enters: a :class:`Place`.  Leaves: a help line, or "".
"""

from __future__ import annotations

import re

from tensat_dl.syntax.advice.phrases import FUNCTION, IMPORT
from tensat_dl.syntax.advice.place import Place

_OPERATOR = "an operator has a body: `{ infer y = .. }`, or `{ lower y = .. }`"
_MEMBERS = "the members of a class are joined by `|`: `class C = Relu | Abs`"

_DEFAULT = "to choose one, write `default cost name`"


def declaration(place: Place) -> str:
    """In an item that declares something, or names the domain of an operator."""
    if "::" in place.file.text[max(0, place.offset - 1) : place.offset + 2]:
        return _domain(place)
    if place.accepted == {"COLON"}:
        return _untyped(place)
    if "LBRACE" in place.accepted and re.match(r"op\b", place.item):
        return _OPERATOR
    if re.match(r"fn\b", place.item) and place.accepted <= {"LPAR", "YIELDS", "EQUAL"}:
        return FUNCTION
    if place.text == "let" and place.between_items:
        return "`let` stands in a rule; for the whole file write `fn k() -> int = 3`"
    if place.previous == "return" and place.between_items:
        return "a function is one expression, without `return`"
    if place.kind == "LBRACE" and place.between_items and re.match(r"import\b", place.item):
        return "an import takes a name (`as`) or single items, not both"
    if place.accepted == {"IF"}:
        return "a fact is derived with `if`: `derive flat(y) if y = Flatten(x)`"
    if re.match(r"class\b", place.item) and place.accepted & {"BAR", "EQUAL"}:
        return _MEMBERS if not place.starts_line else ""
    if place.accepted == {"MODEL"}:
        return f"a cost model is written `cost model name {{ .. }}`; {_DEFAULT}"
    if place.accepted == {"COST"} or re.match(r"default\s+cost\s+model\s*$", place.item):
        return _DEFAULT
    if place.kind == "LBRACE" and re.match(r"default\s+cost\b", place.item):
        return f"its rows stand in a cost model, `cost model name {{ .. }}`; {_DEFAULT}"
    if place.accepted == {"STRING"}:
        return IMPORT if place.before("IMPORT") else _untitled(place)
    return ""


def _domain(place: Place) -> str:
    """Names with dots before `::`, and the operator behind it."""
    text = place.file.text
    colons = text.index("::", max(0, place.offset - 1))
    domain = re.search(r"[\w.]+$", text[:colons])
    operator = re.match(r"\w+", text[colons + 2 :])
    if domain is None or operator is None:
        return ""
    return f'domains stand in quotes: `"{domain.group()}"::{operator.group()}(..)`'


def _untitled(place: Place) -> str:
    return 'a test has a title: `test "what holds" { .. }`' if place.before("TEST") else ""


_SORTS = ("Tensor", "int", "float", "bool", "string", "ints", "floats", "strings", "dtype")


def _untyped(place: Place) -> str:
    """A parameter, a column or an output of a declaration without its sort."""
    if place.previous is None or place.previous.type != "NAME":
        return ""
    name = str(place.previous)
    if place.kind == "NAME":
        first, second = (place.text, name) if name in _SORTS else (name, place.text)
        return f"write `{first}: {second}`"
    before = place.file.text[: int(place.previous.start_pos or 0)].rstrip()
    if before.endswith("->"):
        return f"an output has a name: `-> y: {name}`"
    if before.endswith(("(", ",")):
        return f"its sort is missing: `{name}: Tensor`"
    return ""
