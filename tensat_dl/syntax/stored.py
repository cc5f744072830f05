"""Syntax trees of shipped rule files, kept in the user's cache directory.

Enters: a file.  Leaves: its tree, or None.  Reading a tree back takes a tenth of parsing the file.
Only trees of files without any remark are kept, by content, and by everything that makes trees.
"""

from __future__ import annotations

import hashlib
import io
import pickle
import sys
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import Any

from tensat_dl.cache import digest_of_makers, read_cached, write_cached
from tensat_dl.diagnostics import SourceFile
from tensat_dl.resources import data_directory
from tensat_dl.syntax import ast


def is_shipped(source: SourceFile) -> bool:
    """It comes with the program: there are few such files, and they change with it alone."""
    try:
        return Path(source.name).is_relative_to(data_directory("rulesets"))
    except FileNotFoundError:
        return False


def load_tree(source: SourceFile) -> ast.Module | None:
    """The tree that was kept of a file of that text, its places being in `source`."""
    content = read_cached(_key(source))
    if not isinstance(content, bytes):
        return None
    found = _Reader(content, source).load()
    return found if isinstance(found, ast.Module) else None


def store_tree(source: SourceFile, tree: ast.Module) -> None:
    """Keep the tree of a file, where the directory allows it."""
    stream = io.BytesIO()
    _Writer(stream).dump(tree)
    write_cached(_key(source), stream.getvalue())


class _Writer(pickle.Pickler):
    """Leaves out the file, which is at hand when the tree is read."""

    def persistent_id(self, value: Any) -> str | None:
        return "file" if isinstance(value, SourceFile) else None


class _Reader(pickle.Unpickler):
    def __init__(self, content: bytes, source: SourceFile) -> None:
        super().__init__(io.BytesIO(content))
        self.source = source

    def persistent_load(self, name: str) -> SourceFile:
        return self.source


def _key(source: SourceFile) -> str:
    return "tree-" + hashlib.sha256(f"{makers_of_trees()}\0{source.text}".encode()).hexdigest()


@cache
def makers_of_trees() -> str:
    """A digest of everything that makes trees: Python, Lark, the grammar, this package."""
    here = Path(__file__).resolve().parent
    grammar = data_directory("grammar") / "tsat.lark"
    files = (grammar, here.parent / "diagnostics.py", *sorted(here.rglob("*.py")))
    return digest_of_makers(files, sys.version, metadata.version("lark"))
