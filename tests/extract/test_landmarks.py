"""Landmarks against all selections, found by trying everything."""

from __future__ import annotations

import pytest
from oracle import hard_problem, random_problem, selections

from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.graph import ROOT, Graph, graph_of
from tensat_dl.extract.landmarks import ascend
from tensat_dl.extract.problem import Problem, build_problem
from tensat_dl.extract.reductions.prune import prune

LONG = Deadline(1e6)


def with_all_selections(problem: Problem) -> tuple[Graph, list[list[int]]]:
    """The pruned graph, and the nodes of its acyclic selections."""
    graph = prune(graph_of(problem))
    if not graph.derivable:
        return graph, []
    rows = zip(graph.owner.tolist(), graph.cost.tolist(), graph.kid_lists, strict=True)
    same = build_problem(graph.classes + 1, rows, [ROOT])
    return graph, list(selections(same))


@pytest.mark.parametrize("make", [random_problem, hard_problem])
def test_every_selection_pays_the_bound_and_hits_each_landmark(make: object) -> None:
    assert callable(make)
    tight = 0
    for seed in range(120):
        graph, found = with_all_selections(make(seed))
        if not found:
            continue
        ascent = ascend(graph, LONG)
        assert (ascent.reduced >= 0.0).all()
        for nodes in found:
            cost = sum(graph.cost[n] for n in nodes)
            assert cost >= ascent.bound + sum(ascent.reduced[n] for n in nodes) - 1e-9
            for zone in ascent.landmarks:
                lowest = [n for n in nodes if zone.isdisjoint(graph.kid_lists[n])]
                assert any(int(graph.owner[n]) in zone for n in lowest)
        best = min(sum(graph.cost[n] for n in nodes) for nodes in found)
        tight += ascent.bound == pytest.approx(best)
    assert tight > 60


def test_what_several_ways_share_is_paid_once_and_in_full() -> None:
    # Both ways from 0 go through 3: a relaxation that halves the choice pays half of it.
    rows = [(0, 0.0, [1]), (0, 0.0, [2]), (1, 0.0, [3]), (2, 0.0, [3]), (3, 4.0, []), (3, 5.0, [])]
    assert ascend(prune(graph_of(build_problem(4, rows, [0]))), LONG).bound == 4.0


def test_a_loop_without_a_way_out_has_no_selection() -> None:
    graph = graph_of(build_problem(2, [(0, 1.0, [1]), (1, 1.0, [0])], [0]))
    assert ascend(graph, LONG).bound == float("inf")
