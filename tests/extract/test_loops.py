"""The stages for cyclic components, against all selections, found by trying everything."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator

import numpy as np
import pytest
from oracle import hard_problem, looped_problem, selections, staged_problem

from tensat_dl.extract.deadline import Deadline, OutOfTime
from tensat_dl.extract.graph import Graph, graph_of
from tensat_dl.extract.problem import Problem, build_problem
from tensat_dl.extract.reductions import paths, probing
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.table import Context, Reducer

LONG = Deadline(1e6)
LOOPS = ("closure", "dominators")
BEFORE = (*LOOPS, "upper-bound")
ALL = float("inf")


def reduced(problem: Problem, names: tuple[str, ...], upper: float = ALL) -> Graph:
    context = Context(LONG, np.array([upper]))
    return Reducer().run(prune(graph_of(problem)), names, context)


def nodes_of(graph: Graph) -> set[int]:
    return set(graph.node_id.tolist()) - {-1}


def chosen_within(problem: Problem, upper: float) -> set[int]:
    """The nodes of the acyclic selections that cost at most `upper`."""
    cost = problem.node_cost
    return {n for nodes in selections(problem) if cost[nodes].sum() <= upper for n in nodes}


def problems() -> Iterator[Problem]:
    for generate, count in ((looped_problem, 200), (hard_problem, 20), (staged_problem, 20)):
        yield from map(generate, range(count))


@pytest.mark.slow
def test_what_goes_is_in_no_selection() -> None:
    """Without an upper bound, and with one that is not far; what the stages before them leave is
    enough to do."""
    more: Counter[tuple[str, bool]] = Counter()
    for problem in problems():
        found = [(problem.node_cost[nodes].sum(), nodes) for nodes in selections(problem)]
        for upper in (ALL, 1.5 * min((cost for cost, _ in found), default=0.0)):
            chosen = {n for cost, nodes in found if cost <= upper for n in nodes}
            before = nodes_of(reduced(problem, BEFORE, upper))
            for name in ("paths", "probing"):
                left = nodes_of(reduced(problem, (*BEFORE, name), upper))
                assert chosen <= left
                more[name, upper is ALL] += left < before
    assert min(more.values()) > 20 and len(more) == 4, more


def test_a_node_whose_needs_cut_its_class_off() -> None:
    """Classes 1 and 2 both lead to 3, whose node 6 needs them both: each of them may stand below
    3, but then nothing leads there.  Neither is a dominator of 3."""
    rows = [
        (0, 1.0, [1]),
        (0, 1.0, [2]),
        (1, 1.0, [3]),
        (1, 1.0, []),
        (2, 1.0, [3]),
        (2, 1.0, []),
        (3, 1.0, [4]),
        (3, 9.0, []),
        (4, 1.0, [1, 2]),
    ]
    problem = build_problem(5, rows, [0])
    assert nodes_of(reduced(problem, LOOPS)) == set(range(9))
    assert nodes_of(reduced(problem, ("paths",))) == {0, 1, 2, 3, 4, 5, 7}


TWICE = [
    (0, 1.0, [1]),
    (0, 1.0, [2]),
    (1, 1.0, [3]),
    (1, 1.0, []),
    (2, 1.0, [6]),
    (2, 1.0, []),
    (3, 1.0, [4]),
    (3, 9.0, []),
    (4, 1.0, [1, 5]),
    (5, 1.0, [2]),
    (5, 1.0, [6]),
    (6, 1.0, [3]),
    (6, 9.0, []),
]


def test_what_stands_above_then_is_not_used_below() -> None:
    """Node 6 of class 3 needs 1: the way to 3 is 0, 2, 6, and none of these is left to class 5,
    which needs 2 or 6."""
    problem = build_problem(7, TWICE, [0])
    assert nodes_of(reduced(problem, LOOPS)) == set(range(13))
    assert nodes_of(reduced(problem, ("paths",))) == {0, 1, 2, 3, 4, 5, 7, 11, 12}


def test_what_stands_above_then_is_paid() -> None:
    """Where class 5 has one more node, which is left to it, node 6 means classes 0 to 6: 7.0 at
    least.  The upper bound alone does not know of 2 and 6."""
    problem = build_problem(7, [*TWICE, (5, 1.0, [])], [0])
    assert min(problem.node_cost[nodes].sum() for nodes in selections(problem) if 6 in nodes) == 7.0
    assert nodes_of(reduced(problem, ("upper-bound",), 6.5)) >= {6, 8, 13}
    assert nodes_of(reduced(problem, ("paths",), 7.0)) == set(range(14)) - {7, 12}
    assert nodes_of(reduced(problem, ("paths",), 6.5)).isdisjoint({6, 8, 9, 10, 13})


def test_a_node_with_which_another_class_becomes_dear() -> None:
    """Classes 1 and 2 need each other, or cost 6 and 9 alone.  If 1 has node 2, which needs 2, the
    cheap node of 2 would close a loop: that costs 9.  Bounds by the least costs see 1."""
    rows = [
        (0, 0.0, [1]),
        (0, 0.0, [2]),
        (1, 0.0, [2]),
        (1, 6.0, []),
        (2, 1.0, [1]),
        (2, 9.0, []),
    ]
    problem = build_problem(3, rows, [0])
    for name in (*LOOPS, "upper-bound", "paths"):
        assert 2 in nodes_of(reduced(problem, (name,), 8.0))
    left = nodes_of(reduced(problem, ("probing",), 8.0))
    assert 2 not in left and chosen_within(problem, 8.0) == left == {0, 1, 3, 4}


def test_a_probe_sees_what_stands_above() -> None:
    """Without an upper bound, the first two graphs tell a probe as much as the path test."""
    assert 6 not in nodes_of(reduced(build_problem(7, TWICE, [0]), ("probing",)))


@pytest.mark.parametrize("name", ["paths", "probing"])
def test_large_components_and_late_hours_are_left_alone(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = prune(graph_of(build_problem(7, TWICE, [0])))
    upper = np.array([6.5])
    run: Callable[[Graph, np.ndarray, Deadline], Graph]
    module, run = {
        "paths": (paths, paths.remove_cut_off),
        "probing": (probing, probing.remove_probed),
    }[name]
    assert run(graph, upper, LONG).nodes < graph.nodes
    with pytest.raises(OutOfTime):
        run(prune(graph_of(build_problem(7, TWICE, [0]))), upper, Deadline(0.0))
    monkeypatch.setattr(module, "_MOST_CLASSES", 1)
    assert run(graph, upper, LONG) is graph


@pytest.mark.slow
def test_the_path_test_on_vgg(instance: Callable[[str], Problem]) -> None:
    graph = Reducer().run(prune(graph_of(instance("vgg.csv"))), LOOPS, Context(LONG))
    left = paths.remove_cut_off(graph, np.array([ALL]), LONG)
    assert graph.nodes - left.nodes == 72


def test_probing_ends_when_it_has_looked_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = prune(graph_of(build_problem(7, TWICE, [0])))
    monkeypatch.setattr(probing, "_VISITS", 0)
    assert 6 in nodes_of(probing.remove_probed(graph, np.array([ALL]), LONG))
