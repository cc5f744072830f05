"""Walks syntax trees without recursion, and holds them to a depth that later stages can recurse.

Enters: any node.  Leaves: its nodes in order, or a diagnostic for the item that is too deep.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import is_dataclass
from typing import Any

from tensat_dl.diagnostics import Diagnostics, Span
from tensat_dl.syntax import ast
from tensat_dl.syntax.grammar import MAX_NESTING


def walk(node: Any) -> Iterator[tuple[Any, int]]:
    """Every node at or below `node` with its depth, parents first, in source order."""
    stack: list[tuple[Any, int]] = [(node, 0)]
    while stack:
        current, depth = stack.pop()
        if isinstance(current, tuple):
            stack.extend((child, depth) for child in reversed(current))
        elif is_dataclass(current) and not isinstance(current, Span):
            yield current, depth
            children = vars(current).values()
            stack.extend((child, depth + 1) for child in reversed(list(children)))


def check_nesting(module: ast.Module, diagnostics: Diagnostics) -> None:
    """Report each item whose tree is deeper than :data:`MAX_NESTING`."""
    for item in module.items:
        for node, depth in walk(item):
            if depth > MAX_NESTING:
                diagnostics.error(
                    "E0110",
                    f"this expression nests deeper than {MAX_NESTING} levels",
                    node.span,
                    help="name parts of the expression with `let`, or split the rule",
                )
                break
