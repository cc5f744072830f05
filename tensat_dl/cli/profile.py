"""`tensat-dl profile`: which rules match, make and take how much, and how the e-graph grows."""

from __future__ import annotations

import argparse
import dataclasses
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from tensat_dl.cli import flags
from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode
from tensat_dl.sentences import counted

if TYPE_CHECKING:
    from tensat_dl.cli.tables import Block
    from tensat_dl.diagnosis.profile import Profile

_FLAGS = (
    *(flags.SOLVER, flags.COST, flags.COST_CACHE),
    *(flags.EXPLORE_SECONDS, flags.ENODES, flags.MEMORY, flags.OPSET),
)

_EPILOG = """\
examples:
  tensat-dl profile my.tsat model.onnx
  tensat-dl profile std model.onnx --json profile.json

Seconds of a rule are those of matching it, answering its conditions and building its right sides.
E-nodes are those that the e-graph has at the end.  The answer is that of `run`: where costs are
measured, operators are timed for it (with `--cost roofline` none are).
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", metavar="RULES", help="rule files or shipped rulesets, separated by commas"
    )
    parser.add_argument("graph", metavar="GRAPH", type=Path, help="an ONNX model")
    parser.add_argument("--json", metavar="FILE", help="write the profile to FILE, `-` for stdout")
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also the rules that match nothing"
    )
    flags.add_settings(parser, _FLAGS, dims=True)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.cli.progress import live_progress
    from tensat_dl.cli.stages import Subject
    from tensat_dl.cli.tables import print_blocks
    from tensat_dl.destination import check_report
    from tensat_dl.diagnosis.profile import make_profile
    from tensat_dl.report import write_json

    settings = flags.read_settings(arguments, _FLAGS)
    check_report(arguments.json, flags.files_used(arguments, settings))
    with live_progress() as progress:
        subject = Subject(arguments.rules, arguments.graph, settings, progress)
        profile = make_profile(subject.saturated, subject.chosen)
    if arguments.json:
        write_json(dataclasses.asdict(profile), arguments.json)
    if arguments.json != "-":
        print_blocks(_blocks(profile, verbose=arguments.verbose), sys.stdout)
    return ExitCode.OK


def _blocks(profile: Profile, *, verbose: bool) -> list[Block]:
    from tensat_dl.cli.tables import Line, Table

    shown = [rule for rule in profile.rules if verbose or rule.matches]
    rules = [
        (
            rule.name,
            *(f"{n:,}" for n in (rule.matches, rule.applied, rule.rejected)),
            *(f"{n:,}" for n in (rule.made, rule.in_answer)),
            f"{rule.seconds:.3f}",
        )
        for rule in shown
    ]
    quiet = [rule for rule in profile.rules if rule not in shown]
    if quiet:
        label = f"{counted(len(quiet), 'rule')} without a match"
        rules.append((label, *[""] * 5, f"{sum(rule.seconds for rule in quiet):.3f}"))
    rules.append(("other work", *[""] * 5, f"{profile.other_seconds:.3f}"))
    steps = [
        (str(number), f"{step.enodes:,}", f"{step.eclasses:,}", f"{step.seconds:.3f}")
        for number, step in enumerate(profile.steps, start=1)
    ]
    return [
        Table(
            ("rule", ">matches", ">applied", ">rejected", ">e-nodes", ">in answer", ">seconds"),
            rules,
        ),
        Table((">step", ">e-nodes", ">e-classes", ">seconds"), steps)
        if steps
        else Line("no rule ran"),
    ]


COMMAND = Command(
    "profile",
    "show what each rule does and takes",
    "Explore GRAPH with RULES and show, for each rule and each step, what it made and took.",
    _EPILOG + "\n" + flags.settings_help(),
    _add_arguments,
    _execute,
)
