"""All rules of a program, verified.

Enters: a checked program, settings.  Leaves: a verdict for each rule, in the order of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness.check import check_rule
from tensat_dl.soundness.verdict import Verdict


@dataclass(frozen=True)
class Settings:
    """`samples`: instances of each rule; `seed`: equal seeds draw equal instances."""

    samples: int = 40
    seed: int = 0


def verify_program(
    program: CheckedProgram,
    rules: Sequence[Rule],
    settings: Settings,
    progress: Callable[[Verdict], None] | None = None,
) -> tuple[Verdict, ...]:
    """Verify `rules` of `program`; `progress` hears of each verdict."""
    found = []
    for rule in rules:
        verdict = check_rule(program, rule, settings.samples, settings.seed)
        found.append(verdict)
        if progress is not None:
            progress(verdict)
    return tuple(found)
