"""`tensat`: all of the published rules, and no more of each than holds."""

from __future__ import annotations

import itertools
import re
import sys
from collections import Counter
from functools import cache
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx.reference import ReferenceEvaluator
from published import (
    BROADCAST,
    GROUPED,
    UNGROUPED,
    Equation,
    Published,
    compute,
    equations,
    proofs,
    published_rule as published,
    wrong_where_broadcast,
)

import tensat_dl
from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.language.load import load_text
from tensat_dl.language.program import CheckedProgram
from tensat_dl.rule_tests.run import run_tests
from tensat_dl.settings import Settings
from tensat_dl.soundness.run import Settings as Samples, chosen, verify_program
from tensat_dl.soundness.verdict import Status, Verdict
from tensat_dl.syntax import ast
from tensat_dl.syntax.format import lay_out
from tensat_dl.syntax.parse import parse

sys.path.append(str(Path(__file__).parents[1] / "bench"))

from models import bert, nasrnn

_FILE = Path(__file__).parents[2] / "rulesets/tensat.tsat"
_HEAD = """language 1
import "tensat.tsat" as tensat
import "tensat.tsat" { ConvRelu, MergeGroups }
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


def _verify(text: str, samples: int, *, unguarded: bool = False) -> Verdict:
    program = _program(text)
    [name] = re.findall(r"^(?:rewrite|rule) (\w+)", text, re.MULTILINE)
    settings = Samples(samples, 0, unguarded=unguarded)
    [verdict] = verify_program(program, chosen(program, [name]), settings)
    return verdict


# --- all of them ----------------------------------------------------------------------------------


def test_every_published_number_stands_at_one_rule() -> None:
    counts = Counter(number for numbers in _numbers().values() for number in numbers)
    last = {"S": 120, "R": 4, "M": 15}
    wanted = [f"{kind}{n}" for kind in last for n in range(1, last[kind] + 1)]
    assert dict(counts) == dict.fromkeys(wanted, 1)
    assert sorted(wanted) == sorted(equations())
    assert all(numbers for numbers in _numbers().values())


def test_rules_are_named_after_their_first_number() -> None:
    for rule, numbers in _numbers().items():
        assert rule.startswith(f"{numbers[0].lower()}_"), rule


@pytest.mark.slow
def test_the_shipped_tests_begin_with_the_published_equations() -> None:
    """They were written with `proofs`; that they hold is seen where all shipped tests run."""
    rules = {n: rule for rule, numbers in _numbers().items() for n in numbers}
    text = (_FILE.parent / "tests/tensat.tsat").read_text(encoding="utf-8")
    assert text.startswith(lay_out(proofs(rules)))


# --- what was published and does not hold ---------------------------------------------------------

#: The last twenty change the type where something is broadcast, so that none of them can act there,
#: but for those that keep it where what is broadcast is empty.
_REFUTED = sorted(
    (UNGROUPED | GROUPED | BROADCAST) & {"S59", "S60", "S61", "S62"} | UNGROUPED | GROUPED
)
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
def test_the_published_form_is_refuted_without_the_guard_of_types(number: str) -> None:
    """On shapes that numpy takes on both sides and that come out as two."""
    verdict = _verify(published(equations()[number]), 40, unguarded=True)
    assert verdict.status is Status.REFUTED
    found = verdict.counterexample
    assert found is not None
    arrays = {t.name.upper(): np.zeros(_dims(t.type)) for t in found.inputs}
    [left], [right] = equations()[number].left, equations()[number].right
    assert compute(left, arrays).shape == _dims(found.left.type)
    assert compute(right, arrays).shape == _dims(found.right.type)
    assert sum(array.size for array in arrays.values()) <= 12
    if found.left.type == found.right.type:  # an operand is empty, and another is repeated
        assert 0 in {array.size for array in arrays.values()}
        assert found.left.elements != found.right.elements


def _dims(type_: str) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", type_.partition("[")[2])))


@pytest.mark.slow
@pytest.mark.parametrize("number", _GUARDED)
def test_what_is_broadcast_would_change_its_type_and_is_not_joined(number: str) -> None:
    """TENSAT asks only whether the right side has a type, not which."""
    equation = equations()[number]
    shapes = _shapes_of_another_type(equation)
    inputs = ", ".join(f"{each.lower()}: f32{list(shape)}" for each, shape in shapes.items())
    rule, name = published(equation), number.lower()
    left = Published(enlarged=False, grouped=False).term(equation.left[0])
    alike = ", ".join(f"{each.lower()}: f32{[3] * len(shape)}" for each, shape in shapes.items())
    test = (
        f'test "broadcast" using {name} '
        f"{{ input {inputs} given y = {left} expect not fires {name} }}"
        f'test "alike" using {name} {{ input {alike} given y = {left} expect fires {name} }}'
    )
    assert _failures(rule + test) == {}


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
            differ = compute(left, arrays).shape != compute(right, arrays).shape
        except ValueError:
            continue
        if differ:
            return {name: array.shape for name, array in arrays.items()}
    raise AssertionError(equation.number)


@pytest.mark.slow
@pytest.mark.parametrize("number", sorted(wrong_where_broadcast()))
def test_where_an_empty_operand_keeps_the_type_it_is_refuted(number: str) -> None:
    assert _verify(published(equations()[number]), 40).status is Status.REFUTED


@pytest.mark.slow
@pytest.mark.parametrize(
    "number",
    sorted(
        set(equations()) - {*_REFUTED, *wrong_where_broadcast()}, key=lambda n: (n[0], int(n[1:]))
    ),
)
def test_all_others_hold_as_published(number: str) -> None:
    verdict = _verify(published(equations()[number]), 6)
    assert verdict.status is Status.HOLDS
    assert verdict.instances == 6


# --- models ---------------------------------------------------------------------------------------

_SMALL = {"explore": {"enodes": 8_000, "seconds": 20}, "extract": {"seconds": 20}}


@pytest.mark.slow
def test_the_products_of_a_recurrent_cell_are_joined() -> None:
    """Of 16 products of a step no more than one pair of each two is left, in one round."""
    model = nasrnn(steps=1, hidden=8)
    result = tensat_dl.optimize(model, "tensat", {**_SMALL, "cost": {"model": "nodes"}})
    cost = result.report["cost"]
    assert cost["after"] < cost["before"]
    assert _count(result.model, "MatMul") < _count(model, "MatMul") == 16


@pytest.mark.slow
@pytest.mark.parametrize("cost", ["nodes", "flops"])
def test_a_transformer_is_no_worse_and_computes_the_same(cost: str) -> None:
    model = bert(blocks=1, length=8, width=16, heads=2)
    result = tensat_dl.optimize(model, "tensat", {**_SMALL, "cost": {"model": cost}})
    assert result.report["cost"]["after"] <= result.report["cost"]["before"]
    feed = {"x": np.random.default_rng(0).standard_normal((8, 16)).astype(np.float32)}
    for one, other in zip(_run(model, feed), _run(result.model, feed), strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-4, atol=1e-4)


def _count(model: onnx.ModelProto, operator: str) -> int:
    return sum(node.op_type == operator for node in model.graph.node)


def _run(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> list[np.ndarray]:
    return ReferenceEvaluator(model).run(None, feed)
