"""Every shipped rule acts where it should, rests where it must, and what it makes is equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import cases_arithmetic
import cases_attention
import cases_blocks
import cases_branches
import cases_broadcasts
import cases_differences
import cases_exporters
import cases_extra
import cases_fold
import cases_keras
import cases_move
import cases_norms
import cases_parts
import cases_places
import cases_reduce
import cases_shapes
import cases_tidy
import cases_transpose
import cases_weights
import pytest
from alternatives import explore_alone, rules_by_name
from comparisons import assert_equal, assert_equal_on_specials
from rule_cases import Case
from small_models import build_model, side_by_side

CASES = [
    *cases_tidy.CASES,
    *cases_transpose.CASES,
    *cases_fold.CASES,
    *cases_move.CASES,
    *cases_norms.CASES,
    *cases_attention.CASES,
    *cases_places.CASES,
    *cases_arithmetic.CASES,
    *cases_blocks.CASES,
    *cases_branches.CASES,
    *cases_broadcasts.CASES,
    *cases_differences.CASES,
    *cases_parts.CASES,
    *cases_reduce.CASES,
    *cases_weights.CASES,
    *cases_shapes.CASES,
    *cases_exporters.CASES,
    *cases_keras.CASES,
    *cases_extra.CASES,
]


def members() -> dict[str, list[str]]:
    """The rules of each name, one for each operator of a class."""
    found: dict[str, list[str]] = {}
    for name in rules_by_name():
        found.setdefault(name.removesuffix("<=").partition("@")[0], []).append(name)
    return found


MEMBERS = members()
#: These take booleans.
LOGICAL = ("Not", "And", "Or", "Xor")


def acting() -> Iterator[object]:
    for number, case in enumerate(CASES):
        if case.fires:
            for rule in MEMBERS.get(case.rule, [case.rule]):
                yield pytest.param(case, rule, id=f"{rule}-{number}")


def resting() -> Iterator[object]:
    """Cases of one rule, at one opset, after the same rules."""
    together: dict[tuple[str, int, tuple[str, ...]], list[Case]] = {}
    for case in CASES:
        if not case.fires:
            for rule in MEMBERS.get(case.rule, [case.rule]):
                together.setdefault((rule, case.opset, tuple(case.after)), []).append(case)
    for (rule, opset, _), cases in together.items():
        yield pytest.param(rule, cases, id=f"{rule}-{opset}-{len(cases)}")


def text_of(case: Case, rule: str) -> str:
    operator = rule.removesuffix("<=").partition("@")[2]
    text = case.text.replace("f32", "bool") if operator in LOGICAL else case.text
    return text.replace("F(", f"{operator}(") if operator else text


@pytest.mark.slow
@pytest.mark.parametrize(("case", "rule"), list(acting()))
def test_it_acts_and_what_it_makes_is_equal(case: Case, rule: str) -> None:
    model = build_model(text_of(case, rule), case.opset)
    explored = explore_alone([rule, *case.after], model)
    assert explored.applied, explored.saturated.exploration
    made = list(explored.models(seeds=[1]))
    assert made[0].SerializeToString() != model.SerializeToString()
    for other in made:
        assert_equal(model, other)
    if case.specials and not rules_by_name()[rule].real:
        assert_equal_on_specials(model, made[0])


@pytest.mark.slow
@pytest.mark.parametrize(("rule", "cases"), list(resting()))
def test_it_rests(rule: str, cases: list[Case]) -> None:
    """All cases of a rule in one graph, side by side."""

    def acts(cases: Sequence[Case]) -> bool:
        model = side_by_side(build_model(text_of(case, rule), case.opset) for case in cases)
        explored = explore_alone([rule, *cases[0].after], model)
        return explored.saturated.exploration.rules[rule].applied > 0

    if acts(cases):
        assert not [case for case in cases if acts([case])]
        pytest.fail("it acts between cases that have nothing in common")


def test_every_rule_has_a_case_in_which_it_acts() -> None:
    assert {case.rule for case in CASES if case.fires} == set(MEMBERS)
