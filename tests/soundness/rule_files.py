"""Rules given as text, verified."""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_text
from tensat_dl.language.program import CheckedProgram
from tensat_dl.soundness.run import verify_program
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.verdict import Counterexample, Status, Verdict


def program_of(text: str) -> CheckedProgram:
    diagnostics = Diagnostics()
    program = load_text("language 1\n" + text, "rules.tsat", diagnostics)
    assert program is not None, list(diagnostics)
    assert not diagnostics.has_errors, list(diagnostics)
    return program


def verify(
    text: str, samples: int = 40, seed: int = 0, *, unguarded: bool = False
) -> dict[str, Verdict]:
    """Verdicts by the rule's name."""
    program = program_of(text)
    settings = Settings(samples, seed, unguarded=unguarded, cache=False, processes=1)
    found = verify_program(program, program.rules, settings)
    return {verdict.rule: verdict for verdict in found}


def statuses(verdicts: Mapping[str, Verdict]) -> dict[str, str]:
    """`holds`, `refuted`, .. by the rule's name."""
    return {name: verdict.status.value for name, verdict in verdicts.items()}


def refutation(verdict: Verdict) -> Counterexample:
    """What refutes the rule."""
    assert verdict.status is Status.REFUTED, verdict
    assert verdict.counterexample is not None
    return verdict.counterexample
