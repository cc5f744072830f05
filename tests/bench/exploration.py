"""Exploration of NasRNN: e-nodes, seconds, memory, and the cost of driver and encoding.

    python tests/bench/exploration.py [--json FILE] [--repeat N]

Three runs, each in a fresh process: the default settings; cycles allowed, for comparison with the
next; the same rules written by hand as one egglog program (`nasrnn_by_hand.egg`).  Two times each:
`steps`, from the first command of the program to the last step (encoding, compiling, asking,
answering, acting), and `all`, until the e-graph is copied out and back in the caller's hands, by
way of a process of its own where the product uses one.  The ratios are per e-node.
"""

from __future__ import annotations

import argparse
import gc
import json
import resource
import subprocess
import sys
import time
from pathlib import Path

from models import nasrnn

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.egraph.engine import Engine
from tensat_dl.egraph.explore import chosen_rules, explore
from tensat_dl.egraph.worker import Job, run_in_process
from tensat_dl.graph.model import Graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.language.load import load_program
from tensat_dl.settings import ExploreSettings, ModelSettings, RuleSettings

HERE = Path(__file__).parent
STEPS = 4
OPERATORS = ("MatMul", "Add", "Mul", "Relu", "Sigmoid", "Tanh", "Concat", "Split")


def ours(graph: Graph, cycles: str) -> dict[str, float]:
    """One exploration, as a user's run does it."""
    diagnostics = Diagnostics()
    program = load_program([str(HERE / "nasrnn.tsat")], diagnostics)
    assert program is not None, list(diagnostics)
    settings = ExploreSettings(cycles=cycles, enodes=200_000)
    started = time.perf_counter()
    saturated = explore(graph, program, settings, RuleSettings())
    seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    gc.disable()  # as the worker does
    rules = chosen_rules(program, RuleSettings())
    job = Job(graph, program, rules, settings, snapshots=False)
    steps = run_in_process(job).exploration.seconds
    enodes = saturated.exploration.enodes
    return {"enodes": enodes, "steps": steps, "seconds": seconds, "memory_mib": memory}


def by_hand(graph: Graph) -> dict[str, float]:
    """The program written by hand, loaded with the same graph."""
    gc.disable()
    started = time.perf_counter()
    engine = Engine()
    engine.commands(_commands((HERE / "nasrnn_by_hand.egg").read_text()))
    engine.commands(_facts(graph))
    for _ in range(STEPS):
        engine.saturate("sizes")
        engine.run("step")
    steps = time.perf_counter() - started
    tables = engine.tables(lambda name: name in (*OPERATORS, "Out", "Value", "rows", "cols"))
    seconds = time.perf_counter() - started
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    enodes = sum(len(tables[name].rows) for name in OPERATORS)
    return {"enodes": enodes, "steps": steps, "seconds": seconds, "memory_mib": memory}


def _commands(text: str) -> list[str]:
    """Commands one by one: a command starts at the start of a line."""
    lines = [line for line in text.splitlines() if not line.startswith(";")]
    return [part for part in "\n".join(lines).replace("\n(", "\0(").split("\0") if part.strip()]


def _facts(graph: Graph) -> list[str]:
    names = [*graph.inputs, *graph.constants, *(o for n in graph.nodes for o in n.outputs)]
    places = {name: place for place, name in enumerate(names)}
    facts: list[str] = []
    for name in [*graph.inputs, *graph.constants]:
        rows, cols = graph.types[name].dims if name in graph.types else graph.constants[name].dims
        value = f"(Value {places[name]})"
        facts.append(f"(set (rows {value}) {rows})")
        facts.append(f"(set (cols {value}) {cols})")
    facts += [f"(weight (Value {places[name]}))" for name in graph.constants]
    facts += [f"(set (id (Value {place})) {place + 1})" for place in places.values()]
    for node in graph.nodes:
        inputs = " ".join(f"(Value {places[i]})" for i in node.inputs)
        operator = node.operator.name
        facts.append(f"(union (Value {places[node.outputs[0]]}) ({operator} {inputs}))")
        facts.append(f"(set (gen_{operator} {inputs}) 0)")
    return facts


RUNS = {
    "default (cycles checked)": lambda graph: ours(graph, "check"),
    "cycles allowed": lambda graph: ours(graph, "allow"),
    "by hand": by_hand,
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Explore NasRNN, and compare with egglog by hand.")
    parser.add_argument("--json", type=Path, help="write the figures here")
    parser.add_argument("--repeat", type=int, default=5, help="runs of each; the fastest counts")
    parser.add_argument("--one", choices=list(RUNS), help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.one:
        print(json.dumps(RUNS[arguments.one](read_model(nasrnn(), ModelSettings()))))
        return
    results: dict[str, dict[str, float]] = {}
    for _ in range(arguments.repeat):
        for name in RUNS:
            found = _in_fresh_process(name)
            best = results.get(name)
            results[name] = found if best is None else _fastest(best, found)
    for name, row in results.items():
        times = f"steps {row['steps']:5.2f} s, all {row['seconds']:5.2f} s"
        print(f"{name:26}{row['enodes']:8.0f} e-nodes, {times}, {row['memory_mib']:5.0f} MiB")
    hand, mine = results["by hand"], results["cycles allowed"]
    ratios = {
        key: mine[key] / mine["enodes"] / (hand[key] / hand["enodes"])
        for key in ("steps", "seconds")
    }
    steps, whole = ratios["steps"], ratios["seconds"]
    print(f"per e-node, of the program by hand: steps {steps:.2f}, all {whole:.2f}")
    if arguments.json:
        arguments.json.write_text(json.dumps({"runs": results, "ratios": ratios}, indent=2))


def _fastest(left: dict[str, float], right: dict[str, float]) -> dict[str, float]:
    return {key: min(value, right[key]) for key, value in left.items()}


def _in_fresh_process(name: str) -> dict[str, float]:
    command = [sys.executable, __file__, "--one", name]
    output = subprocess.run(command, check=True, capture_output=True, text=True, timeout=120)
    return json.loads(output.stdout)


if __name__ == "__main__":
    main()
