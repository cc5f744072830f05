"""All rules of a program, verified.

Enters: a checked program, settings.  Leaves: a verdict for each rule, in the order of the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tensat_dl.errors import UsageError
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.soundness.check import check_rule
from tensat_dl.soundness.verdict import Verdict
from tensat_dl.suggest import did_you_mean


@dataclass(frozen=True)
class Settings:
    """`samples`: instances of each rule; `seed`: equal seeds draw equal instances."""

    samples: int = 40
    seed: int = 0


def chosen(program: CheckedProgram, names: Sequence[str]) -> tuple[Rule, ...]:
    """The rules of these names, as the author wrote them or as the program has them; all where no
    name is given.  Raises UsageError for a name that no rule has."""
    if not names:
        return program.rules
    found = tuple(rule for rule in program.rules if {rule.name, rule.base} & set(names))
    known = {name for rule in program.rules for name in (rule.name, rule.base)}
    for name in names:
        if name not in known:
            raise UsageError(f"there is no rule `{name}`", help=did_you_mean(name, sorted(known)))
    return found


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
