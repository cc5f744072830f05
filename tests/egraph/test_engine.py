"""Facts go in as files in memory where the machine has such, else as commands, to the same end."""

from __future__ import annotations

import os
import runpy
import time
from collections import Counter
from dataclasses import replace

import pytest
from line import load, make_settings
from onnx_text import model

from tensat_dl.egraph import engine, worker
from tensat_dl.egraph.explore import chosen_rules
from tensat_dl.egraph.snapshot import Application, Saturated
from tensat_dl.graph.reading.read import read_model

pytestmark = pytest.mark.slow

MERGE = """rule merge {
  match { y1 = MatMul(x, w1: T[K, N1])  y2 = MatMul(x, w2: T[K, N2]) }
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}
rewrite relu: Relu(Relu(x)) => Relu(x)
"""
PRODUCTS = 9


@pytest.fixture
def without_files(monkeypatch: pytest.MonkeyPatch) -> None:
    """The engine as it is where there are no files in memory: asking for one fails."""
    monkeypatch.delattr(os, "memfd_create", raising=False)
    imported_there = runpy.run_path(str(engine.__file__))
    monkeypatch.setattr(engine, "_MANY", imported_there["_MANY"])


def explored() -> Saturated:
    numbers = range(PRODUCTS)
    outputs = ", ".join(f"float[2,4] y{i}" for i in numbers)
    weights = ", ".join(f"float[3,4] w{i}" for i in numbers)
    nodes = " ".join(f"p{i} = MatMul(x, w{i}) r{i} = Relu(p{i}) y{i} = Relu(r{i})" for i in numbers)
    proto = model(f"(float[2,3] x) => ({outputs}) <{weights}> {{ {nodes} }}")
    program, settings = load(MERGE), make_settings()
    rules = chosen_rules(program, settings.rules)
    graph = read_model(proto, settings.model)
    job = worker.Job(graph, program, rules, settings.explore, snapshots=False)
    return worker.run_in_process(job)


@pytest.mark.usefixtures("without_files")
def test_without_files_in_memory_the_same_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    found = explored()
    made = Counter(n.head.operator.name for n in found.nodes if isinstance(n.head, Application))
    pairs = PRODUCTS * (PRODUCTS - 1) // 2
    relus = 2 * PRODUCTS  # of the product, and of what is equal to itself
    assert made == {"MatMul": PRODUCTS + pairs, "Relu": relus, "Concat": pairs, "Split": pairs}
    monkeypatch.undo()
    assert replace(explored(), exploration=found.exploration) == found


def test_the_seconds_of_a_run_are_those_that_passed() -> None:
    """Two rules, one of which makes nearly all; the engine's own clock counts otherwise."""
    database = engine.Engine()
    database.commands(
        [
            "(relation edge (i64 i64))",
            "(relation far (i64 i64))",
            "(relation loop (i64))",
            "(ruleset both)",
            '(rule ((edge x y) (edge y z)) ((far x z)) :ruleset both :name "far")',
            '(rule ((edge x x)) ((loop x)) :ruleset both :name "loop")',
        ]
    )
    database.facts("edge", [(i, j) for i in range(80) for j in range(80)])
    started = time.perf_counter()
    run = database.run("both")
    passed = time.perf_counter() - started
    assert 0.9 * passed <= sum(run.seconds.values()) <= passed
    assert run.seconds["far"] > 10 * run.seconds.get("loop", 0.0)
