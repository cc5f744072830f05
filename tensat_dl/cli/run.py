"""`tensat-dl run`: optimise a model and write it."""

from __future__ import annotations

import argparse
import dataclasses
import sys
import tempfile
from pathlib import Path

from tensat_dl.cli import flags, supervisor
from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode
from tensat_dl.resources import remove_stale
from tensat_dl.settings import Settings

_FLAGS = (
    *(flags.SOLVER, flags.COST, flags.COST_CACHE),
    *(flags.EXPLORE_SECONDS, flags.ENODES, flags.MEMORY),
    *(flags.OPSET, flags.INPUT_DATA),
)

_EPILOG = """\
examples:
  tensat-dl run std model.onnx
  tensat-dl run std model.onnx --set cost.threads=1       time with one thread
  tensat-dl run std model.onnx --cost roofline            without timing
  tensat-dl run std,my.tsat model.onnx -o small.onnx --dim batch=1
  tensat-dl run my.tsat model.onnx --cost nodes --json report.json
  tensat-dl run std model.onnx --solver highs --set extract.options.threads=2

The written model computes what the input computes: both are run on the same random inputs
before anything is written (--no-check skips this).  Where nothing better is found, the model is
written unchanged.

Where costs are measured, as with std, the first run times operators in onnxruntime, for up to a
minute (cost.measure_seconds), and keeps the times: later runs time nothing.  At the end both
models are timed; where the new one is not faster, the original is written, its constants folded.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", metavar="RULES", help="rule files or shipped rulesets, separated by commas"
    )
    parser.add_argument("graph", metavar="GRAPH", type=Path, help="an ONNX model")
    parser.add_argument(
        "-o", dest="output", metavar="OUT", type=Path, help="write here (NAME.opt.onnx)"
    )
    parser.add_argument("--force", action="store_true", help="OUT may be GRAPH itself")
    parser.add_argument(
        "--no-check", action="store_true", help="do not compare what both models compute"
    )
    parser.add_argument(
        "--freeze-initializers",
        action="store_true",
        help="initializers that a caller could override are constants",
    )
    parser.add_argument(
        "--compare",
        action="store_true",
        help="time both models at the end, as --cost measured does; one that is not faster, or by"
        " less than 0.5 %%, is not written",
    )
    parser.add_argument(
        "--keep-anyway", action="store_true", help="write it even where it is not faster"
    )
    parser.add_argument("--json", metavar="FILE", help="write a report (`-`: to stdout)")
    parser.add_argument(
        "--explain",
        action="store_true",
        help="say which rules made each change and what it saves, here and in OUT's metadata",
    )
    parser.add_argument("-v", "--verbose", action="store_true", help="all rules")
    flags.add_settings(parser, _FLAGS, dims=True)


def _with_switches(arguments: argparse.Namespace, settings: Settings) -> Settings:
    """The settings with those that flags without a value switch."""
    switches = (
        (arguments.no_check, "verify", {"enabled": False}),
        (arguments.compare, "cost", {"compare": True}),
        (arguments.keep_anyway, "cost", {"keep_anyway": True}),
        (arguments.explain, "export", {"explain": True}),
        (arguments.freeze_initializers, "model", {"freeze_initializers": True}),
    )
    for given, table, values in switches:
        if given:
            changed = dataclasses.replace(getattr(settings, table), **values)
            settings = dataclasses.replace(settings, **{table: changed})
    return settings


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl import destination
    from tensat_dl.cli.progress import live_progress
    from tensat_dl.cli.summary import print_summary
    from tensat_dl.report import make_report, write_json

    settings = _with_switches(arguments, flags.read_settings(arguments, _FLAGS))
    used = [f for f in flags.files_used(arguments, settings) if f != arguments.graph]
    output = destination.choose_output(
        arguments.graph, arguments.output, force=arguments.force, used=used
    )
    destination.check_report(arguments.json, [arguments.graph, output, *used])
    supervisor.tell_writing(output.parent)
    for folder in (output.parent, Path(tempfile.gettempdir())):
        remove_stale(folder)
    from tensat_dl.pipeline import optimize

    with live_progress() as progress:
        outcome = optimize(
            arguments.graph,
            arguments.rules,
            settings,
            progress,
            output=output,
            force=arguments.force,
        )
    if arguments.debug:
        sys.stderr.write(outcome.exploration.traceback)
    report = make_report(outcome)
    if arguments.json:
        write_json(report, arguments.json)
    print_summary(report, verbose=arguments.verbose, to_stderr=arguments.json == "-")
    return ExitCode.OK


COMMAND = Command(
    "run",
    "optimise a model",
    "Optimise GRAPH with RULES: explore equal graphs, take the cheapest, verify it, write it.",
    _EPILOG + "\n" + flags.settings_help(),
    _add_arguments,
    _execute,
)
