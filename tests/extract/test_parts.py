"""The stages that solve a part, each alone, all together and each left out, against trying all."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from oracle import best_cost, copies, hard_problem, looped_problem, random_problem, staged_problem

from tensat_dl.extract import part as part_module
from tensat_dl.extract.bottlenecks import block_numbers, bottlenecks, chain_of, restricted
from tensat_dl.extract.branching import branch
from tensat_dl.extract.deadline import Deadline
from tensat_dl.extract.formulation import formulate
from tensat_dl.extract.graph import Graph, graph_of
from tensat_dl.extract.greedy import Choice, greedy_tree, price
from tensat_dl.extract.isomorphism import find_twin, signature, transferred
from tensat_dl.extract.joint import Bounded
from tensat_dl.extract.part import Part, PartRun
from tensat_dl.extract.problem import Problem, Status, build_problem
from tensat_dl.extract.program import Program, Row, Sense
from tensat_dl.extract.reductions.prune import prune
from tensat_dl.extract.reductions.required import required_sets
from tensat_dl.extract.reductions.table import Reducer
from tensat_dl.extract.relaxation import fix, kernel, relaxation
from tensat_dl.extract.run import extract
from tensat_dl.extract.search import DEAF, Found, Plan, holds
from tensat_dl.extract.selection import check, select
from tensat_dl.extract.solvers.pool import SolverPool
from tensat_dl.settings import ExtractSettings, Reduction

LONG = Deadline(1e6)
PLAN = Plan("lazy", False, 1e-7)
PARTS = ("branching", "chain", "relaxation", "kernel")
#: Each stage of a part alone, all with one left out, none, all.
SETS = [
    (),
    *((name,) for name in ("upper-bound", "landmarks", "paths", "probing", *PARTS)),
    *(tuple(other for other in Reduction if other != name) for name in Reduction),
    ("chain", "relaxation", "kernel"),
    tuple(Reduction),
]


@pytest.fixture(scope="module", params=["highs"])
def pool(request: pytest.FixtureRequest) -> Iterator[SolverPool]:
    with SolverPool(ExtractSettings(solver=request.param)) as pool:
        yield pool


@pytest.fixture(autouse=True)
def small_parts_take_every_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_module, "_LEAST_RELAXED", 0)
    monkeypatch.setattr(part_module, "_LEAST_CHAINED", 0)


def pruned(problem: Problem) -> Graph:
    return prune(graph_of(problem))


def solved(graph: Graph, names: tuple[str, ...], pool: SolverPool) -> tuple[Found, Reducer]:
    """Everything that is switched on, from the greedy tree's answer on."""
    choice = greedy_tree(graph)
    found = Found(graph.choice_of(choice.values()), price(graph, choice), 0.0)
    numbers = block_numbers(graph, LONG).tolist()
    part = Part(0, graph, found, dict(zip(graph.class_id.tolist(), numbers, strict=True)))
    run = PartRun(part, Reducer(switched_on=names), LONG, DEAF)
    run.reduce()
    for stage in (run.search, lambda: run.finish(pool, PLAN)):
        if part.open:
            stage()
    return found, run.reducer


def agree(problem: Problem, names: tuple[str, ...], pool: SolverPool) -> Reducer | None:
    best = best_cost(problem)
    graph = pruned(problem)
    assert graph.derivable == (best is not None)
    if best is None or not graph.classes:
        return None
    found, reducer = solved(graph, names, pool)
    assert found.warnings == [] and found.proven
    assert found.bound == pytest.approx(best, abs=1e-6) and found.bound <= best + 1e-9
    value = check(problem, select(problem, found.choice))
    assert value == pytest.approx(best) and value == pytest.approx(found.cost)
    return reducer


@pytest.mark.slow
@pytest.mark.parametrize("names", SETS, ids=lambda names: "+".join(names) or "none")
def test_every_set_of_stages_finds_and_proves_the_optimum(
    names: tuple[str, ...], pool: SolverPool
) -> None:
    removed: Counter[str] = Counter()
    for seed in range(12):
        for generate in (random_problem, hard_problem, staged_problem, looped_problem):
            reducer = agree(generate(seed), names, pool)
            for record in reducer.recorder.records() if reducer else ():
                removed[record.name] += record.removed_nodes
                assert record.removed_nodes >= 0
    if len(names) == 1:
        (name,) = names
        assert name == "kernel" or removed[name] > 0, "the problems do not exercise this stage"


