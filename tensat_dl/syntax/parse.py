"""Parses rule files: text in, syntax tree and diagnostics out.

Enters: a :class:`SourceFile`.  Leaves: an :class:`ast.Module`, or None when the text has syntax
errors; every one that can be told from the others is reported.  Nothing of Lark leaves this
package.
"""

from __future__ import annotations

import threading
from functools import cache

import lark
from lark.exceptions import UnexpectedInput

from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.syntax import ast
from tensat_dl.syntax.blocks import Builder
from tensat_dl.syntax.comments import read_documentation
from tensat_dl.syntax.grammar import TooDeep, make_parser
from tensat_dl.syntax.source import read_source

__all__ = ["parse", "read_source"]

_LOCK = threading.Lock()  # the builder holds the file it works on


@cache
def _parser() -> tuple[lark.Lark, Builder]:
    builder = Builder()
    return make_parser(builder), builder


def parse(source: SourceFile, diagnostics: Diagnostics) -> ast.Module | None:
    """The syntax tree of a file, or None when it has syntax errors."""
    documentation = read_documentation(source)
    found = Diagnostics()
    with _LOCK:
        parser, builder = _parser()
        builder.begin(source, found, documentation)
        try:
            module: ast.Module = parser.parse(source.text)
        except UnexpectedInput as e:
            found.error("E0101", "syntax error", None)
            module = None
        except TooDeep:
            found.error("E0110", "too deep", None)
            module = None
    if module:
        documentation.report(found)
    diagnostics.found.extend(found)
    return None if found.has_errors else module
