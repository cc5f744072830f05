"""How fast models run before and after, against the original and other optimisers.

    python tests/bench/latency.py [NAME ...] [--rounds 25] [--json FILE] [--cost MODEL,MODEL]
        [--rules RULES] [--against onnxsim,onnxslim,onnxscript,onnxoptimizer] [--levels on,off]
        [--cache DIR] [--limit SECONDS] [--clock cpu]

onnxruntime, one thread, with all its optimisations and with none; the ratio is the median of
interleaved rounds with an interval of 95 %. Without `--cost`, ours has the default cost model of
the rules, which for `std` is `measured`; but what it finds is kept (`keep_anyway`), so that it is
this that is timed, even where `run` would keep the original. Measurements are in the cache, too:
where it measures, a first run times what no earlier run did (`first_seconds` in the JSON), a second
one solves at all these times, and the seconds are those of a third. Several cost models are
compared with each other, too, the further ones as `tensat-dl:NAME`. The other optimisers come with
`pip install -e ".[bench]"`; without them, or with `--against ""`, only ours is compared. Models of
other packages are downloaded to the cache. Nodes are counted without constants, and not compared
with onnxsim's where that brings in operators of onnxruntime's own. Seconds are those on the wall or
of the processor, the lesser; the difference is that of the outputs, relative to their range, with
onnxruntime's optimisations off.
"""

from __future__ import annotations

import argparse
import importlib.metadata
import json
import platform
import sys
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from contenders import OPTIMISERS, OURS, CannotOptimise, Optimised, optimise
from rounds import CLOCKS, Timing, measure, open_session
from zoo import CACHE, MODELS, Entry, Feed, NotHere

from tensat_dl.cost.models import MEASURED
from tensat_dl.graph.verifying.compare import compare

LEVELS = {"on": True, "off": False}
#: Measurements, in the cache.
COSTS = "costs.sqlite"
#: What std is meant to reach with all optimisations on: times as fast as the original.
TARGETS = {
    "light_densenet121": 1.05,
    "repvgg": 1.10,
    "lm_head": 4.0,
    "silero_vad": 1.3,
    "bert_cls": 1.05,
}
#: Elsewhere, no slower than this; nodes against onnxsim's; seconds for 1,000 nodes.
SLOWEST, NODES, SECONDS = 0.98, 1.05, 5.0


@dataclass
class Row:
    """One optimiser on one model; `timings` by level.  `problem`: why there is nothing else.
    `foreign`: there are operators of a domain that the original does not import."""

    model: str
    optimiser: str
    problem: str = ""
    nodes: int = 0
    foreign: bool = False
    megabytes: float = 0.0
    seconds: float = 0.0
    first_seconds: float = 0.0
    difference: float = 0.0
    timings: dict[str, Timing] = field(default_factory=dict)


def rows_of(name: str, arguments: argparse.Namespace) -> Iterator[Row]:
    """The original, then every optimiser, on one model."""
    entry = MODELS[name]
    try:
        model = entry.build(arguments.cache)
    except NotHere as error:
        yield Row(name, "original", problem=str(error))
        return
    feed = entry.feed(model)
    made = {"original": Optimised(model, 0.0)}
    rows = {"original": Row(name, "original")}
    for label, optimiser, cost in _contenders(arguments):
        rows[label] = Row(name, label)
        try:
            made[label] = _optimised(optimiser, model, entry, feed, cost, arguments)
        except CannotOptimise as error:
            rows[label].problem = str(error)
    _describe(rows, made, feed)
    for level in arguments.levels:
        models = [each.model for each in made.values()]
        timings = measure(
            models, feed, optimised=LEVELS[level], rounds=arguments.rounds, clock=arguments.clock
        )
        for optimiser, timing in zip(made, timings, strict=True):
            rows[optimiser].timings[level] = timing
    yield from rows.values()


def _contenders(arguments: argparse.Namespace) -> Iterator[tuple[str, str, str]]:
    """Label, optimiser, cost model: ours with each cost model, the others."""
    first, *others = arguments.cost
    yield OURS, OURS, first
    yield from ((f"{OURS}:{cost}", OURS, cost) for cost in others)
    yield from ((optimiser, optimiser, first) for optimiser in arguments.against)


def _optimised(
    optimiser: str,
    model: onnx.ModelProto,
    entry: Entry,
    feed: Feed,
    cost: str,
    arguments: argparse.Namespace,
) -> Optimised:
    """The optimised model, which takes the feed; raises CannotOptimise."""
    arguments.cache.mkdir(parents=True, exist_ok=True)
    config = {
        "cost": {
            "model": cost,
            "threads": 1,
            "cache": str(arguments.cache / COSTS),
            "keep_anyway": True,
        },
        "model": {"dims": entry.dims(model)},
    }
    ours = json.dumps({"rules": arguments.rules, "config": config})
    found = optimise(optimiser, model, arguments.limit, ours)
    if optimiser == OURS and cost in ("", MEASURED):
        optimise(optimiser, model, arguments.limit, ours)
        again = optimise(optimiser, model, arguments.limit, ours)
        found = replace(again, first_seconds=found.seconds)
    try:
        open_session(found.model, optimised=True).run(None, feed)
    except Exception as error:  # onnxruntime's errors derive from nothing else
        raise CannotOptimise(f"its model does not run: {str(error)[:150]}") from None
    return found


