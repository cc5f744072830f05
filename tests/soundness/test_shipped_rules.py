"""Every shipped rule holds: on instances of all kinds, without one that it was not tried on."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensat_dl.language.load import load_rules, shipped_names
from tensat_dl.soundness.findings import findings
from tensat_dl.soundness.run import verify_program
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.verdict import Status

pytestmark = pytest.mark.slow

#: Parts that take less than a minute each on a busy machine.
PARTS = 3


@pytest.mark.parametrize("part", range(PARTS))
def test_every_shipped_rule_holds(part: int) -> None:
    program = load_rules(list(shipped_names()))
    rules = tuple(rule for rule in program.rules if rule.off is None)[part::PARTS]
    settings = Settings(samples=20, conditions=False, cache=False)
    verdicts = verify_program(program, rules, settings)
    said = findings(program, verdicts)
    assert [(d.message, d.notes) for d in said] == []
    assert {verdict.status for verdict in verdicts} == {Status.HOLDS}
    assert {v.rule: v.instances for v in verdicts if v.instances < 5} == {}
    own = {rule.name for rule in rules if Path(rule.span.file.name).name == "tensat.tsat"}
    assert own
    assert {v.rule: v.apart for v in verdicts if v.rule in own and v.apart} == {}  # no guard needed
