"""Failures that end a run, each with its exit code.

Stages raise these; only `cli/` prints them and exits.  Problems inside rule files are values
(:class:`tensat_dl.diagnostics.Diagnostic`) and travel in :class:`RuleFileError`.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum

from tensat_dl.diagnostics import Diagnostic
from tensat_dl.sentences import counted


class ExitCode(IntEnum):
    """What the shell sees."""

    OK = 0
    INTERNAL = 1
    USAGE = 2
    BAD_INPUT = 3
    BAD_RULES = 4
    NOT_VERIFIED = 5
    INFEASIBLE = 6
    INTERRUPTED = 130


class TensatError(Exception):
    """A failure with one message for a person and, where there is one, a next step; `also`: what
    else is wrong, each a line of its own."""

    exit_code = ExitCode.INTERNAL

    def __init__(self, message: str, *, help: str = "", also: Sequence[str] = ()) -> None:
        self.lines = (message, *also)
        self.message = "\n".join(self.lines)
        self.help = help
        super().__init__(self.message)


class UsageError(TensatError):
    """Wrong flags, configuration, or a solver that cannot be used."""

    exit_code = ExitCode.USAGE


class InputError(TensatError):
    """The model or e-graph cannot be read or is not valid."""

    exit_code = ExitCode.BAD_INPUT


class RuleFileError(TensatError):
    """The rule file has errors; `diagnostics` holds them all."""

    exit_code = ExitCode.BAD_RULES

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__(f"{counted(len(diagnostics), 'problem')} in the rule file")
        self.diagnostics = tuple(diagnostics)

    def __str__(self) -> str:
        return "\n".join((f"{self.message}:", *map(str, self.diagnostics)))


class UnsoundRuleError(TensatError):
    """Exploration found two types for one tensor: some rule changes a type."""

    exit_code = ExitCode.BAD_RULES


class VerificationError(TensatError):
    """The optimised model does not compute what the original does; nothing was written."""

    exit_code = ExitCode.NOT_VERIFIED


class InfeasibleError(TensatError):
    """No acyclic selection exists, or none was found within the limits."""

    exit_code = ExitCode.INFEASIBLE
