"""Limits on operators and bytes of weights: the answers that trying everything finds."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from measured import measured_problem, operators, selections, total

from tensat_dl.errors import InfeasibleError, UsageError
from tensat_dl.extract.limits import in_bytes, require_selection
from tensat_dl.extract.problem import (
    MADE,
    NODES,
    WEIGHT_BYTES,
    Problem,
    Status,
    StopReason,
    build_problem,
)
from tensat_dl.extract.run import extract
from tensat_dl.extract.selection import check
from tensat_dl.settings import ExtractSettings, Method

LIMITED = ExtractSettings(
    solver="highs", seconds=30.0, max_weight_bytes=1100, at_most={"Split": 1, "Mul": 2}
)


def keeps(problem: Problem, nodes: list[int]) -> bool:
    return (
        operators(problem, nodes, "Split") <= 1
        and operators(problem, nodes, "Mul") <= 2
        and total(problem, nodes, WEIGHT_BYTES) <= 1100
    )


def best_within(problem: Problem) -> float | None:
    within = (nodes for nodes in selections(problem) if keeps(problem, nodes))
    return min((total(problem, nodes, "cost") for nodes in within), default=None)


@cache
def tight_problems(binding: int, impossible: int) -> list[tuple[Problem, float | None]]:
    """Problems whose cheapest selections are beyond the limits, with the best within; then some
    that have selections, but none within."""
    found: list[tuple[Problem, float | None]] = []
    for seed in range(7000, 9000):
        problem = measured_problem(seed)
        best = best_within(problem)
        free = min((total(problem, nodes, "cost") for nodes in selections(problem)), default=None)
        if best is None and free is not None and impossible > 0:
            impossible -= 1
            found.append((problem, None))
        if best is not None and free is not None and best > free and binding > 0:
            binding -= 1
            found.append((problem, best))
    assert binding == impossible == 0
    return found


@pytest.mark.slow
@pytest.mark.parametrize("method", ["ilp", "tensat-ilp"])
def test_limits_against_exhaustive_answers(method: str) -> None:
    for problem, best in tight_problems(10, 3):
        answer = extract(problem, replace(LIMITED, method=method))
        if best is None:
            assert answer.status is Status.INFEASIBLE and answer.selection is None
            assert answer.stopped is StopReason.PROVEN
            continue
        assert answer.selection is not None and answer.status is Status.OPTIMAL
        assert answer.objective == pytest.approx(best) == pytest.approx(answer.bound)
        assert check(problem, answer.selection) == pytest.approx(best)
        assert keeps(problem, answer.selection.chosen().tolist())


def test_the_solver_is_asked_only_where_the_cheapest_takes_too_much() -> None:
    # The cheap way of class 0 takes two Splits, the dear one none.
    rows = [(0, 1.0, [1, 2]), (0, 9.0, []), (1, 1.0, []), (2, 1.0, [])]
    problem = build_problem(3, rows, [0], ["Add", "Mul", "Split", "Split"])
    loose = extract(problem, ExtractSettings(at_most={"Split": 2}))
    assert loose.objective == 3.0 and loose.solvers == ()
    assert [(limit.text, limit.used) for limit in loose.limits] == [("at most 2 Split", 2.0)]
    tight = extract(problem, ExtractSettings(at_most={"Split": 1}))
    assert tight.objective == 9.0 and tight.solvers == ("glpk",) and tight.status is Status.OPTIMAL
    assert "without limits the cheapest takes 2 (at most 1 Split)" in tight.warnings


def test_nothing_within_the_limits_is_said_with_all_that_is_known() -> None:
    problem = build_problem(2, [(0, 1.0, [1]), (1, 1.0, [])], [0], ["Add", "Split"])
    answer = extract(problem, ExtractSettings(at_most={"Split": 0, "Add": 3}))
    assert answer.status is Status.INFEASIBLE and answer.selection is None
    with pytest.raises(InfeasibleError) as raised:
        require_selection(answer, "no acyclic selection")
    error = raised.value
    assert error.exit_code == 6
    assert "within the limits: at most 0 Split, at most 3 Add" in error.message
    assert "takes 1 (at most 0 Split)" in error.message and "extract.at_most" in error.help


def test_limits_that_make_no_sense() -> None:
    problem = build_problem(1, [(0, 1.0, [])], [0], ["Split"])
    with pytest.raises(UsageError, match="does not say which tensors"):
        extract(problem, ExtractSettings(max_weight_bytes=1))
    with pytest.raises(UsageError, match="knows no limits"):
        extract(problem, ExtractSettings(method="greedy-dag", at_most={"Split": 1}))
    answer = extract(problem, ExtractSettings(at_most={"Splitt": 1}))
    assert answer.warnings == (
        "`extract.at_most.Splitt`: no e-node is a `Splitt`; did you mean `Split`?",
    )


@pytest.mark.parametrize("method", ["greedy-dag", "greedy-tree"])
def test_what_is_for_solvers_has_no_effect_on_methods_without(method: Method) -> None:
    problem = build_problem(1, [(0, 1.0, [])], [0])
    plain = ExtractSettings(method=method)
    assert extract(problem, plain).warnings == ()
    assert extract(problem, replace(plain, gap=0.5, seconds=1.0)).warnings == ()
    assert extract(problem, replace(plain, solver="nobody")).warnings == (
        f"method `{method}` asks no solver, so that `extract.solver` has no effect",
    )
    assert extract(problem, replace(plain, options={"a": 1}, workers=2)).warnings == (
        f"method `{method}` asks no solver, so that `extract.options` and `extract.workers` have no"
        " effect",
    )
    assert extract(problem, replace(plain, method=Method.ILP, workers=2)).warnings == ()


def test_sizes_in_words() -> None:
    assert [in_bytes(n) for n in (12, 2048, 100 << 20, 3 << 30)] == [
        "12 bytes",
        "2 KiB",
        "100 MiB",
        "3 GiB",
    ]


@pytest.mark.slow
def test_ties_against_exhaustive_answers() -> None:
    decided = 0
    order = (NODES, MADE, WEIGHT_BYTES)
    for seed in range(8000, 8300):
        problem = measured_problem(seed)
        all_ = [
            (total(problem, nodes, "cost"), *(total(problem, nodes, name) for name in order))
            for nodes in selections(problem)
        ]
        answer = extract(problem, ExtractSettings(ties=("nodes", "original", "bytes")))
        if not all_:
            assert answer.selection is None
            continue
        assert answer.selection is not None
        chosen = answer.selection.chosen().tolist()
        values = (total(problem, chosen, "cost"), *(total(problem, chosen, n) for n in order))
        assert values == min(all_), seed
        decided += len({each for each in all_ if each[0] == values[0]}) > 1
    assert decided > 60, "there are hardly any ties"


@pytest.mark.slow
def test_ties_within_limits_against_exhaustive_answers() -> None:
    for problem, _ in tight_problems(10, 0):
        within = [
            (total(problem, nodes, "cost"), total(problem, nodes, NODES))
            for nodes in selections(problem)
            if keeps(problem, nodes)
        ]
        answer = extract(problem, replace(LIMITED, ties=("nodes",)))
        assert answer.selection is not None
        chosen = answer.selection.chosen().tolist()
        assert (answer.objective, total(problem, chosen, NODES)) == min(within)


def test_without_ties_nothing_more_is_done() -> None:
    problem = measured_problem(8000)
    names = [stage.name for stage in extract(problem, ExtractSettings(ties=())).stages]
    assert "ties" not in names


def test_the_original_wins_at_equal_cost() -> None:
    # Two ways of equal cost and size; a rule made the first of them.
    rows = [(0, 2.0, [1]), (0, 2.0, [1]), (1, 1.0, [])]
    problem = replace(
        build_problem(2, rows, [0], ["Add", "Sub", "Neg"]),
        measures={MADE: np.array([1.0, 0.0, 0.0])},
    )
    answer = extract(problem, ExtractSettings())
    assert answer.selection is not None and answer.selection.node_of_class.tolist() == [1, 2]
