"""What went wrong in a user's text, as values.

Enters: spans and messages from the syntax and language stages.  Leaves: a list of
:class:`Diagnostic` that `cli/` renders.  Knows nothing of terminals, Lark or egglog.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum


class Severity(Enum):
    """How bad: an error stops the run, a warning does not."""

    ERROR = "error"
    WARNING = "warning"


@dataclass(frozen=True)
class SourceFile:
    """A rule file's name as the user gave it, and its text."""

    name: str
    text: str = field(repr=False)


@dataclass(frozen=True)
class Span:
    """Half-open range of character offsets `[start, end)` in one file."""

    file: SourceFile = field(repr=False)
    start: int
    end: int

    def position(self) -> tuple[int, int]:
        """Line and column of the start, both from 1."""
        before = self.file.text[: self.start]
        return before.count("\n") + 1, self.start - (before.rfind("\n") + 1) + 1


@dataclass(frozen=True)
class Label:
    """A second place that explains the first, e.g. the declaration."""

    span: Span
    text: str


@dataclass(frozen=True)
class Diagnostic:
    """One problem: a stable code, where, what, and how to mend it.

    `label` stands beside the carets, `notes` are `= ...` lines, `help` the correction.
    """

    code: str
    message: str
    span: Span | None
    label: str = ""
    related: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str = ""
    severity: Severity = Severity.ERROR

    def __str__(self) -> str:
        """One line: the place, the code, what, and how to mend it."""
        place = ""
        if self.span is not None:
            line, column = self.span.position()
            place = f"{self.span.file.name}:{line}:{column}: "
        help = f" ({self.help})" if self.help else ""
        return f"{place}{self.severity.value}[{self.code}]: {self.message}{help}"


@dataclass
class Diagnostics:
    """Collects problems, so that one run reports all of them."""

    found: list[Diagnostic] = field(default_factory=list)

    def error(
        self,
        code: str,
        message: str,
        span: Span | None,
        *,
        label: str = "",
        related: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: str = "",
    ) -> None:
        """Record an error."""
        self.found.append(Diagnostic(code, message, span, label, related, notes, help))

    def warning(
        self, code: str, message: str, span: Span | None, *, label: str = "", help: str = ""
    ) -> None:
        """Record a warning."""
        self.found.append(
            Diagnostic(code, message, span, label, help=help, severity=Severity.WARNING)
        )

    @property
    def has_errors(self) -> bool:
        """True when at least one error (not warning) was recorded."""
        return any(d.severity is Severity.ERROR for d in self.found)

    def __iter__(self) -> Iterator[Diagnostic]:
        return iter(self.found)
