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


class TooDeep(Exception):
    """Brackets nest deeper than :data:`MAX_NESTING`."""

    def __init__(self, offset: int) -> None:
        """`offset` is the place of the bracket that is one too many."""
        super().__init__(offset)
        self.offset = offset


class _Watch(PostLex):
    """Names and reserved words are tokens in every state; brackets are counted."""

    always_accept = ("NAME", *(word.upper() for word in sorted(RESERVED)), *_PUNCTUATION)

    def process(self, stream: Iterator[lark.Token]) -> Iterator[lark.Token]:
        depth = 0
        for token in stream:
            if token.type in _OPENING:
                depth += 1
            elif token.type in _CLOSING:
                depth -= 1
            if depth > MAX_NESTING:
                raise TooDeep(token.start_pos or 0)
            yield token


def make_parser(builder: Any) -> lark.Lark:
    """A parser whose reductions call the methods of `builder`."""
    grammar = (data_directory("grammar") / "tsat.lark").read_text(encoding="utf-8")
    cached = _cache_file(grammar)
    if cached is None:
        return _lark(grammar, builder, None)
    if cached.exists():
        return _lark(grammar, builder, cached)
    return _make_and_store(grammar, builder, cached)


def _lark(grammar: str, builder: Any, cached: Path | None) -> lark.Lark:
    return lark.Lark(
        grammar,
        parser="lalr",
        lexer="contextual",
        keep_all_tokens=True,
        maybe_placeholders=False,
        transformer=builder,
        postlex=_Watch(),
        cache=str(cached) if cached else False,
    )


def _make_and_store(grammar: str, builder: Any, cached: Path) -> lark.Lark:
    """Make the tables; keep them if the directory allows it."""
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=".tsat-", dir=cached.parent)
        os.close(handle)
    except OSError:
        return _lark(grammar, builder, None)
    temporary = Path(name)
    try:
        parser = _lark(grammar, builder, temporary)
        temporary.replace(cached)
    except OSError:
        return _lark(grammar, builder, None)
    finally:
        temporary.unlink(missing_ok=True)
    return parser


@cache
def _cache_file(grammar: str) -> Path | None:
    """Where the tables of this grammar are kept; None without a home directory."""
    text = f"{grammar}\0{lark.__version__}\0{sys.version}"
    key = hashlib.sha256(text.encode()).hexdigest()[:32]
    root = os.environ.get("XDG_CACHE_HOME") or os.environ.get("LOCALAPPDATA")
    try:
        base = Path(root) if root else Path.home() / ".cache"
    except RuntimeError:
        return None
    return base / "tensat-dl" / f"grammar-{key}.lark"