@pytest.mark.slow
@pytest.mark.parametrize("names", [*((name,) for name in PARTS), ("chain", "kernel", "relaxation")])
def test_many_more_problems(names: tuple[str, ...], pool: SolverPool) -> None:
    for seed in range(100, 180):
        for generate in (random_problem, hard_problem, staged_problem):
            agree(generate(seed), names, pool)


@pytest.mark.slow
def test_two_thousand_random_problems() -> None:
    for seed in range(10_000, 12_000):
        problem = random_problem(seed) if seed % 2 else hard_problem(seed)
        best = best_cost(problem)
        answer = extract(problem, ExtractSettings(solver="highs", ties=()))
        if best is None:
            assert answer.status is Status.INFEASIBLE
            continue
        assert answer.selection is not None and answer.status is Status.OPTIMAL, seed
        assert check(problem, answer.selection) == pytest.approx(best), seed
        assert answer.bound <= best + 1e-9, seed


# --- branching ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_branching_alone_proves_or_leaves_a_graph_with_the_optimum() -> None:
    for visits in (0, 40, 10**9):
        proven = 0
        for seed in range(60):
            problem = hard_problem(seed)
            best, graph = best_cost(problem), pruned(problem)
            if best is None:
                continue
            upper = [price(graph, greedy_tree(graph))]
            target = Bounded(graph.cost, upper[0])

            def report(
                choice: Choice, graph: Graph = graph, upper=upper, target: Bounded = target
            ) -> None:
                upper.append(price(graph, choice))
                assert upper[-1] <= target.upper
                target.upper = upper[-1] * (1.0 - 1e-8)

            result = branch(graph, [target], visits, LONG, report)
            proven += result.graph is None or not result.graph.derivable
            if result.graph is None or not result.graph.derivable:
                assert min(upper) == pytest.approx(best)
            else:
                rest, _ = extract_graph(result.graph)
                assert min(rest, *upper) == pytest.approx(best)
        assert (proven > 50) if visits > 100 else (proven < 50)


def extract_graph(graph: Graph) -> tuple[float, int]:
    rows = zip(graph.owner.tolist(), graph.cost.tolist(), graph.kid_lists, strict=True)
    best = best_cost(build_problem(graph.classes + 1, rows, [0]))
    return (float("inf") if best is None else best), graph.nodes


# --- the relaxation ----------------------------------------------------------------------------


@pytest.mark.slow
def test_the_bound_of_any_duals_holds() -> None:
    """x + y >= 1.5 and x <= 0.5 with costs 1 and 2 in [0, 1]: 0.5 + 2 at (0.5, 1)."""
    program = Program([1.0, 2.0], [1.0, 1.0], [True, True], [], 10.0)
    rows = [
        Row((0, 1), (1.0, 1.0), Sense.AT_LEAST, 1.5),
        Row((0,), (1.0,), Sense.AT_MOST, 0.5),
    ]
    best = relaxation(program, rows, (2.0, -1.0), (0.5, 1.0))
    assert best.bound == pytest.approx(12.5)
    assert best.reduced.tolist() == pytest.approx([0.0, 0.0])
    assert relaxation(program, rows, (-2.0, 1.0), (0.5, 1.0)).bound == pytest.approx(12.5)
    for duals in ((0.0, 0.0), (5.0, 3.0), (1.0, -9.0), (-4.0, -4.0)):
        assert relaxation(program, rows, duals, (0.5, 1.0)).bound <= 12.5 + 1e-12


def test_fixing_keeps_what_is_no_dearer_and_a_kernel_keeps_what_is_known(pool: SolverPool) -> None:
    fixed = 0
    for seed in range(20):
        problem = hard_problem(seed)
        best, graph = best_cost(problem), pruned(problem)
        if best is None:
            continue
        model = formulate(graph, LONG)
        if not model.program.costs:
            continue
        session = pool.session_for(graph)
        session.load(replace(model.program, constant=0.0))
        answer = session.relax(20.0, 25.0)
        assert answer.values is not None
        found = relaxation(model.program, model.program.rows, answer.duals, answer.values)
        assert found.bound <= best + 1e-7
        smaller = fix(model, found, best + 1e-7)
        assert extract_graph(smaller)[0] == pytest.approx(best)
        fixed += graph.nodes - smaller.nodes
        choice = greedy_tree(graph)
        known = np.isin(np.arange(len(graph.node_id)), list(choice.values()))
        small = kernel(model, found, known)
        taken = Found(graph.choice_of(choice.values()), price(graph, choice), 0.0)
        assert small.nodes <= graph.nodes and holds(small, taken)
    assert fixed > 20


# --- equal parts -------------------------------------------------------------------------------


