"""A bounded number of random graphs; `random_graphs.py` runs more."""

from __future__ import annotations

import pytest
from line import Line
from random_graphs import RULES, check_answers, check_selections, random_graph


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12))
def test_any_selection_computes_the_same(seed: int) -> None:
    check_selections(random_graph(seed), seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(12, 20))
def test_answers_verify_and_are_not_dearer(line: Line, seed: int) -> None:
    check_answers(random_graph(seed), line)


def test_a_wrong_rule_is_found_within_a_few_graphs() -> None:
    """Else the other tests here would say nothing."""
    wrong = RULES + "rewrite wrong: Relu(Neg(x)) => Neg(Relu(x))\n"
    with pytest.raises(AssertionError, match="ok=False"):
        for seed in range(60):
            check_selections(random_graph(seed), seed, wrong)
