"""Warnings that are meant: `@allow(W0406)` before a rule or a ruleset.

Enters: syntax trees; later, what is to be said.  Leaves: an :class:`Allowance` for each code; what
remains to be said, and the allowances that silenced nothing, which are warnings (W0404)
themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from tensat_dl.diagnostics import Diagnostic, Severity, Span
from tensat_dl.language.codes import CODES
from tensat_dl.syntax import ast

#: Found by `verify`; the others by `check`.
VERIFIED = frozenset({"W1001", "W1002"})
#: The warnings that stand at a rule.
ALLOWABLE = tuple(sorted({c for c in CODES if c.startswith("W04")} | VERIFIED))


@dataclass(frozen=True)
class Allowance:
    """Warnings of the code `code` are meant inside of `item`; `span` is the annotation."""

    code: str
    span: Span
    item: Span

    def covers(self, span: Span | None) -> bool:
        """Is that inside of the item?"""
        return (
            span is not None
            and span.file is self.item.file
            and self.item.start <= span.start
            and span.end <= self.item.end
        )


def allowances(module: ast.Module) -> Iterator[Allowance]:
    """Those of a file; wrong codes, which are errors, are left out."""
    for owner in _owners(module):
        for annotation in (a for a in owner.annotations if a.name == "allow"):
            codes = (arg.text for arg in annotation.args if isinstance(arg, ast.Name))
            known = (code for code in codes if code in ALLOWABLE)
            yield from (Allowance(code, annotation.span, owner.span) for code in known)


def _owners(module: ast.Module) -> Iterator[ast.Rewrite | ast.Rule | ast.Ruleset]:
    """All that annotations stand before, what is inside of rulesets after them."""
    for item in module.items:
        members = item.members if isinstance(item, ast.Ruleset) else ()
        for owner in (item, *members):
            if isinstance(owner, ast.Rewrite | ast.Rule | ast.Ruleset):
                yield owner


def remaining(found: Iterable[Diagnostic], allowed: Sequence[Allowance]) -> list[Diagnostic]:
    """What no allowance silences."""
    return [d for d in found if not any(a.code == d.code and a.covers(d.span) for a in allowed)]


def idle(allowance: Allowance) -> Diagnostic:
    """What to say of an allowance that silences nothing."""
    return Diagnostic(
        "W0404",
        f"`@allow({allowance.code})` silences nothing",
        allowance.span,
        help="remove it",
        severity=Severity.WARNING,
    )
