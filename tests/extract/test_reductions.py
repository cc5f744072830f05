"""Each reduction alone, and all together, keep the optimum that trying everything finds."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from oracle import best_cost, random_problem

from tensat_dl.extract.bitsets import weigh
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph, graph_of
from tensat_dl.extract.greedy import greedy_tree, price
from tensat_dl.extract.incumbent import quick_choices
from tensat_dl.extract.problem import Problem, build_problem
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.required import dominators, required_sets
from tensat_dl.extract.reductions.split import cut, part_labels
from tensat_dl.extract.reductions.table import (
    PART,
    PARTS,
    SIMPLIFYING,
    STAGES,
    WHOLE,
    Context,
    Reducer,
)
from tensat_dl.extract.reductions.upper import lower_bound
from tensat_dl.extract.selection import check, select

SEEDS = range(600)
LONG = Deadline(1e6)


def pruned(problem: Problem) -> Graph:
    return prune(graph_of(problem))


def reduced(problem: Problem, names: tuple[str, ...], upper: float = float("inf")) -> Graph:
    return Reducer().run(pruned(problem), names, Context(LONG, np.array([upper])))


def exhaustive(graph: Graph) -> float:
    """The optimum of a Graph, found as the optimum of a Problem made of it."""
    rows = zip(graph.owner.tolist(), graph.cost.tolist(), graph.kid_lists, strict=True)
    best = best_cost(build_problem(graph.classes + 1, rows, [ROOT]))
    assert best is not None
    return best


def by_id(graph: Graph) -> dict[int, list[int]]:
    """Class -> its nodes, as the Problem counts them."""
    members = zip(graph.class_id.tolist(), graph.member_ranges, strict=True)
    return {c: graph.node_id[list(nodes)].tolist() for c, nodes in members}


def small_problems() -> list[tuple[Problem, float]]:
    problems = [random_problem(seed) for seed in SEEDS]
    return [(p, best) for p in problems if (best := best_cost(p)) is not None]


PROBLEMS = small_problems()


def test_pruning_finds_out_whether_there_is_a_selection() -> None:
    for seed in SEEDS:
        problem = random_problem(seed)
        assert pruned(problem).derivable == (best_cost(problem) is not None)


@pytest.mark.slow
@pytest.mark.parametrize("names", [(s.name,) for s in STAGES] + [SIMPLIFYING, WHOLE, PARTS, PART])
def test_a_stage_keeps_the_optimum(names: tuple[str, ...]) -> None:
    removed = 0
    for problem, best in PROBLEMS:
        graph = pruned(problem)
        upper = price(graph, greedy_tree(graph))
        graph = reduced(problem, names, upper)
        assert exhaustive(graph) == pytest.approx(best)
        removed += pruned(problem).nodes - graph.nodes
    assert removed > 0 or names == ("prune",), "the problems do not exercise this stage"


@pytest.mark.slow
def test_a_choice_of_the_reduced_graph_is_one_of_the_whole() -> None:
    for problem, best in PROBLEMS:
        graph = reduced(problem, WHOLE)
        for choice in quick_choices(graph, {}, LONG):
            whole = graph.choice_of(choice.values())
            assert check(problem, select(problem, whole)) >= best - 1e-9
            assert check(problem, select(problem, whole)) == pytest.approx(price(graph, choice))


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
        graph = pruned(side_by_side(first, second))
        graph = replace(graph, part=part_labels(graph, LONG))
        parts = [cut(graph, part, LONG) for part in np.unique(graph.part[1:]).tolist()]
        assert sum(map(exhaustive, parts)) == pytest.approx(best + other)
        several += len(parts) > 1
    assert several > 50


def test_required_classes_and_dominators_of_a_known_graph() -> None:
    #     0 -> 1 -> 3,  0 -> 2 -> 3 by two nodes of 0; 3 -> 4
    rows = [(0, 1.0, [1]), (0, 1.0, [2]), (1, 1.0, [3]), (2, 1.0, [3]), (3, 1.0, [4]), (4, 1.0, [])]
    graph = pruned(build_problem(5, rows, [0]))

    def ids(bits: int) -> set[int]:
        return set(graph.class_id[required.classes(bits)].tolist())

    required = required_sets(graph, LONG)
    assert ids(required.below[1]) == {0, 3, 4}
    assert ids(required.below[2]) == {1, 3, 4}
    assert ids(required.needs[1]) == {1, 3, 4}
    assert required.marks(required.forced).tolist() == [True, True, False, False, True, True]
    above = dominators(graph, LONG)
    assert ids(above[5]) == {-1, 0, 3, 4}
    assert ids(above[3]) == {-1, 0, 2}


def test_a_node_that_needs_what_stands_above_it_goes() -> None:
    # Class 1 is used below class 0 only; its first node needs 2, which needs 0 again.
    rows = [(0, 1.0, [1]), (1, 0.5, [2]), (1, 5.0, []), (2, 0.5, [0])]
    graph = reduced(build_problem(3, rows, [0]), ("dominators",))
    assert by_id(graph) == {-1: [-1], 0: [0], 1: [2]}


def test_dominance_looks_through_what_a_sibling_requires() -> None:
    # Node 1 needs class 2, which needs class 1 anyway: node 0 asks for less and costs as much.
    rows = [(0, 3.0, [1]), (0, 3.0, [2]), (1, 1.0, []), (2, 1.0, [1])]
    graph = reduced(build_problem(3, rows, [0]), ("dominance",))
    assert by_id(graph)[0] == [0]


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
    graph = reduced(build_problem(5, rows, [0]), SIMPLIFYING)
    assert graph.settled == {1: 2, 2: 3, 3: 4, 4: 5}
    assert by_id(graph) == {-1: [-1], 0: [0, 1]}
    assert graph.cost.tolist() == [0.0, 6.0, 9.0]


def test_weights_of_bitsets() -> None:
    weights = np.arange(1.0, 20.0)
    sets = [0, 1, 0b1010, (1 << 19) - 1, 1 << 18]
    assert weigh(sets, weights, LONG).tolist() == [0.0, 1.0, 6.0, 190.0, 19.0]


def test_counts_say_what_each_stage_removed() -> None:
    rows = [(0, 1.0, [1]), (1, 0.5, [2]), (1, 5.0, []), (2, 0.5, [0]), (3, 1.0, [])]
    graph = graph_of(build_problem(4, rows, [0]))
    reducer = Reducer()
    reducer.run(graph, ("prune", "dominators"), Context(LONG))
    first, last = reducer.recorder.records()
    assert (first.name, first.scope, first.removed_classes, first.removed_nodes) == (
        "prune",
        "graph",
        1,
        1,
    )
    assert (last.removed_classes, last.removed_nodes) == (1, 2)
    assert (last.classes_before, last.nodes_before) == (3, 4)
    assert (last.classes_after, last.nodes_after) == (2, 2)
