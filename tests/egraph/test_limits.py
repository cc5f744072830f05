"""Rules that explode, workers that die, Ctrl-C: limits hold, and a correct model comes out."""

from __future__ import annotations

import gc
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import psutil
import pytest
from line import Answer, Line, explore
from onnx_text import model

from tensat_dl.egraph import explore as exploration
from tensat_dl.egraph.driver import Driver
from tensat_dl.egraph.worker import Job, work

pytestmark = pytest.mark.slow

ASSOCIATE = """@real rewrite associate: Add(Add(a, b), c) <=> Add(a, Add(b, c))
rewrite commute: Add(a, b) => Add(b, a)
"""
MERGE = """@rounds(9)
rule merge {
  match { y1 = MatMul(x, w1: T[K, N1])  y2 = MatMul(x, w2: T[K, N2]) }
  where weight(w1), weight(w2)
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}
"""


def long_sum(terms: int = 60) -> onnx.ModelProto:
    inputs = ", ".join(f"float[4] x{i}" for i in range(terms))
    sums = " ".join(f"s{i} = Add(s{i - 1}, x{i})" for i in range(2, terms))
    text = f"({inputs}) => (float[4] y) {{ s1 = Add(x0, x1) {sums} y = Neg(s{terms - 1}) }}"
    return model(text)


def many_products(count: int = 40) -> onnx.ModelProto:
    outputs = ", ".join(f"float[2,4] y{i}" for i in range(count))
    weights = ", ".join(f"float[3,4] w{i}" for i in range(count))
    nodes = " ".join(f"y{i} = MatMul(x, w{i})" for i in range(count))
    return model(f"(float[2,3] x) => ({outputs}) <{weights}> {{ {nodes} }}")


EXPLOSIONS = [
    pytest.param(ASSOCIATE, long_sum, ("associate", "associate<=", "commute"), id="associate"),
    pytest.param(MERGE, many_products, ("merge",), id="merge"),
]


@contextmanager
def no_process_left() -> Iterator[None]:
    before = {child.pid for child in psutil.Process().children(recursive=True)}
    yield
    after = {child.pid for child in psutil.Process().children(recursive=True)}
    assert after <= before


def run(line: Line, rules: str, graph: onnx.ModelProto, **limits: float) -> Answer:
    with no_process_left():
        return line(rules, graph, method="greedy-dag", **limits)


@pytest.mark.parametrize(("rules", "graph", "names"), EXPLOSIONS)
def test_the_limit_of_e_nodes_holds(
    line: Line, rules: str, graph: Callable[[], onnx.ModelProto], names: tuple[str, ...]
) -> None:
    answer = run(line, rules, graph(), enodes=3000, seconds=60)
    story = answer.outcome.exploration
    assert story.stopped_by == "enodes"
    assert story.enodes <= 3600
    assert story.blamed in names
    assert any(story.blamed in warning for warning in answer.outcome.warnings)
    # The limit is used, too.
    assert story.enodes >= 1500


@pytest.mark.slow
@pytest.mark.parametrize(("rules", "graph", "names"), EXPLOSIONS)
def test_the_limit_of_seconds_holds(
    line: Line, rules: str, graph: Callable[[], onnx.ModelProto], names: tuple[str, ...]
) -> None:
    answer = run(line, rules, graph(), enodes=10_000_000, seconds=3)
    story = answer.outcome.exploration
    assert story.stopped_by == "seconds"
    assert story.seconds <= 3.6
    assert story.blamed in names
    assert answer.outcome.warnings


@pytest.mark.slow
def test_the_limit_of_memory_holds(line: Line) -> None:
    """Sampled from outside: what the exploration adds is never more than a fifth above the
    limit, but for what is made between two looks."""
    limit = 300 << 20
    inherited = psutil.Process().memory_info().rss
    peak = 0
    done = threading.Event()

    def sample() -> None:
        nonlocal peak
        while not done.wait(0.02):
            for child in psutil.Process().children():
                try:
                    peak = max(peak, child.memory_info().rss)
                except psutil.Error:
                    continue

    sampler = threading.Thread(target=sample)
    sampler.start()
    try:
        answer = run(line, MERGE, many_products(), enodes=100_000_000, seconds=60, memory=limit)
    finally:
        done.set()
        sampler.join()
    story = answer.outcome.exploration
    assert story.stopped_by == "memory"
    assert story.blamed == "merge"
    assert story.seconds < 30
    assert peak <= inherited + 1.2 * limit


def test_memory_that_others_use_is_not_counted(line: Line) -> None:
    """A process that holds large weights explores all the same."""
    ballast = np.ones(300 << 20, np.uint8)
    answer = run(line, "rewrite twice: Neg(Neg(x)) => x", negations(), memory=250 << 20)
    assert answer.outcome.exploration.stopped_by == "saturated"
    assert ballast.any()


def negations() -> onnx.ModelProto:
    return model("(float[4] x) => (float[4] y) { a = Neg(x) b = Neg(a) y = Neg(b) }")


