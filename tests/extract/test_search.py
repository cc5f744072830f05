"""Every formulation finds the optimum that trying everything finds, with GLPK and with HiGHS."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from oracle import best_cost, random_problem

from tensat_dl.extract.cycles import loops, remove_cycles
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.formulation import formulate
from tensat_dl.extract.graph import ROOT, Graph, graph_of
from tensat_dl.extract.greedy import greedy_dag, greedy_tree, price
from tensat_dl.extract.order import components
from tensat_dl.extract.problem import Problem, build_problem
from tensat_dl.extract.program import Sense
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.search import DEAF, Found, Plan, solve
from tensat_dl.extract.selection import check, select
from tensat_dl.extract.solvers.session import SolverSession
from tensat_dl.extract.solvers.table import availability, find_solver

LONG = Deadline(1e6)


@pytest.fixture(scope="module", params=["glpk", "highs", "cp-sat"])
def session(request: pytest.FixtureRequest) -> Iterator[SolverSession]:
    found = availability(find_solver(request.param))
    if not found:
        pytest.skip(found.detail)
    with SolverSession(found.solver, {}) as session:
        yield session


def pruned(problem: Problem) -> Graph:
    return prune(graph_of(problem))


def solved(graph: Graph, plan: Plan, session: SolverSession) -> Found:
    """From the worst start there is: the greedy tree's choice at a much higher price."""
    choice = greedy_tree(graph)
    cost = 3.0 * price(graph, choice) + 1.0
    found = Found(graph.choice_of(choice.values()), cost, 0.0)
    solve(graph, found, plan, session, Deadline(60.0), DEAF)
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("cycles", "published"),
    [
        ("lazy", False),
        ("order", False),
        ("order-integer", False),
        ("order", True),
        ("order-integer", True),
    ],
)
def test_the_optimum_of_unreduced_graphs(
    session: SolverSession, cycles: str, published: bool
) -> None:
    for seed in range(1000, 1030):
        problem = random_problem(seed)
        best = best_cost(problem)
        if best is None:
            continue
        found = solved(pruned(problem), Plan(cycles, published, 1e-7), session)
        assert found.warnings == [] and found.proven, seed
        assert found.cost == pytest.approx(best) and found.bound == pytest.approx(best), seed
        assert check(problem, select(problem, found.choice)) == pytest.approx(best)


def test_filtering_gives_an_answer_but_no_proof(session: SolverSession) -> None:
    exact = 0
    for seed in range(1000, 1060):
        problem = random_problem(seed)
        best = best_cost(problem)
        if best is None:
            continue
        found = solved(pruned(problem), Plan("filter", False, 1e-7), session)
        assert found.bound == 0.0 and not found.proven
        value = check(problem, select(problem, found.choice))
        assert value >= best - 1e-9
        exact += value <= best + 1e-9
    assert exact > 30


def test_filtered_graphs_have_no_loop_and_keep_every_class_derivable() -> None:
    for seed in range(300):
        graph = pruned(random_problem(seed))
        if graph.derivable:
            filtered = remove_cycles(graph, LONG)
            assert all(len(component) == 1 for component in components(filtered))
            assert filtered.derivable and len(greedy_tree(filtered)) == filtered.classes + 1


def test_lazy_rows_cut_off_a_long_loop(session: SolverSession) -> None:
    # A ring of five classes, all required: entering it once from outside is enough.
    ring = range(5)
    rows = [(c, 1.0, [(c + 1) % 5]) for c in ring] + [(c, 10.0 + c, []) for c in ring]
    problem = build_problem(5, rows, list(ring))
    graph = pruned(problem)
    assert formulate(graph, LONG).loop_rows(range(1, 6)) != []
    assert loops(graph, {0: 0, **{c: graph.member_ranges[c][0] for c in range(1, 6)}}) != []
    found = solved(graph, Plan("lazy", False, 1e-7), session)
    assert found.cost == pytest.approx(10.0 + 4 * 1.0)
    assert check(problem, select(problem, found.choice)) == pytest.approx(14.0)


def test_rows_are_aggregated_by_child_class() -> None:
    # Three nodes of class 0; two of them need class 1, which is optional.
    rows = [(0, 1.0, [1]), (0, 1.0, [1, 2]), (0, 9.0, []), (1, 1.0, []), (2, 1.0, [])]
    model = formulate(pruned(build_problem(3, rows, [0])), LONG)
    needs = [row for row in model.program.rows if row.sense is Sense.AT_MOST]
    first, second = model.node_column[1], model.node_column[2]
    assert {frozenset(row.columns) for row in needs} == {
        frozenset({first, second, model.active[2]}),
        frozenset({second, model.active[3]}),
    }
    assert model.active[1] is None and ROOT not in model.active


def test_greedy_dag_pays_once_for_what_is_shared() -> None:
    # Class 0 through 1 and 2, which share class 3: 12 as a DAG, 22 as a tree; or 15 at once.
    rows = [(0, 0.0, [1, 2]), (0, 15.0, []), (1, 1.0, [3]), (2, 1.0, [3]), (3, 10.0, [])]
    problem = build_problem(4, rows, [0])
    graph = pruned(problem)
    assert price(graph, greedy_tree(graph)) == 15.0
    assert price(graph, greedy_dag(graph, LONG)) == 12.0
