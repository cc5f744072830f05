"""Each reduction alone, and all together, keep the optimum that trying everything finds."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from oracle import best_cost, random_problem

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.greedy import greedy_dag, greedy_shared, greedy_tree
from tensat_dl.extract.problem import Problem, build_problem
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.required import dominators, required_sets
from tensat_dl.extract.reductions.split import split
from tensat_dl.extract.reductions.table import (
    COMPONENT,
    SIMPLIFYING,
    STAGES,
    WHOLE,
    Context,
    Reducer,
)
from tensat_dl.extract.reductions.upper import lower_bound, weigh
from tensat_dl.extract.selection import check, select
from tensat_dl.extract.work import ROOT, Work, work_of

SEEDS = range(600)
LONG = Deadline(1e6)


def pruned(problem: Problem) -> Work:
    work = work_of(problem)
    prune(work)
    return work


def reduced(problem: Problem, names: tuple[str, ...], upper: float = float("inf")) -> Work:
    work = pruned(problem)
    Reducer().run(work, names, Context(LONG, upper))
    return work


def exhaustive(work: Work) -> float:
    """The optimum of a Work graph, found as the optimum of a Problem made of it."""
    number = {c: i for i, c in enumerate(work.members)}
    rows = (
        (number[work.owner[n]], work.cost[n], [number[kid] for kid in kids])
        for n, kids in work.children.items()
    )
    best = best_cost(build_problem(len(number), rows, [number[ROOT]]))
    assert best is not None
    return best


def small_problems() -> list[tuple[Problem, float]]:
    problems = [random_problem(seed) for seed in SEEDS]
    return [(p, best) for p in problems if (best := best_cost(p)) is not None]


PROBLEMS = small_problems()


def test_pruning_finds_out_whether_there_is_a_selection() -> None:
    for seed in SEEDS:
        problem = random_problem(seed)
        assert pruned(problem).derivable == (best_cost(problem) is not None)


@pytest.mark.parametrize("names", [(s.name,) for s in STAGES] + [SIMPLIFYING, WHOLE, COMPONENT])
def test_a_stage_keeps_the_optimum(names: tuple[str, ...]) -> None:
    removed = 0
    for problem, best in PROBLEMS:
        upper = check(problem, select(problem, greedy_tree(pruned(problem))))
        work = reduced(problem, names, upper)
        assert exhaustive(work) == pytest.approx(best)
        removed += pruned(problem).nodes - work.nodes
    assert removed > 0 or names == ("prune",), "the problems do not exercise this stage"


def test_a_choice_of_the_reduced_graph_is_one_of_the_whole() -> None:
    for problem, best in PROBLEMS:
        work = reduced(problem, WHOLE)
        for choice in (greedy_dag(work, LONG), greedy_shared(work, LONG), greedy_tree(work)):
            assert check(problem, select(problem, {**work.settled, **choice})) >= best - 1e-9


def test_the_bound_never_exceeds_the_optimum() -> None:
    for problem, best in PROBLEMS:
        assert lower_bound(pruned(problem), LONG) <= best + 1e-9
        assert lower_bound(reduced(problem, WHOLE), LONG) <= best + 1e-9


def side_by_side(first: Problem, second: Problem) -> Problem:
    """Both problems as one; nothing connects them."""
    rows = []
    for problem, shift in ((first, 0), (second, first.classes)):
        for n, c in enumerate(problem.node_class.tolist()):
            kids = problem.children[problem.child_start[n] : problem.child_start[n + 1]]
            rows.append((c + shift, float(problem.node_cost[n]), (kids + shift).tolist()))
    roots = [*first.roots.tolist(), *(second.roots + first.classes).tolist()]
    return build_problem(first.classes + second.classes, rows, roots)


def test_the_parts_add_up_to_the_whole() -> None:
    several = 0
    for (first, best), (second, other) in pairwise(PROBLEMS):
        parts = split(pruned(side_by_side(first, second)), LONG)
        assert parts.constant + sum(map(exhaustive, parts.parts)) == pytest.approx(best + other)
        several += len(parts.parts) > 1
    assert several > 50


def test_required_classes_and_dominators_of_a_known_graph() -> None:
    #     0 -> 1 -> 3,  0 -> 2 -> 3 by two nodes of 0; 3 -> 4
    rows = [(0, 1.0, [1]), (0, 1.0, [2]), (1, 1.0, [3]), (2, 1.0, [3]), (3, 1.0, [4]), (4, 1.0, [])]
    work = pruned(build_problem(5, rows, [0]))
    required = required_sets(work, LONG)
    assert set(required.classes(required.below[0])) == {0, 3, 4}
    assert set(required.classes(required.below[1])) == {1, 3, 4}
    above = dominators(work, required, LONG)
    assert set(required.classes(above[4])) == {ROOT, 0, 3, 4}
    assert set(required.classes(above[2])) == {ROOT, 0, 2}


def test_a_node_that_needs_what_stands_above_it_goes() -> None:
    # Class 1 is used below class 0 only; its first node needs 2, which needs 0 again.
    rows = [(0, 1.0, [1]), (1, 0.5, [2]), (1, 5.0, []), (2, 0.5, [0])]
    work = reduced(build_problem(3, rows, [0]), ("dominators",))
    assert work.members[1] == [2] and 2 not in work.members


def test_dominance_looks_through_what_a_sibling_requires() -> None:
    # Node 1 needs class 2, which needs class 1 anyway: node 0 asks for less and costs as much.
    rows = [(0, 3.0, [1]), (0, 3.0, [2]), (1, 1.0, []), (2, 1.0, [1])]
    work = reduced(build_problem(3, rows, [0]), ("dominance",))
    assert work.members[0] == [0]


def test_free_classes_and_aliases_leave() -> None:
    # 1 is free; 2 is another name of 3; 4 is merged into the node that alone uses it.
    rows = [
        (0, 1.0, [1, 2]),
        (0, 2.0, [4]),
        (1, 0.0, []),
        (2, 0.0, [3]),
        (3, 5.0, []),
        (4, 7.0, []),
    ]
    work = reduced(build_problem(5, rows, [0]), SIMPLIFYING)
    assert work.settled[1] == 2 and work.settled[2] == 3
    assert sorted(work.cost[n] for n in work.members[0]) == [6.0, 9.0]


def test_weights_of_bitsets() -> None:
    weights = np.arange(1.0, 20.0)
    sets = [0, 1, 0b1010, (1 << 19) - 1, 1 << 18]
    assert weigh(sets, weights, LONG).tolist() == [0.0, 1.0, 6.0, 190.0, 19.0]


def test_counts_say_what_each_stage_removed() -> None:
    rows = [(0, 1.0, [1]), (1, 0.5, [2]), (1, 5.0, []), (2, 0.5, [0]), (3, 1.0, [])]
    work = work_of(build_problem(4, rows, [0]))
    reducer = Reducer()
    reducer.run(work, ("prune", "dominators"), Context(LONG))
    prune_count, loop_count = reducer.records()
    assert (prune_count.name, prune_count.removed_classes, prune_count.removed_nodes) == (
        "prune",
        1,
        1,
    )
    assert (loop_count.removed_classes, loop_count.removed_nodes) == (1, 2)
    assert (loop_count.classes_before, loop_count.nodes_before) == (3, 4)
    assert (loop_count.classes_after, loop_count.nodes_after) == (2, 2)
