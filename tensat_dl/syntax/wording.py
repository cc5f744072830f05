"""Names the tokens of the grammar in a reader's words.

Enters: token types and texts.  Leaves: phrases for messages, such as "`=>` or `<=>`".
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from tensat_dl.syntax.grammar import RESERVED, SOFT_WORDS

PUNCTUATION = {
    "ARROW": "=>",
    "BOTH_WAYS": "<=>",
    "YIELDS": "->",
    "EQUAL": "=",
    "RPAR": ")",
    "RSQB": "]",
    "RBRACE": "}",
    "COMMA": ",",
    "COLON": ":",
    "LBRACE": "{",
    "LPAR": "(",
    "LSQB": "[",
    "DOUBLE_COLON": "::",
    "AT": "@",
    "BAR": "|",
    "STAR": "*",
    "POWER": "**",
    "QUESTION": "?",
}
"""Punctuation that a message may say is missing, the most telling first."""

_OPERATORS = frozenset(
    "PLUS MINUS STAR SLASH DOUBLE_SLASH PERCENT POWER QUESTION LSQB AND OR NOT IN EQUALS DIFFERS "
    "LESS AT_MOST MORE AT_LEAST".split()
)
_EXPRESSION = frozenset("NAME NUMBER STRING LPAR LSQB NOT IF MINUS TRUE FALSE".split())
_ITEMS = frozenset({"REWRITE", "SCHEDULE"})
_ANNOTATED = frozenset({"REWRITE", "RULE", "RULESET"})
_SHOWN = 4
_WORDS = {word.upper(): word for word in sorted(RESERVED | SOFT_WORDS)}


def accepts_expression(accepted: Collection[str]) -> bool:
    """True where an expression can start."""
    return {"NAME", "NUMBER", "LSQB"} <= set(accepted)


def accepts_item(accepted: Collection[str]) -> bool:
    """True between two items of the file."""
    return set(accepted) >= _ITEMS


def between_items(accepted: Collection[str]) -> bool:
    """True where the item before is complete: another, or the end of the file, may follow."""
    return accepts_item(accepted) and "$END" in accepted


def words(accepted: Iterable[str]) -> list[str]:
    """The words of the language among the accepted tokens."""
    return [_WORDS[kind] for kind in sorted(accepted) if kind in _WORDS]


def found(kind: str, text: str) -> str:
    """What stands in the text."""
    if kind == "$END":
        return "the end of the file"
    if len(text) > 30:
        text = text[:27] + "..."
    if kind == "NAME":
        return f"the name `{text}`"
    if kind == "NUMBER":
        return f"the number `{text}`"
    if kind == "STRING":
        return f"the string `{text}`"
    return f"`{text}`"


def expected(accepted: Collection[str]) -> str:
    """What could stand there instead, at most a few choices."""
    rest = set(accepted)
    choices: list[str] = []
    if accepts_expression(rest):
        choices.append("an expression")
        rest -= _EXPRESSION
    item = accepts_item(rest)
    if item:
        rest -= {w.upper() for w in RESERVED} | {"COST", "DEFAULT", "LANGUAGE", "AT"}
    elif rest >= _ANNOTATED:
        rest = set(_ANNOTATED)
    without_operators = rest - _OPERATORS
    if rest & {"PLUS", "COMMA", "ARROW"}:
        without_operators -= {"COLON", "LPAR"}
    choices += _choices(without_operators)
    if item:
        choices.append("the next item")
    return _joined(choices[:_SHOWN] or ["an operator"])


def _choices(rest: set[str]) -> list[str]:
    choices = [
        phrase
        for kind, phrase in (
            ("NAME", "a name"),
            ("NUMBER", "a number"),
            ("STRING", "a string in double quotes"),
        )
        if kind in rest
    ]
    choices += [f"`{text}`" for kind, text in PUNCTUATION.items() if kind in rest]
    return choices + [f"`{word}`" for word in words(rest)]


def _joined(choices: list[str]) -> str:
    if len(choices) == 1:
        return choices[0]
    return f"{', '.join(choices[:-1])} or {choices[-1]}"