def test_equal_graphs_are_found_and_choices_carried_over() -> None:
    for seed in range(60):
        problem = hard_problem(seed)
        first, second = pruned(problem), pruned(copies(problem, 1, seed))
        if not first.derivable:
            continue
        assert signature(first) == signature(second)
        twin = find_twin(first, second)
        assert twin is not None
        choice = greedy_tree(first)
        other = transferred(first.choice_of(choice.values()), first, second, twin)
        assert price(second, other) == pytest.approx(price(first, choice))
        check(
            copies(problem, 1, seed),
            select(copies(problem, 1, seed), second.choice_of(other.values())),
        )


def test_graphs_that_differ_a_little_are_not_equal() -> None:
    rows = [(0, 1.0, [1, 2]), (1, 2.0, []), (1, 3.0, [2]), (2, 4.0, [])]
    graph = pruned(build_problem(3, rows, [0]))
    for changed in (
        [*rows[:3], (2, 4.0001, [])],
        [(0, 1.0, [1]), *rows[1:]],
        [*rows[:2], (1, 3.0, []), rows[3]],
    ):
        assert find_twin(graph, pruned(build_problem(3, changed, [0]))) is None


def test_colours_that_agree_do_not_make_graphs_equal() -> None:
    """Two rings of three classes and one ring of six look the same from every class."""

    def rings(*sizes: int) -> Graph:
        rows, start = [], 0
        for size in sizes:
            ring = range(start, start + size)
            rows += [(c, 1.0, [start + (c - start + 1) % size]) for c in ring]
            rows += [(c, 3.0, []) for c in ring]
            start += size
        return pruned(build_problem(start, rows, range(start)))

    assert signature(rings(3, 3)) == signature(rings(6))
    assert find_twin(rings(3, 3), rings(6)) is None
    assert find_twin(rings(6), rings(6)) is not None


def test_copies_are_solved_once() -> None:
    equal = 0
    settings = ExtractSettings(solver="highs", ties=(), reductions=("isomorphism", "branching"))
    for seed in range(30):
        problem = hard_problem(seed)
        best = best_cost(problem)
        if best is None:
            continue
        answer = extract(copies(problem, 3, seed), settings)
        assert answer.objective == pytest.approx(3.0 * best) and answer.status is Status.OPTIMAL
        found = [stage for stage in answer.stages if stage.name == "isomorphism"]
        equal += sum("2 equal" in stage.detail for stage in found)
    assert equal > 5


# --- chains ------------------------------------------------------------------------------------


def test_the_blocks_of_a_known_chain() -> None:
    # 0 -> 1 -> 2 is required; 3 serves 0 and uses 4, which lies below 1.
    rows = [
        (0, 1.0, [1]),
        (0, 0.5, [1, 3]),
        (1, 1.0, [2]),
        (1, 0.5, [2, 4]),
        (2, 1.0, []),
        (3, 0.1, [4]),
        (4, 0.1, []),
    ]
    graph = pruned(build_problem(5, rows, [0]))
    required = required_sets(graph, LONG)
    assert graph.class_id[bottlenecks(required)].tolist() == [2, 1, 0]
    numbers = dict(zip(graph.class_id.tolist(), block_numbers(graph, LONG).tolist(), strict=True))
    assert {c: numbers[c] for c in range(5)} == {2: 0, 1: 1, 4: 1, 0: 2, 3: 2}
    top, middle, bottom = chain_of(graph, {c: numbers[c] for c in range(5)})
    assert [graph.class_id[block].tolist() for block in (top, middle, bottom)] == [
        [0, 3],
        [1, 4],
        [2],
    ]
    # Node 1 of class 0 leads to class 3, whose only node uses class 4 of a lower block.
    assert restricted(graph, top, LONG).node_id.tolist() == [-1, 0]


@pytest.mark.slow
def test_chains_join_blocks_where_they_must(pool: SolverPool) -> None:
    joined = decomposed = 0
    for seed in range(40):
        reducer = agree(staged_problem(seed), ("chain",), pool)
        for record in reducer.recorder.records() if reducer else ():
            if record.name == "chain":
                decomposed += 1
                joined += int(record.detail.split()[2])
    assert decomposed > 30 and joined > 0


@pytest.mark.slow
def test_workers_give_the_same_answer() -> None:
    problem = copies(hard_problem(3), 2, 1)
    reductions = ("upper-bound",)
    answers = [
        extract(problem, ExtractSettings(workers=workers, reductions=reductions, ties=()))
        for workers in (1, 3)
    ]
    best = best_cost(hard_problem(3))
    assert best is not None
    for answer in answers:
        assert answer.objective == pytest.approx(2.0 * best) and answer.status is Status.OPTIMAL
