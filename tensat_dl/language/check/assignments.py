"""What `emit` and `lower` assign: every output exactly once, and new names that are used.

Enters: the outputs to assign and the targets of statements.  Reports E0402, E0403, E0405, E0412.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tensat_dl.diagnostics import Label, Span
from tensat_dl.language.check.unbound import report_member
from tensat_dl.language.check.variables import Context
from tensat_dl.language.program import Sort
from tensat_dl.sentences import listed
from tensat_dl.syntax import ast


@dataclass
class Assignments:
    """`roots`: what must be assigned, where it is bound.  `clause`, `of`: for messages."""

    context: Context
    roots: dict[str, Span]
    clause: str = "emit"
    of: str = "the match"
    _assigned: dict[str, Span] = field(default_factory=dict)
    _new: dict[str, Span] = field(default_factory=dict)

    def assign(self, target: ast.Name, starred: bool) -> str:
        """Record one target, a root or a new name for later lines; `_` becomes internal."""
        name = target.text
        if name == "_":
            return self.context.fresh(Sort.TENSOR, target.span)
        first = self._assigned.get(name) or self._new.get(name)
        if first is not None:
            self.context.report.error(
                "E0403",
                f"`{name}` is assigned twice",
                target.span,
                related=(Label(first, "assigned here first"),),
                help="write a rule for each answer",
            )
        elif name in self.roots:
            self._assigned[name] = target.span
            self._check_star(target, starred)
        elif name in self.context.variables:
            self._report_not_root(name, target.span)
        else:
            self._new[name] = target.span
            self.context.bind_tensor(name, target.span)
        return name

    def _check_star(self, target: ast.Name, starred: bool) -> None:
        if target.text in self.context.members and not starred:
            report_member(target, self.context)
        elif starred and not self.context.members:
            self.context.report.error(
                "E0412",
                f"`{target.text}` is no member of a `match each`",
                target.span,
                help="starred targets stand in rules with `match each (..)`",
            )

    def _report_unassigned(self, root: str, span: Span) -> None:
        in_match = self.clause == "emit"
        self.context.report.error(
            "E0402",
            f"`{self.clause}` does not assign `{root}`",
            span,
            label="an output of the match: nothing else in it uses this tensor"
            if in_match
            else "an output",
            help=f"add `{root} = ..` to `{self.clause}`"
            + (", or write `_` for an output that does not matter" if in_match else ""),
        )

    def _report_not_root(self, name: str, span: Span) -> None:
        known = self.context.variables[name]
        related = () if known.span == span else (Label(known.span, "bound here"),)
        roots = [root for root in self.roots if not root.startswith("$")]
        self.context.report.error(
            "E0405",
            f"`{name}` is not an output of {self.of}",
            span,
            related=related,
            help=f"`{self.clause}` assigns {listed(roots)}" if roots else "",
        )

    def finish(self) -> None:
        """Report roots that nothing assigns, and new names that nothing uses."""
        for root, span in self.roots.items():
            if root not in self._assigned and not root.startswith("$"):
                self._report_unassigned(root, span)
        for name, span in self._new.items():
            if not self.context.variables[name].used:
                self._report_not_root(name, span)
