"""Matches wait for an answer: those that act are taken up, those that were refused stay or go."""

from __future__ import annotations

import pytest
from line import load, make_settings
from onnx_text import model

from tensat_dl.egraph import driver, worker
from tensat_dl.egraph.explore import chosen_rules
from tensat_dl.graph.reading.read import read_model

RULE = "rewrite twice: Mul(x, 2) => Add(x, x)"
FACTORS = 6


@pytest.fixture
def drivers(monkeypatch: pytest.MonkeyPatch) -> list[driver.Driver]:
    """The drivers that explorations made."""
    made: list[driver.Driver] = []

    class Watched(driver.Driver):
        def __post_init__(self) -> None:
            made.append(self)
            super().__post_init__()

    monkeypatch.setattr(worker, "Driver", Watched)
    return made


def explored() -> None:
    """Multiplications by 1, 2, 3, .. of one tensor: one matches, in one order of its operands."""
    numbers = range(1, FACTORS + 1)
    outputs = ", ".join(f"float[4] y{i}" for i in numbers)
    weights = ", ".join(f"float w{i} = {{{i}}}" for i in numbers)
    nodes = " ".join(f"y{i} = Mul(x, w{i})" for i in numbers)
    proto = model(f"(float[4] x) => ({outputs}) <{weights}> {{ {nodes} }}")
    program, settings = load(RULE), make_settings()
    graph = read_model(proto, settings.model)
    worker.run_in_process(
        worker.Job(graph, program, chosen_rules(program, settings.rules), settings.explore)
    )


def test_matches_that_act_are_taken_up(drivers: list[driver.Driver]) -> None:
    explored()
    [watched] = drivers
    assert watched.counts.applied == {"twice": 1}
    assert watched.engine.size("hit_1") == 2 * FACTORS - 1


def test_many_that_were_refused_are_dropped(
    drivers: list[driver.Driver], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(driver, "KEPT_HITS", FACTORS)
    explored()
    [watched] = drivers
    assert watched.counts.applied == {"twice": 1}
    assert watched.engine.size("hit_1") == 0
