"""What the tests of the syntax stage share."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import Enum
from pathlib import Path
from typing import Any

import pytest

from tensat_dl.diagnostics import Diagnostics, SourceFile, Span
from tensat_dl.syntax import ast
from tensat_dl.syntax.parse import parse

sys.path.insert(0, str(Path(__file__).parent))  # for `trees`

Bare = Callable[[Any], Any]


def without_spans(node: Any) -> Any:
    """A tree as nested tuples, so that two trees can be compared wherever they stood."""
    if isinstance(node, tuple):
        return tuple(without_spans(child) for child in node)
    if is_dataclass(node) and not isinstance(node, Enum):
        values = [getattr(node, field.name) for field in fields(node)]
        parts = [without_spans(value) for value in values if not isinstance(value, Span)]
        return (type(node).__name__, *parts)
    return (type(node).__name__, node)


@pytest.fixture
def bare() -> Bare:
    return without_spans


def parse_text(text: str) -> ast.Module:
    """The tree of a text that has no errors."""
    diagnostics = Diagnostics()
    module = parse(SourceFile("test.tsat", text), diagnostics)
    assert module is not None, [d.message for d in diagnostics]
    assert not diagnostics.found
    return module


@pytest.fixture
def parsed() -> Callable[[str], ast.Module]:
    return parse_text
