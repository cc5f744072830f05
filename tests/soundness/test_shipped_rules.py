"""Every shipped rule holds: on instances of all kinds, without one that it was not tried on."""

from __future__ import annotations

import pytest

from tensat_dl.language.load import load_rules, shipped_names
from tensat_dl.soundness.findings import findings
from tensat_dl.soundness.run import verify_program
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.verdict import Status

pytestmark = pytest.mark.slow


def test_every_shipped_rule_holds() -> None:
    program = load_rules(list(shipped_names()))
    rules = tuple(rule for rule in program.rules if rule.off is None)
    settings = Settings(samples=25, conditions=False, cache=False)
    verdicts = verify_program(program, rules, settings)
    said = findings({rule.name: rule for rule in rules}, verdicts)
    assert [(d.message, d.notes) for d in said] == []
    assert {verdict.status for verdict in verdicts} == {Status.HOLDS}
    assert min(verdict.instances for verdict in verdicts) >= 10