def _describe(rows: dict[str, Row], made: dict[str, Optimised], feed: Feed) -> None:
    """Fill in all but the times."""
    expected: list[Any] = []
    for optimiser, found in made.items():
        row = rows[optimiser]
        row.nodes = count_nodes(found.model.graph)
        row.foreign = bool(_domains(found.model) - _domains(made["original"].model))
        row.megabytes = found.model.ByteSize() / 1e6
        row.seconds, row.first_seconds = found.seconds, found.first_seconds
        outputs = open_session(found.model, optimised=False).run(None, feed)
        expected = expected or outputs
        pairs = zip(expected, outputs, strict=True)
        row.difference = max(compare(left, right, 0).relative for left, right in pairs)


def _domains(model: onnx.ModelProto) -> set[str]:
    return {entry.domain for entry in model.opset_import}


def count_nodes(graph: onnx.GraphProto) -> int:
    """Nodes with those of subgraphs, without constants."""
    inner = (a.g for node in graph.node for a in node.attribute if a.HasField("g"))
    own = sum(node.op_type != "Constant" for node in graph.node)
    return own + sum(map(count_nodes, inner))


def verdicts(rows: Sequence[Row]) -> Iterator[str]:
    """Which targets are missed, in words."""
    by_name = {(row.model, row.optimiser): row for row in rows}
    for row in rows:
        if row.optimiser != OURS:
            continue
        if row.problem:
            yield f"{row.model}: {row.problem}"
            continue
        before, theirs = by_name[row.model, "original"], by_name.get((row.model, "onnxsim"))
        timing, target = row.timings.get("on"), TARGETS.get(row.model)
        if timing and timing.high < (target or SLOWEST):
            yield f"{row.model}: {timing.ratio:.3f} times as fast, {target or SLOWEST} is wanted"
        if theirs and _comparable(theirs) and row.nodes > NODES * theirs.nodes:
            yield f"{row.model}: {row.nodes} nodes, onnxsim leaves {theirs.nodes}"
        allowed = SECONDS * max(1.0, before.nodes / 1000)
        if row.seconds > allowed:
            yield f"{row.model}: optimised in {row.seconds:.1f} s, {allowed:.1f} s are allowed"


def _comparable(theirs: Row) -> bool:
    """Operators that only onnxruntime has are fewer, but no model for everybody."""
    return not theirs.problem and not theirs.foreign


def line(row: Row) -> str:
    """A row of the table."""
    start = f"{row.model:20}{row.optimiser:19}"
    if row.problem:
        return start + row.problem
    facts = f"{row.nodes:6}{row.megabytes:9.2f}{row.seconds:8.2f}{row.difference:10.1e}"
    return (
        start
        + facts
        + "".join(
            f"{t.milliseconds:10.3f}{t.ratio:8.3f} [{t.low:.3f}, {t.high:.3f}]"
            for t in row.timings.values()
        )
    )


def header(levels: Sequence[str]) -> str:
    """The head of the table."""
    start = f"{'model':20}{'optimiser':19}{'nodes':>6}{'MB':>9}{'s':>8}{'differs':>10}"
    return start + "".join(f"{'ms ' + level:>10}{'ratio':>8} [95 %       ]" for level in levels)


def machine() -> dict[str, str]:
    """What the figures depend on."""
    packages = ("tensat-dl", "onnxruntime", "onnx", *list(OPTIMISERS)[1:])
    versions = {name: _version(name) for name in packages}
    return {"cpu": _processor(), "python": platform.python_version(), **versions}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "none"


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor()
    return next((x.partition(":")[2].strip() for x in lines if x.startswith("model name")), "")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Time models before and after optimisation.")
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(MODELS)}")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--against", type=_list, default=[n for n in OPTIMISERS if n != OURS])
    parser.add_argument("--levels", type=_list, default=list(LEVELS), help="on, off")
    parser.add_argument("--rules", default="std")
    parser.add_argument("--cost", type=_list, default=[""], metavar="MODEL,MODEL")
    parser.add_argument("--clock", choices=list(CLOCKS), default="cpu")
    parser.add_argument("--cache", type=Path, default=CACHE, help="folder of downloads")
    parser.add_argument("--limit", type=float, default=300.0, help="seconds of one optimiser")
    parser.add_argument("--json", type=Path, help="write the figures here")
    arguments = parser.parse_args()
    for given, known in (
        (arguments.names, MODELS),
        (arguments.against, OPTIMISERS),
        (arguments.levels, LEVELS),
    ):
        unknown = [name for name in given if name not in known]
        if unknown:
            parser.error(f"unknown: {', '.join(unknown)} (known: {', '.join(known)})")
    return arguments


def _list(text: str) -> list[str]:
    return [part for part in text.split(",") if part]


def main() -> int:
    """Print the table as it grows; 1 where a target is missed."""
    arguments = _arguments()
    np.seterr(all="ignore")
    print(header(arguments.levels), flush=True)
    rows: list[Row] = []
    for name in arguments.names or MODELS:
        for row in rows_of(name, arguments):
            rows.append(row)
            print(line(row), flush=True)
        if arguments.json:
            figures = {"machine": machine(), "rows": [asdict(row) for row in rows]}
            arguments.json.write_text(json.dumps(figures, indent=2))
    missed = list(verdicts(rows))
    print("\n".join(["", "targets missed:", *missed] if missed else ["", "all targets reached"]))
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
