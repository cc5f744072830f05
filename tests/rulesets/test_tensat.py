"""`tensat`: all of the published rules, and no more of each than holds."""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from published import BROADCAST, GROUPED, UNGROUPED, Equation, Term, equations, proof
from published import published_rule as published

import tensat_dl
from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.language.load import load_text
from tensat_dl.language.program import CheckedProgram
from tensat_dl.rule_tests.run import run_tests
from tensat_dl.settings import Settings
from tensat_dl.soundness.run import Settings as Samples
from tensat_dl.soundness.run import chosen, verify_program
from tensat_dl.soundness.verdict import Status, Verdict
from tensat_dl.syntax import ast
from tensat_dl.syntax.parse import parse

_FILE = Path(__file__).parents[2] / "rulesets/tensat.tsat"
_HEAD = """language 1
import "tensat.tsat" as tensat
import "tensat.tsat" { ConvRelu, MergeGroups }
cost model joined { Concat = 0  Pad = 0  Split = 0  _ = 1 }
"""


@cache
def _numbers() -> dict[str, list[str]]:
    """The published numbers of each rule, which its documentation begins with."""
    module = parse(SourceFile(str(_FILE), _FILE.read_text(encoding="utf-8")), Diagnostics())
    assert module is not None
    rules = [
        member
        for item in module.items
        for member in (item.members if isinstance(item, ast.Ruleset) else (item,))
        if isinstance(member, ast.Rewrite | ast.Rule)
    ]
    return {r.name.text: re.findall(r"\b[SRM]\d+\b", r.doc.partition(":")[0]) for r in rules}


def _rule_of(number: str) -> str:
    [found] = [rule for rule, numbers in _numbers().items() if number in numbers]
    return found


def _program(text: str) -> CheckedProgram:
    diagnostics = Diagnostics()
    program = load_text(_HEAD + text, "published.tsat", diagnostics)
    assert program is not None, list(diagnostics)
    return program


def _failures(tests: str) -> dict[str, list[str]]:
    """By the title of the test; only those that fail."""
    results = list(run_tests(_program(tests), Settings()))
    assert results
    return {r.case.title: [d.message for d in r.failures] for r in results if not r.ok}


def _verify(text: str, samples: int) -> Verdict:
    program = _program(text)
    [name] = re.findall(r"^(?:rewrite|rule) (\w+)", text, re.MULTILINE)
    [verdict] = verify_program(program, chosen(program, [name]), Samples(samples, 0))
    return verdict


# --- all of them ----------------------------------------------------------------------------------


def test_every_published_number_stands_at_one_rule() -> None:
    counts = Counter(number for numbers in _numbers().values() for number in numbers)
    wanted = [f"{kind}{n}" for kind, last in (("S", 120), ("R", 4), ("M", 15)) for n in range(1, last + 1)]  # fmt: skip
    assert dict(counts) == dict.fromkeys(wanted, 1)
    assert sorted(wanted) == sorted(equations())
    assert all(numbers for numbers in _numbers().values())


def test_rules_are_named_after_their_first_number() -> None:
    for rule, numbers in _numbers().items():
        assert rule.startswith(f"{numbers[0].lower()}_"), rule


@pytest.mark.slow
def test_each_published_rule_is_proved_by_the_rule_of_its_number() -> None:
    tests = [proof(equation, f"tensat.{_rule_of(n)}") for n, equation in equations().items()]
    assert _failures("".join(tests)) == {}


# --- what was published and does not hold ---------------------------------------------------------

#: The last twenty change the type where something is broadcast, so that none of them can act there.
_REFUTED = sorted((UNGROUPED | GROUPED | BROADCAST) & {"S59", "S60", "S61", "S62"} | UNGROUPED | GROUPED)
_GUARDED = sorted(BROADCAST - set(_REFUTED))


@pytest.mark.slow
@pytest.mark.parametrize("number", _REFUTED)
def test_the_published_form_is_refuted(number: str) -> None:
    verdict = _verify(published(equations()[number]), 400)
    assert verdict.status is Status.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(UNGROUPED))
def test_it_is_refuted_without_groups_too(number: str) -> None:
    assert _verify(published(equations()[number], grouped=False), 400).status is Status.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(GROUPED))
def test_without_groups_it_holds(number: str) -> None:
    verdict = _verify(published(equations()[number], grouped=False), 40)
    assert verdict.status is Status.HOLDS
    assert verdict.instances >= 5


@pytest.mark.slow
@pytest.mark.parametrize("number", _GUARDED)
def test_what_is_broadcast_would_change_its_type_and_is_not_joined(number: str) -> None:
    """TENSAT asks only whether the right side has a type, not which."""
    equation = equations()[number]
    shapes = _shapes_of_another_type(equation)
    inputs = ", ".join(f"{name.lower()}: f32{list(shape)}" for name, shape in shapes.items())
    rule = published(equation)
    test = proof(equation, number.lower()).splitlines()
    test[1] = f"  input {inputs}"
    test[-2] = f"  expect not fires {number.lower()}"
    assert _failures(rule + "\n".join(test)) == {}
    assert _failures(rule + proof(equation, number.lower())) == {}  # all alike: it acts


def _shapes_of_another_type(equation: Equation) -> dict[str, tuple[int, ...]]:
    """Shapes for which both sides can be computed, and differ in their shape."""
    assert equation.rank is not None
    [left], [right] = equation.left, equation.right
    axis = int(left.head[3])
    for sizes in itertools.product((1, 3), repeat=len(equation.variables)):
        arrays = {
            name: np.zeros([size if at == axis else 3 for at in range(equation.rank)])
            for name, size in zip(equation.variables, sizes, strict=True)
        }
        try:
            differ = _compute(left, arrays).shape != _compute(right, arrays).shape
        except ValueError:
            continue
        if differ:
            return {name: array.shape for name, array in arrays.items()}
    raise AssertionError(equation.number)


def _compute(term: Term, arrays: dict[str, np.ndarray]) -> np.ndarray:
    if not term.args:
        return arrays[term.head]
    first, second = (_compute(arg, arrays) for arg in term.args)
    if term.head.startswith("cat"):
        return np.concatenate([first, second], axis=int(term.head[3]))
    return first + second


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(set(equations()) - set(_REFUTED), key=lambda n: (n[0], int(n[1:]))))
def test_all_others_hold_as_published(number: str) -> None:
    verdict = _verify(published(equations()[number]), 12)
    assert verdict.status is Status.HOLDS
    assert verdict.instances == 12
