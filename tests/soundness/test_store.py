"""Verdicts are read again for equal rules, and for no others."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest
from rule_files import program_of

from tensat_dl.soundness import run
from tensat_dl.soundness.run import verify_program
from tensat_dl.soundness.settings import Settings
from tensat_dl.soundness.verdict import Status, Verdict

WRONG = "rewrite r: Relu(Neg(x)) => Neg(Relu(x))"


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """Names of the rules that were really checked."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    names: list[str] = []
    check = run.check_rule

    def counted(*arguments) -> Verdict:
        names.append(arguments[1].name)
        return check(*arguments)

    monkeypatch.setattr(run, "check_rule", counted)
    return names


def verdict_of(text: str, **settings) -> Verdict:
    program = program_of(text)
    [verdict] = verify_program(program, program.rules, Settings(samples=5, processes=1, **settings))
    return verdict


def test_a_verdict_is_read_again_as_it_was(checked: list[str]) -> None:
    first, second = verdict_of(WRONG), verdict_of(WRONG)
    assert checked == ["r"]
    assert first == second
    assert first.status is Status.REFUTED
    assert first.counterexample is not None


@pytest.mark.parametrize(
    "other",
    [
        "rewrite r: Relu(Abs(x)) => Abs(Relu(x))",
        "@real\n" + WRONG,
        WRONG + " where rank(x) == 2",
        "fn f(a: int) -> int = a\n" + WRONG,
    ],
)
def test_another_rule_is_checked(checked: list[str], other: str) -> None:
    verdict_of(WRONG)
    verdict_of(other)
    assert checked == ["r", "r"]


def test_another_seed_and_no_cache_are_checked(checked: list[str]) -> None:
    verdict_of(WRONG)
    verdict_of(WRONG, seed=1)
    verdict_of(WRONG, cache=False)
    assert checked == ["r"] * 3


@pytest.mark.slow
def test_a_script_without_a_guard_may_verify_in_several_processes(tmp_path) -> None:
    """Processes are forked on Linux: nothing runs the script again."""
    if not sys.platform.startswith("linux"):
        pytest.skip("other systems need the guard, as the documentation says")
    rules = "\n".join(f"rewrite r{n}: {'Neg(' * n * 2}x{')' * n * 2} => x" for n in range(1, 8))
    (tmp_path / "r.tsat").write_text(f"language 1\n{rules}\n")
    script = (
        "import tensat_dl\nprint('once')\n"
        "found = tensat_dl.verify_rules('r.tsat', samples=3, cache=False, processes=2)\n"
        "print(sum(verdict.status.value == 'holds' for verdict in found))\n"
    )
    done = subprocess.run(
        [sys.executable, "-"],
        input=script,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout.split(), done.returncode) == (["once", "7"], 0), done.stderr


@pytest.mark.slow
def test_several_processes_find_what_one_does(monkeypatch: pytest.MonkeyPatch, tmp_path) -> None:
    text = "\n".join(
        f"rewrite r{n}: Relu({'Relu(' * n}x{')' * n}) => {'Relu' if n % 2 else 'Neg'}(x)"
        for n in range(1, 13)
    )
    program = program_of(text)
    one, two = (
        verify_program(program, program.rules, Settings(5, cache=False, processes=n))
        for n in (1, 2)
    )
    assert [replace(v, seconds=0.0) for v in one] == [replace(v, seconds=0.0) for v in two]
    assert [v.status is Status.HOLDS for v in one] == [n % 2 == 1 for n in range(1, 13)]
