"""How the checker reports: each problem once, with a suggestion where a name is nearly right.

A rule is checked once for each direction and each operator of its class; what is wrong with all
of them is said once.
"""

from __future__ import annotations

from tensat_dl.diagnostics import Diagnostics, Label, Span
from tensat_dl.syntax.comments import pieces


class Reporter:
    """Passes problems on to `diagnostics`, dropping those said before.

    `errors` counts all, repeated ones too.  `aside` is added to the notes of every error.
    """

    def __init__(self, diagnostics: Diagnostics) -> None:
        """`diagnostics` receives what is reported."""
        self._diagnostics = diagnostics
        self._said: set[tuple[str, Span]] = set()
        self.errors = 0
        self.aside = ""

    def error(
        self,
        code: str,
        message: str,
        span: Span,
        *,
        label: str = "",
        related: tuple[Label, ...] = (),
        notes: tuple[str, ...] = (),
        help: str = "",
    ) -> None:
        """Record an error, unless the same code was recorded for the same place."""
        self.errors += 1
        notes += (self.aside,) if self.aside else ()
        if self._is_new(code, span):
            self._diagnostics.error(
                code, message, span, label=label, related=related, notes=notes, help=help
            )

    def warning(
        self, code: str, message: str, span: Span, *, label: str = "", help: str = ""
    ) -> None:
        """Record a warning, unless the same code was recorded for the same place."""
        if self._is_new(code, span):
            self._diagnostics.warning(code, message, span, label=label, help=help)

    def _is_new(self, code: str, span: Span) -> bool:
        known = (code, span) in self._said
        self._said.add((code, span))
        return not known


def source_text(span: Span) -> str:
    """What was written there, on one line, without comments."""
    written = span.file.text[span.start : span.end]
    if "\n" not in written:
        return written
    code = (piece.group() for piece in pieces(written) if not piece.group().startswith("#"))
    return " ".join(code)
