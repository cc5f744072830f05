"""The parser made from `grammar/tsat.lark`, kept in the user's cache directory.

Enters: the grammar's text.  Leaves: Lark's parser.  Making its tables takes a few hundred
milliseconds, reading them back about twenty.  The cache is keyed on the grammar and on the versions
of Lark and Python.  Lark's own cache is not used: it is written in place, so that a run could read
half of what another writes.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Iterator
from typing import Any

import lark
from lark.grammar import Rule
from lark.lark import PostLex
from lark.lexer import TerminalDef

from tensat_dl.cache import read_cached, write_cached
from tensat_dl.resources import data_directory

MAX_NESTING = 100

RESERVED = frozenset(
    "rewrite rule ruleset class relation derive fn op schedule test import for in match emit "
    "where let if then else and or not true false".split()
)
"""Words that are never names."""

ITEM_WORDS = frozenset(
    "rewrite rule ruleset class relation derive fn op schedule test import cost default".split()
)
"""Words that start an item of a file (`cost` with `model` after it, `default` with `cost`)."""

SOFT_WORDS = frozenset(
    "language as each by include since infer lower cost model default run saturate repeat prune "
    "cycles limit using input weight given expect fires best error under".split()
)
"""Words that are keywords in their place only."""

_OPENING = frozenset({"LPAR", "LSQB", "LBRACE"})
_CLOSING = frozenset({"RPAR", "RSQB", "RBRACE"})
_PUNCTUATION = ("EQUAL", "EQUALS", "ARROW", "BOTH_WAYS", "YIELDS")


class TooDeepError(Exception):
    """Brackets nest deeper than :data:`MAX_NESTING`."""

    def __init__(self, offset: int) -> None:
        """`offset` is the place of the bracket that is one too many."""
        super().__init__(offset)
        self.offset = offset


class Watch(PostLex):
    """Sees every token: names and reserved words are tokens in each state, brackets are counted."""

    always_accept = ("NAME", *(word.upper() for word in sorted(RESERVED)), *_PUNCTUATION)

    def __init__(self) -> None:
        """Has seen nothing yet."""
        self._recent: tuple[lark.Token | None, lark.Token | None] = (None, None)

    def before(self, token: lark.Token) -> lark.Token | None:
        """The token before `token`, at which the parse has just failed."""
        previous, last = self._recent
        return previous if last is token else last

    def process(self, stream: Iterator[lark.Token]) -> Iterator[lark.Token]:
        """Pass the tokens on; raises :class:`TooDeepError`."""
        depth = 0
        self._recent = (None, None)
        for token in stream:
            self._recent = (self._recent[1], token)
            if token.type in _OPENING:
                depth += 1
            elif token.type in _CLOSING:
                depth -= 1
            if depth > MAX_NESTING:
                raise TooDeepError(token.start_pos or 0)
            yield token


def make_parser(builder: Any, watch: Watch) -> lark.Lark:
    """A parser whose reductions call the methods of `builder`."""
    grammar = (data_directory("grammar") / "tsat.lark").read_text(encoding="utf-8")
    key = hashlib.sha256(f"{grammar}\0{lark.__version__}\0{sys.version}".encode()).hexdigest()
    tables = read_cached(f"grammar-{key[:32]}")
    if tables is None:
        made = lark.Lark(
            grammar,
            parser="lalr",
            lexer="contextual",
            keep_all_tokens=True,
            maybe_placeholders=False,
            postlex=watch,
        )
        data, memo = made.memo_serialize([TerminalDef, Rule])
        data["options"]["postlex"] = None  # an object, set again below
        tables = data, memo
        write_cached(f"grammar-{key[:32]}", tables)
    load: Any = lark.Lark._load_from_dict  # what parsers that Lark generates call
    parser: lark.Lark = load(*tables, transformer=builder, postlex=watch)
    return parser
