"""`tensat-dl extract`: the cheapest selection of any engine's e-graph."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from tensat_dl.cli import flags
from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode

if TYPE_CHECKING:
    from tensat_dl.cli.tables import Table
    from tensat_dl.extract.problem import Extraction
    from tensat_dl.extract.readers import EGraphFile

_FLAGS = (flags.SOLVER, flags.METHOD, flags.GAP, flags.EXTRACT_SECONDS)

_EPILOG = """\
examples:
  tensat-dl extract egraph.json --seconds 20
  tensat-dl extract bert.csv.gz --solver highs --gap 1e-3 --json answer.json

EGRAPH is the JSON of egraph-serialize (nodes with op, children, eclass, cost; root_eclasses) or
the CSV of the extraction gym's TENSAT graphs, either one gzipped or not.  Nodes that are subsumed
or of infinite cost are never chosen.  The answer is checked:
every root chosen, closed under children, one node a class, acyclic, priced anew.  --json has it:
each class in use with the id of its node (in CSV, its line), operator and cost.
"""

#: Stages that took nothing and less than these seconds are left out.
_WORTH_TELLING = 0.05


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("egraph", metavar="EGRAPH", type=Path, help="an e-graph")
    parser.add_argument(
        "--json", metavar="FILE", help="write report and selection (`-`: to stdout)"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="every stage, also those that took nothing"
    )
    flags.add_settings(parser, _FLAGS, dims=False)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.cli.progress import live_progress
    from tensat_dl.destination import check_report
    from tensat_dl.extract.limits import require_selection
    from tensat_dl.extract.readers import read_egraph
    from tensat_dl.extract.run import extract
    from tensat_dl.report import write_json

    settings = flags.read_settings(arguments, _FLAGS)
    check_report(arguments.json, flags.files_used(arguments, settings))
    file = read_egraph(arguments.egraph)
    with live_progress() as progress:
        extraction = extract(file.problem, settings.extract, progress)
    report = _report(extraction, file)
    if arguments.json:
        write_json(report, arguments.json)
    require_selection(extraction, f"{arguments.egraph}: no acyclic selection")
    stream = sys.stderr if arguments.json == "-" else sys.stdout
    _print(report, stream, verbose=arguments.verbose)
    return ExitCode.OK


def _report(extraction: Extraction, file: EGraphFile) -> dict[str, Any]:
    from tensat_dl.report import extraction_report, versions

    problem = file.problem
    return {
        "egraph": {
            "nodes": problem.nodes,
            "eclasses": problem.classes,
            "roots": len(problem.roots),
        },
        "extraction": extraction_report(extraction),
        "selection": _selection(extraction, file),
        "versions": versions(),
    }


def _selection(extraction: Extraction, file: EGraphFile) -> dict[str, Any] | None:
    """Class name -> the chosen node: its id (in CSV its line), operator, cost."""
    if extraction.selection is None:
        return None
    problem = file.problem
    return {
        str(file.class_names[problem.node_class[node]]): {
            "node": file.node_ids[node],
            "op": problem.node_name[node] if problem.node_name else "",
            "cost": float(problem.node_cost[node]),
        }
        for node in extraction.selection.chosen()
    }


def _print(report: dict[str, Any], stream: TextIO, *, verbose: bool) -> None:
    from tensat_dl.cli.summary import extraction_line, limit_words
    from tensat_dl.cli.tables import Block, Line, print_blocks

    found, sizes = report["extraction"], report["egraph"]
    blocks: list[Block] = [
        Line(f"e-graph     {sizes['nodes']:,} e-nodes in {sizes['eclasses']:,} e-classes"),
        Line(f"extraction  {extraction_line(found)}"),
        Line(f"selected    {len(report['selection']):,} e-nodes"),
    ]
    stages = [stage for stage in found["stages"] if verbose or _did_something(stage)]
    if stages:
        blocks.append(_stage_table(stages))
    blocks += [Line(f"limit: {limit_words(limit)}") for limit in found["limits"]]
    blocks += [Line(f"warning: {text}", "yellow") for text in found["warnings"]]
    print_blocks(blocks, stream)


def _did_something(stage: dict[str, Any]) -> bool:
    took = stage["removed_classes"] or stage["removed_nodes"]
    return bool(took or stage["seconds"] >= _WORTH_TELLING)


def _stage_table(stages: list[dict[str, Any]]) -> Table:
    from tensat_dl.cli.tables import Table

    rows = [
        (
            stage["name"],
            stage["scope"],
            f"{stage['classes_before']:,}",
            f"{stage['nodes_before']:,}",
            f"{stage['removed_classes']:,}",
            f"{stage['removed_nodes']:,}",
            f"{stage['seconds']:.2f}",
            stage["detail"],
        )
        for stage in stages
    ]
    columns = ("stage", "of", ">classes", ">nodes", ">- classes", ">- nodes", ">seconds", "")
    return Table(columns, rows)


COMMAND = Command(
    "extract",
    "extract from an e-graph of any engine",
    "Find the cheapest acyclic selection of EGRAPH, and say how good it is.",
    _EPILOG,
    _add_arguments,
    _execute,
)
