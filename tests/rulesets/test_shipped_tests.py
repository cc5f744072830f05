"""The tests that shipped rulesets carry: all hold, and each conditional rule fires in one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_program
from tensat_dl.language.program import CheckedProgram, Rule
from tensat_dl.rule_tests.run import run_tests
from tensat_dl.settings import Settings

RULESETS = Path(__file__).parents[2] / "rulesets"
TESTS = sorted((RULESETS / "tests").glob("*.tsat"))


def load(path: Path) -> CheckedProgram:
    diagnostics = Diagnostics()
    program = load_program([str(path)], diagnostics)
    assert program is not None, list(diagnostics)
    return program


def subject(path: Path) -> CheckedProgram:
    """The ruleset that a file of tests is about."""
    (found,) = (RULESETS / part / path.name for part in ("onnx", "") if _is_there(part, path))
    return load(found)


def _is_there(part: str, path: Path) -> bool:
    return (RULESETS / part / path.name).is_file()


def is_conditional(rule: Rule) -> bool:
    """Something besides operators and attributes decides."""
    return bool(rule.conditions or rule.facts)


@pytest.mark.slow
@pytest.mark.parametrize("path", TESTS, ids=lambda path: path.stem)
def test_they_hold_and_every_conditional_rule_fires(path: Path) -> None:
    fired = set()
    for result in run_tests(load(path), Settings()):
        assert result.failures == (), result.case.title
        fired |= {name.split(".", 1)[1].split("@")[0].removesuffix("<=") for name in result.fired}
    conditional = {rule.base for rule in subject(path).rules if is_conditional(rule)}
    assert conditional - fired == set()


@pytest.mark.slow
def test_every_ruleset_with_conditions_has_tests() -> None:
    rulesets = [path for path in RULESETS.rglob("*.tsat") if path.parent.name != "tests"]
    conditional = {p.name for p in rulesets if any(map(is_conditional, subject_rules(p)))}
    assert conditional <= {path.name for path in TESTS}


def subject_rules(path: Path) -> tuple[Rule, ...]:
    """A ruleset's own rules, not those that it imports."""
    return tuple(rule for rule in load(path).rules if "." not in rule.base)
