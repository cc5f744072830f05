"""Parses rule files: text in, syntax tree and diagnostics out.

Enters: a :class:`SourceFile`.  Leaves: an :class:`ast.Module`, or None when the text has syntax
errors.  After an error the parser goes on at the next line that starts an item, so that one run
reports them all.  Nothing of Lark leaves this package.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from functools import cache
from typing import cast

from lark import TextSlice
from lark.exceptions import UnexpectedInput, UnexpectedToken

from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.syntax import ast
from tensat_dl.syntax.brackets import next_item, open_brackets
from tensat_dl.syntax.comments import read_documentation
from tensat_dl.syntax.faults import Fault
from tensat_dl.syntax.files import Builder
from tensat_dl.syntax.grammar import TooDeepError, Watch, make_parser
from tensat_dl.syntax.nesting import check_nesting
from tensat_dl.syntax.source import read_source
from tensat_dl.syntax.stored import is_shipped, load_tree, store_tree

__all__ = ["parse", "read_source"]

MAX_ERRORS = 100
"""Errors reported for one file."""

_LOCK = threading.Lock()  # the builder holds the file it works on


def parse(source: SourceFile, diagnostics: Diagnostics) -> ast.Module | None:
    """The syntax tree of a file, or None when it has syntax errors (E01xx)."""
    if not is_shipped(source):
        return _parse(source, diagnostics)
    tree = load_tree(source)
    if tree is None:
        found = Diagnostics()
        tree = _parse(source, found)
        diagnostics.found.extend(found.found)
        if tree is not None and not found.found:
            store_tree(source, tree)
    return tree


def _parse(source: SourceFile, diagnostics: Diagnostics) -> ast.Module | None:
    found = Diagnostics()
    documentation = read_documentation(source)
    with _LOCK:
        parser = _parser()
        parser.builder.begin(source, found, documentation)
        module = parser.parse_from(source, 0)
        if isinstance(module, Fault):
            found.found.extend(fault.describe() for fault in _faults(parser, module))
    if isinstance(module, ast.Module):
        documentation.report(found)
        check_nesting(module, found)
    found.found.sort(key=lambda d: d.span.start if d.span else 0)
    diagnostics.found.extend(found.found[:MAX_ERRORS])
    return module if isinstance(module, ast.Module) and not found.has_errors else None


class _Parser:
    """The parser of the grammar with what it calls."""

    def __init__(self) -> None:
        self.builder = Builder()
        self.watch = Watch()
        self.lark = make_parser(self.builder, self.watch)

    def parse_from(self, file: SourceFile, start: int) -> ast.Module | Fault:
        """Parse the text from `start`; only the parse from 0 yields the tree of the file."""
        try:
            text = TextSlice(file.text, start, len(file.text))
            return cast(ast.Module, self.lark.parse(text))
        except UnexpectedToken as error:
            return Fault(error, file, start, self.watch.before(error.token))
        except (UnexpectedInput, TooDeepError) as error:
            return Fault(error, file, start, None)


@cache
def _parser() -> _Parser:
    return _Parser()


def _faults(parser: _Parser, first: Fault) -> Iterator[Fault]:
    """The first fault, and those found by going on at the next items.

    An item inside a broken ruleset is then read as an item of the file; `unclosed` counts the
    braces that are still to come, which are passed over.
    """
    file, start, unclosed, reported = first.file, 0, 0, 0
    fault: ast.Module | Fault = first
    while isinstance(fault, Fault) and reported < MAX_ERRORS:
        rest_of_block = unclosed > 0 and fault.between_items
        if rest_of_block and fault.found == "}":
            unclosed -= 1
            start = fault.offset + 1
        else:
            if not (rest_of_block and fault.found == "include"):
                reported += 1
                yield fault
            restart = next_item(file.text, max(fault.offset, start + 1))
            if restart is None:
                return
            unclosed += _braces(file, start, restart)
            start = restart
        fault = parser.parse_from(file, start)


def _braces(file: SourceFile, start: int, end: int) -> int:
    return sum(file.text[b.start] == "{" for b in open_brackets(file, start, end))
