"""Roots of a match: the outputs that no statement of it consumes.  Reports E0412."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from tensat_dl.diagnostics import Span
from tensat_dl.language.check.variables import Context
from tensat_dl.language.program import InputMap, InputStar, InputVariable, Match, MatchInput
from tensat_dl.syntax import ast


def find_roots(matches: Sequence[Match], item: ast.Rule, context: Context) -> dict[str, Span]:
    """The roots with the places where they are bound, in the order of the text."""
    consumed = {name for match in matches for name in _consumed(match.inputs)}
    roots = {
        target.text: target.span
        for statement in item.match
        for target in statement.targets
        if target.text != "_" and target.text not in consumed
    }
    if item.each is not None:
        _check_members(roots, item.each, context)
    return roots


def _consumed(inputs: tuple[MatchInput, ...]) -> Iterator[str]:
    for found in inputs:
        if isinstance(found, InputVariable | InputStar):
            yield found.name
        elif isinstance(found, InputMap):
            yield from _consumed(found.inputs)


def _check_members(roots: dict[str, Span], each: ast.Each, context: Context) -> None:
    members = {name.text for name in each.members}
    for root, span in roots.items():
        if root not in members:
            context.report.error(
                "E0412",
                f"`{root}` is an output of the match and varies from member to member",
                span,
                help=f"list it: `match each ({root}, ..)`",
            )
