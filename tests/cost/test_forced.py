"""The cheapest answer that uses a wanted node, against all answers that there are."""

from __future__ import annotations

import itertools
import random
from collections.abc import Collection, Iterator
from types import SimpleNamespace
from typing import cast

import pytest

from tensat_dl.cost.demand import Demand, with_demand
from tensat_dl.cost.forced import Forced, force
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.posing import Posed
from tensat_dl.cost.settled import Settled
from tensat_dl.egraph.snapshot import ENode, Leaf, LeafKind, Saturated
from tensat_dl.extract.problem import build_problem
from tensat_dl.extract.run import extract
from tensat_dl.settings import ExtractSettings

#: Class, cost, classes that it reads.
Row = tuple[int, float, tuple[int, ...]]
NONE = float("inf")


def names(rows: list[Row]) -> list[str]:
    return ["AB"[i % 2] for i in range(len(rows))]


def posed_of(rows: list[Row], roots: tuple[int, ...]) -> Posed:
    problem = build_problem(1 + max(row[0] for row in rows), rows, roots, names(rows))
    nodes = tuple(
        ENode(Leaf(LeafKind.INPUT, str(i)), children, eclass, original=True)
        for i, (eclass, _, children) in enumerate(rows)
    )
    return Posed(problem, nodes, (None,) * len(nodes), ())


def forced_of(posed: Posed, wanted: frozenset[ENode], settings: ExtractSettings) -> Forced | None:
    """None where the answer has one anyway."""

    def solved(posed: Posed, settings: ExtractSettings) -> Settled:
        return Settled(posed, extract(posed.problem, settings), 0.0, 0.0)

    def solve(settings: ExtractSettings, barred: Collection[ENode], demand: Demand) -> Settled:
        kept = [i for i, node in enumerate(posed.nodes) if node not in barred]
        return solved(with_demand(posed.only(kept), demand), settings)

    answer = solved(posed, settings)
    if not wanted.isdisjoint(answer.chosen.values()):
        return None
    saturated = cast(Saturated, SimpleNamespace(nodes=posed.nodes))
    model = cast(CostModel, None)  # what has no part costs what the problem says
    return force(saturated, model, answer, wanted, settings, solve)


def answers(rows: list[Row], roots: tuple[int, ...]) -> Iterator[tuple[float, set[int]]]:
    """Every acyclic answer: what it costs, the rows that it has."""
    classes = sorted({row[0] for row in rows})
    members = [[i for i, row in enumerate(rows) if row[0] == c] for c in classes]
    for choice in itertools.product(*members):
        taken = dict(zip(classes, choice, strict=True))
        used: set[int] = set()
        if all(_computed(root, taken, rows, (), used) for root in roots):
            yield sum(rows[i][1] for i in used), used


def _computed(
    eclass: int, taken: dict[int, int], rows: list[Row], above: tuple[int, ...], used: set[int]
) -> bool:
    if eclass in above or eclass not in taken:
        return False
    used.add(taken[eclass])
    below = (*above, eclass)
    return all(_computed(c, taken, rows, below, used) for c in rows[taken[eclass]][2])


def drawn(seed: int) -> tuple[list[Row], tuple[int, ...]]:
    """A small e-graph: inputs, and classes of up to three nodes that may read any class."""
    draw = random.Random(seed)
    rows: list[Row] = [(0, 0.0, ()), (1, 1.0, ())]
    count = draw.randint(5, 7)
    for eclass in range(2, count):
        for _ in range(draw.randint(1, 3)):
            reads = {draw.randrange(eclass if draw.random() < 0.7 else count) for _ in range(2)}
            rows.append((eclass, float(draw.randint(0, 6)), tuple(sorted(reads))))
    return rows, (count - 1, *([count - 2] if draw.random() < 0.3 else []))


@pytest.mark.parametrize(("count", "most"), [(100, 0), pytest.param(40, 2, marks=pytest.mark.slow)])
def test_nothing_with_it_is_cheaper(count: int, most: int) -> None:
    """On e-graphs with loops and shared nodes, and with at most so many A, unless that is 0; few of
    them leave a proof open."""
    settings = ExtractSettings(at_most={"A": most} if most else {})
    unproven = compared = 0
    for seed in range(count):
        rows, roots = drawn(seed)
        kinds = names(rows)
        all_answers = [
            (cost, used)
            for cost, used in answers(rows, roots)
            if not most or sum(kinds[i] == "A" for i in used) <= most
        ]
        if not all_answers:
            continue
        draw = random.Random(-seed)
        wanted = set(draw.sample(range(2, len(rows)), draw.randint(1, 2)))
        best = min((cost for cost, used in all_answers if used & wanted), default=NONE)
        posed = posed_of(rows, roots)
        found = forced_of(posed, frozenset(posed.nodes[i] for i in wanted), settings)
        if found is None:
            assert best == min(cost for cost, _ in all_answers)
            continue
        compared += 1
        unproven += not found.proven
        assert found.bound <= best + 1e-9, seed
        if found.pieces:
            assert found.cost >= best - 1e-9, seed
            nodes = {enode for piece in found.pieces.values() for enode in piece.enodes}
            used = {i for i, node in enumerate(posed.nodes) if node in nodes}
            assert (pytest.approx(found.cost), used) in all_answers and used & wanted, seed
        if found.proven:
            assert (found.cost if found.pieces else NONE) == pytest.approx(best), seed
    assert compared > count / 4 and unproven < compared / 15
