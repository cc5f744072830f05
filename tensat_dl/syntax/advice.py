"""What to write instead of a text that does not fit the grammar.

Enters: a :class:`Place`: what was found there, and what could stand there.  Leaves: a help line,
or "" where nothing is known to help.  Each mistake is a function, the most telling first; a
function looks at tokens and the text around, never at a tree, for there is none.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from lark import Token

from tensat_dl.diagnostics import SourceFile, Span
from tensat_dl.suggest import did_you_mean
from tensat_dl.syntax import wording
from tensat_dl.syntax.brackets import item_before, open_brackets
from tensat_dl.syntax.grammar import ITEM_WORDS, RESERVED

_RELATIONS = re.compile(r"<=(?!>)|==|(?<![=<])>=|<(?![=-])")
_FUNCTION = "a function is written `fn twice(k: int) -> int = 2 * k`"
_OPERATOR = "an operator has a body: `{ infer y = .. }`, or `{ lower y = .. }`"
_REWRITE = "a rewrite is written `rewrite name: left => right`"
_BLOCKS = "`rule` has blocks, `match { .. }` and `emit { .. }`; `rewrite` has `left => right`"
_EMIT = "`emit { .. }` says what the outputs of the match are equal to"
_IMPORT = 'an import is written `import "path" as name` or `import "path" { a, b }`'
_CLASS = "the operators are declared as a class: `class C = Relu | Abs`"
_MEMBERS = "the members of a class are joined by `|`: `class C = Relu | Abs`"
_LIST = "a `,` stands between two of a list"
_DIMS = "dims stand in square brackets: `f32[M, N]`"
_ITEM = "an item starts with a word such as `rewrite`, `rule` or `ruleset`"


@dataclass(frozen=True)
class Place:
    """Where the text stops to fit: `kind` and `text` of the token, and the one before it.

    `accepted` holds the kinds of tokens that could stand there, `open` the brackets around.
    """

    file: SourceFile
    offset: int
    kind: str
    text: str
    previous: Token | None
    accepted: frozenset[str]
    open: tuple[Span, ...]

    @property
    def between_items(self) -> bool:
        """Was the previous item complete?"""
        return wording.between_items(self.accepted)

    @property
    def item(self) -> str:
        """The text of the item around, up to here."""
        return self.file.text[item_before(self.file.text, self.offset) : self.offset]

    @property
    def starts_line(self) -> bool:
        """Is it the first thing on its line?"""
        line = self.file.text.rfind("\n", 0, self.offset) + 1
        return not self.file.text[line : self.offset].strip()

    @property
    def bracket(self) -> str:
        """The innermost bracket that is open."""
        return self.file.text[self.open[-1].start] if self.open else ""

    def before(self, kind: str) -> bool:
        """Is the token before this one of that kind?"""
        return self.previous is not None and self.previous.type == kind


def advise(place: Place) -> str:
    """The first advice that fits."""
    for advice in _ADVICE:
        text = advice(place)
        if text:
            return text
    return ""


# --- the sides of a rewrite -----------------------------------------------------------------


def _arrow(place: Place) -> str:
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


def _title(place: Place) -> str:
    """Between `rewrite` or `rule` and what it says."""
    if place.accepted == {"COLON", "FOR"}:
        return _BLOCKS if place.kind == "LBRACE" else _name_or(place, _REWRITE)
    if place.accepted == {"FOR", "LBRACE"}:
        return _BLOCKS if place.kind == "COLON" else _name_or(place, _BLOCKS)
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
        return _CLASS
    return _NAMELESS.get(place.previous.type, "") if place.previous is not None else ""


# --- conditions and expressions -------------------------------------------------------------


def _comparison(place: Place) -> str:
    if place.kind == "EQUAL" and "EQUALS" in place.accepted:
        return "`==` compares; `=` binds a name"
    if place.kind == "EQUALS" and "EQUAL" in place.accepted:
        return "`=` binds a name; `==` compares"
    return ""


def _condition(place: Place) -> str:
    if place.kind == "IF" and "WHERE" in place.accepted and not _has_clauses(place):
        return "conditions stand behind `where`"
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
        return _CLASS
    if place.kind == "BAR":
        return "`or` joins conditions; `|` joins the members of a class"
    return ""


def _has_clauses(place: Place) -> bool:
    """Has the rule a `where` or a `let` already?"""
    return bool({"where", "let"} & set(place.item.split()))


def _brackets(place: Place) -> str:
    if place.kind == "COMMA" and place.bracket == "(" and not _is_call(place):
        return "a list stands in brackets: `[0, 1]`"
    if place.kind == "FOR" and place.bracket == "[":
        return "there are no loops; `compose(p, q)` is `[p[j] for j in q]`, `range(n)` counts"
    if place.kind in ("LPAR", "LESS") and place.accepted == {"LSQB", "RPAR", "COMMA"}:
        return _DIMS
    if place.kind == "COMMA" and place.bracket == "[" and {"RSQB", "COLON"} <= place.accepted:
        return "a type stands behind its name: `x: f32[M, N]`"
    if place.kind in ("NUMBER", "STRING") and place.bracket in "([" and "COMMA" in place.accepted:
        return _LIST
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


# --- blocks ---------------------------------------------------------------------------------


def _block(place: Place) -> str:
    statements = {"NAME", "RBRACE", "STAR_TARGET"} <= place.accepted
    entries = {"NAME", "RBRACE"} <= place.accepted or {"RUN", "RBRACE"} <= place.accepted
    if place.kind == "COMMA" and (entries or place.between_items):
        return "nothing stands between two of a block, or of the file; remove the `,`"
    if statements and place.kind == "LPAR":
        return "outputs stand without brackets: `a, b = Op(..)`"
    if place.accepted == {"RBRACE"} and place.kind in ("WHERE", "LET"):
        return f"`{place.text}` stands between `match` and `emit`"
    if place.accepted == {"EMIT", "LET", "WHERE"}:
        return _close_word(place) or _EMIT
    if {"INCLUDE", "RBRACE"} <= place.accepted and place.kind == "NAME":
        return _close_word(place) or f"write `include {place.text}`"
    if {"RUN", "SATURATE"} <= place.accepted and place.kind == "NAME":
        return _close_word(place) or f"write `run {place.text}` or `saturate {place.text}`"
    if {"GIVEN", "EXPECT"} <= place.accepted and place.kind == "NAME":
        return _close_word(place) or _TEST_LINE
    if place.accepted == {"EQUAL", "COMMA"} and place.kind == "LPAR":
        return f"a statement names its output: `y = {place.previous}(..)`"
    if place.accepted == {"EQUAL"} and place.bracket == "{":
        return f"a row is written `{place.previous} = 1`"
    return _missing_part(place)


_TEST_LINE = "a line of a test starts with `input`, `weight`, `given` or `expect`"


def _missing_part(place: Place) -> str:
    """What a step, a block or a line lacks."""
    if place.accepted == {"MATCH"}:
        return _BLOCKS
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


# --- declarations ---------------------------------------------------------------------------


def _declaration(place: Place) -> str:
    if place.accepted == {"COLON"}:
        return _untyped(place)
    if "LBRACE" in place.accepted and re.match(r"op\b", place.item):
        return _OPERATOR
    if re.match(r"fn\b", place.item) and place.accepted <= {"LPAR", "YIELDS", "EQUAL"}:
        return _FUNCTION
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
        return "a cost model is written `cost model name { .. }`"
    if place.accepted == {"STRING"}:
        return _IMPORT if place.before("IMPORT") else _untitled(place)
    return ""


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


# --- words ----------------------------------------------------------------------------------


def _spelling(place: Place) -> str:
    if place.kind != "NAME":
        return ""
    if place.between_items and place.text in _ELSEWHERE:
        return _ELSEWHERE[place.text]
    if "COMMA" in place.accepted and (not place.starts_line or "WHERE" in place.accepted):
        return _close_word(place) or _LIST
    return _close_word(place)


#: Words with which other languages begin.
_ELSEWHERE = {
    "def": _FUNCTION,
    "const": "a value for the whole file is a function: `fn k() -> int = 3`",
    "function": _FUNCTION,
    "from": _IMPORT,
    "include": _IMPORT,
    "when": "conditions stand behind `where`",
}


def _close_word(place: Place) -> str:
    return did_you_mean(place.text, wording.words(place.accepted)) if len(place.text) > 1 else ""


def _annotation(place: Place) -> str:
    if place.kind == "AT" and "AT" not in place.accepted:
        return "annotations stand before `rewrite`, `rule` or `ruleset`"
    annotated = {"REWRITE", "RULE", "RULESET", "AT"} <= place.accepted
    if annotated and not place.between_items and place.text in ITEM_WORDS:
        return "annotations stand before `rewrite`, `rule` or `ruleset` only"
    return ""


def _item(place: Place) -> str:
    if not place.between_items:
        return ""
    if place.kind in ("SLASH", "DOUBLE_SLASH") and place.starts_line:
        return "a remark begins with `#`"
    return _ITEM if place.starts_line or place.kind == "NAME" else ""


_ADVICE: tuple[Callable[[Place], str], ...] = (
    _arrow,
    _comparison,
    _condition,
    _brackets,
    _declaration,
    _block,
    _title,
    _spelling,
    _annotation,
    _item,
)
