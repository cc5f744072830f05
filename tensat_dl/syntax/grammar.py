"""The parser made from `grammar/tsat.lark`, kept in the user's cache directory.

Enters: the grammar's text.  Leaves: a :class:`Parser`.  Making the tables takes a few hundred
milliseconds, reading them back about thirty.  The cache is keyed on the grammar and on the
versions of Lark and Python, written beside its final name and moved into place, so that runs at
the same time do no harm; where it cannot be written, the tables are made each time.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

import lark
from lark.lark import PostLex

from tensat_dl.resources import data_directory

MAX_NESTING = 100

RESERVED = frozenset(
    "rewrite rule ruleset class relation derive fn op schedule test import for in match emit "
    "where let if then else and or not true false".split()
)
"""Words that are never names."""

ITEM_WORDS = frozenset(
    "rewrite rule ruleset class relation derive fn op schedule test import cost".split()
)
"""Words that start an item of a file (`cost` with `model` after it)."""

SOFT_WORDS = frozenset(
    "language as each by include since infer lower cost model run saturate repeat prune cycles "
    "limit using input weight given expect fires best error under".split()
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
    options = {"transformer": builder, "postlex": watch}
    cached = _cache_file(grammar)
    if cached is None:
        return _lark(grammar, options, None)
    if _is_file(cached):
        return _lark(grammar, options, cached)
    return _make_and_store(grammar, options, cached)


def _lark(grammar: str, options: dict[str, Any], cached: Path | None) -> lark.Lark:
    return lark.Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        keep_all_tokens=True,
        maybe_placeholders=False,
        cache=str(cached) if cached else False,
        **options,
    )


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False


def _make_and_store(grammar: str, options: dict[str, Any], cached: Path) -> lark.Lark:
    """Make the tables; keep them if the directory allows it."""
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".tsat-", dir=cached.parent)
        os.close(handle)
    except OSError:
        return _lark(grammar, options, None)
    temporary = Path(name)
    try:
        parser = _lark(grammar, options, temporary)
        temporary.replace(cached)
    except OSError:
        return _lark(grammar, options, None)
    finally:
        temporary.unlink(missing_ok=True)
    return parser


@cache
def _cache_file(grammar: str) -> Path | None:
    """Where the tables of this grammar are kept; None without a home directory."""
    text = f"{grammar}\0{lark.__version__}\0{sys.version}"
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    base = _cache_directory()
    return None if base is None else base / "tensat-dl" / f"grammar-{key}.lark"


def _cache_directory() -> Path | None:
    for variable in ("XDG_CACHE_HOME", "LOCALAPPDATA"):
        given = Path(os.environ.get(variable, ""))
        if given.is_absolute():
            return given
    try:
        return Path.home() / ".cache"
    except RuntimeError:
        return None
