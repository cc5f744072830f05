"""`tensat-dl show`: what stands between two stages, as text."""

from __future__ import annotations

import argparse
from pathlib import Path

from tensat_dl.cli import flags
from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode, UsageError

_FLAGS = (
    *(flags.SOLVER, flags.COST, flags.COST_CACHE),
    *(flags.EXPLORE_SECONDS, flags.ENODES, flags.MEMORY, flags.OPSET),
)

#: Stage, whether it needs a model, what it shows.  `cli.stages` has a function for each.
STAGES = (
    ("ast", False, "the rule file as it was read, printed back"),
    ("checked", False, "flat rules, names resolved"),
    ("egglog", False, "the rules as an egglog program"),
    ("facts", True, "the model as facts"),
    ("egraph", True, "classes and e-nodes after exploration"),
    ("model", True, "the extraction problem as a mathematical program"),
    ("selection", True, "the chosen e-nodes with their costs"),
)

_EPILOG = "stages:\n" + "\n".join(
    f"  {name:<11}{doc}{' (needs GRAPH)' if needs_graph else ''}"
    for name, needs_graph, doc in STAGES
)


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", metavar="RULES", help="rule files or shipped rulesets, separated by commas"
    )
    parser.add_argument("graph", metavar="GRAPH", type=Path, nargs="?", help="an ONNX model")
    parser.add_argument("--stage", required=True, choices=[name for name, *_ in STAGES])
    flags.add_settings(parser, _FLAGS, dims=True)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    needs_graph = {name: needs for name, needs, _ in STAGES}[arguments.stage]
    if needs_graph and arguments.graph is None:
        raise UsageError(
            f"the stage `{arguments.stage}` needs a model",
            help=f"tensat-dl show {arguments.rules} MODEL.onnx --stage {arguments.stage}",
        )
    from tensat_dl.cli.stages import STAGE_TEXT, Subject

    settings = flags.read_settings(arguments, _FLAGS)
    subject = Subject(arguments.rules, arguments.graph, settings)
    for piece in STAGE_TEXT[arguments.stage](subject):
        print(piece)
    return ExitCode.OK


COMMAND = Command(
    "show",
    "print a stage between rules and answer",
    "Print what stands between two stages of RULES and GRAPH.",
    _EPILOG,
    _add_arguments,
    _execute,
)