def when_exploring(act: Callable[[psutil.Process], None]) -> threading.Thread:
    """Calls `act` on the worker, half a second after it has started."""
    others = {child.pid for child in psutil.Process().children()}  # of tests before this one

    def wait() -> None:
        deadline = time.monotonic() + 20
        while time.monotonic() < deadline:
            children = [c for c in psutil.Process().children() if c.pid not in others]
            if children:
                time.sleep(0.5)
                act(children[0])
                return
            time.sleep(0.005)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def test_a_worker_that_dies_is_no_end(line: Line) -> None:
    thread = when_exploring(lambda worker: worker.kill())
    answer = run(line, ASSOCIATE, long_sum(), enodes=10_000_000, seconds=30)
    thread.join()
    story = answer.outcome.exploration
    assert story.stopped_by == "crashed"
    assert story.seconds < 5
    [warning] = story.warnings
    assert "process died" in warning


def test_a_worker_that_fails_says_how_and_where(
    line: Line, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(_: Driver, schedule: Sequence[object]) -> str:
        if schedule:
            raise ValueError("seven\nis odd")
        return "saturated"

    monkeypatch.setattr(Driver, "run", fail)
    graph = model("(float[2] x) => (float[2] y) { a = Relu(x) y = Relu(a) }")
    answer = run(line, "rewrite a: Relu(Relu(x)) => Relu(x)", graph)
    story = answer.outcome.exploration
    assert story.stopped_by == "crashed"
    [warning] = story.warnings
    assert "(ValueError: seven is odd)" in warning
    assert "not in your files" in warning
    assert story.traceback.startswith("Traceback")


def test_a_session_that_waits_for_collection_does_not_hang_the_worker(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The worker inherits it, but not the threads that its end waits for."""

    def collect_and_work(job: Job, pipe: Connection, other_end: Connection) -> None:
        gc.collect()
        work(job, pipe, other_end)

    monkeypatch.setattr(exploration, "work", collect_and_work)
    graph = model("(float[2] x) => (float[2] y) { a = Relu(x) y = Relu(a) }")
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 2
    gc.disable()
    circle: list[object] = [onnxruntime.InferenceSession(graph.SerializeToString(), options)]
    circle.append(circle)
    del circle
    time.sleep(0.5)  # its threads have gone to sleep
    try:
        saturated = explore("rewrite r: Relu(Relu(x)) => Relu(x)", graph, seconds=5)
    finally:
        gc.enable()
    assert saturated.exploration.stopped_by == "saturated"


def test_a_worker_stopped_while_it_copies_out_still_names_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """It had stopped by itself, but its e-graph was too large to copy in what was left."""

    def copy_for_ever(job: Job, pipe: Connection, other_end: Connection) -> None:
        pipe.send(("rule", "other"))
        pipe.send(("stopped", "r"))
        time.sleep(60)

    monkeypatch.setattr(exploration, "work", copy_for_ever)
    graph = model("(float[2] x) => (float[2] y) { a = Relu(x) y = Relu(a) }")
    story = explore("rewrite r: Relu(Relu(x)) => Relu(x)", graph, seconds=1).exploration
    assert (story.stopped_by, story.blamed) == ("seconds", "r")
    assert story.enodes == 2
    assert story.seconds <= 1.6


def test_the_best_of_what_was_found_is_taken(line: Line) -> None:
    """The good rule has fired before the bad one reaches the limit."""
    rules = ASSOCIATE + "rewrite relu: Relu(Relu(x)) => Relu(x)\n"
    graph = long_sum()
    node = onnx.helper.make_node
    graph.graph.node[-1].output[0] = "n"
    graph.graph.node.extend([node("Relu", ["n"], ["r"]), node("Relu", ["r"], ["y"])])
    answer = run(line, rules, graph, enodes=2000, seconds=30)
    assert answer.outcome.exploration.stopped_by == "enodes"
    assert answer.outcome.cost_after == answer.outcome.cost_before - 1


@pytest.mark.parametrize("whole_group", [False, True], ids=["command", "terminal"])
def test_interrupting_an_exploration(interrupt, tmp_path: Path, whole_group: bool) -> None:
    """A terminal sends the signal to every process of the group."""
    onnx.save(long_sum(), tmp_path / "m.onnx")
    (tmp_path / "r.tsat").write_text(ASSOCIATE)
    before = sorted(tmp_path.iterdir())
    script = "import sys; from tensat_dl.cli.main import main; sys.exit(main())"
    arguments = ["run", "r.tsat", "m.onnx", "-o", "o.onnx", "--enodes", "10000000"]
    process = subprocess.Popen(
        [sys.executable, "-c", script, *arguments, "--seconds", "60"],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 30
    while not psutil.Process(process.pid).children(recursive=True):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.02)
    time.sleep(0.5)
    interrupt(process, whole_group=whole_group)
    assert sorted(tmp_path.iterdir()) == before
