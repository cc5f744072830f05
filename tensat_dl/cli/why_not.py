"""`tensat-dl why-not`: how far a rule's pattern matches, and what is in its way; where it fires,
what the answer would cost with it."""

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
    from collections.abc import Sequence

    from tensat_dl.cli.tables import Block
    from tensat_dl.diagnosis.verdict import Standing
    from tensat_dl.diagnosis.why_not import Part, WhyNot

_FLAGS = (
    *(flags.SOLVER, flags.COST, flags.COST_CACHE),
    *(flags.EXPLORE_SECONDS, flags.ENODES, flags.MEMORY, flags.OPSET),
)

#: The longest pattern that is shown as a whole.
_WIDEST = 72

_EPILOG = """\
examples:
  tensat-dl why-not fold.conv_scale model.onnx                a rule of std
  tensat-dl why-not merge model.onnx --rules my.tsat          a rule of your own
  tensat-dl why-not merge model.onnx --rules my.tsat --at q   at this node, or the node that
                                                              makes this value

The model is explored with all of RULES first, so the rule is tried on what the others make, too.
Where it fires, the answer of `run` (before both models are run) and the cheapest graph that uses
what the rule made are found and compared.  Where costs are measured, operators are timed for it;
with `--cost roofline` none are.
exit codes: 0 whether RULE fires or not   2 no such rule or node   3 bad model   4 bad rule file
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("rule", metavar="RULE", help="the name of a rule")
    parser.add_argument("graph", metavar="GRAPH", type=Path, help="an ONNX model")
    parser.add_argument(
        "--rules",
        metavar="RULES",
        help="rule files or shipped rulesets, separated by commas (std)",
    )
    parser.add_argument("--at", metavar="NODE", help="the name of a node, or of a value")
    parser.add_argument("--json", metavar="FILE", help="write the answer to FILE, `-` for stdout")
    flags.add_settings(parser, _FLAGS, dims=True)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.cli.progress import live_progress
    from tensat_dl.cli.stages import Subject
    from tensat_dl.cli.standing import standing_of
    from tensat_dl.cli.tables import print_blocks
    from tensat_dl.destination import check_report
    from tensat_dl.diagnosis.why_not import rules_called, why_not
    from tensat_dl.report import write_json

    settings = flags.read_settings(arguments, _FLAGS)
    check_report(arguments.json, flags.files_used(arguments, settings))
    with live_progress() as progress:
        subject = Subject(arguments.rules or "std", arguments.graph, settings, progress)
        program, graph, name = subject.program, subject.graph, arguments.rule
        rules_called(name, program, arguments.rules or "std (--rules names other rule files)")
        opset = subject.writable.opsets.get("", 0)
        answer = why_not(program, name, graph, subject.saturated, arguments.at, opset)
        acts = answer.applied and not answer.off and (answer.fires or arguments.at is None)
        standing = standing_of(subject, name, arguments.at) if acts else None
    if arguments.json:
        fields = None if standing is None else dataclasses.asdict(standing)
        write_json({**dataclasses.asdict(answer), "standing": fields}, arguments.json)
    if arguments.json != "-":
        print_blocks(_blocks(answer, standing), sys.stdout)
    return ExitCode.OK


def _blocks(answer: WhyNot, standing: Standing | None) -> list[Block]:
    from tensat_dl.cli.standing import standing_blocks
    from tensat_dl.cli.tables import Line

    blocks: list[Block] = [Line(_title(answer), "bold")]
    for parts in answer.fires:
        blocks += [Line(""), *_parts(parts, "")]
    if standing is not None:
        blocks += [Line(""), *standing_blocks(standing)]
    for attempt in answer.attempts:
        blocks += [*_gap(blocks), *_parts(attempt.matched, attempt.pattern)]
        blocks.append(Line(f"  {attempt.rule}: {attempt.obstacle}", "yellow"))
    if answer.missed:
        blocks += [*_gap(blocks), Line(f"and {answer.missed} more like these")]
    if not answer.complete:
        blocks += [*_gap(blocks), Line("there were too many ways to match; not all were tried")]
    return blocks


def _gap(blocks: Sequence[Block]) -> list[Block]:
    """An empty line, where the block before has none behind it."""
    from tensat_dl.cli.tables import Line, Table

    return [] if isinstance(blocks[-1], Table) else [Line("")]


def _title(answer: WhyNot) -> str:
    from tensat_dl.cli.summary import ENDED, LIMITS

    place = "" if answer.at is None else f" at `{answer.at}`"
    times = counted(answer.applied, "time")
    if answer.off:
        matches = "matches" if answer.fires else "does not match"
        return f"`{answer.rule}` {matches}{place}, and is {answer.off}"
    if answer.fires and answer.applied:
        return f"`{answer.rule}` fires{place}, {times} in all{' the model' if place else ''}"
    if answer.fires and answer.stopped_by in LIMITS:
        return (
            f"`{answer.rule}` matches{place} and nothing in it is in the way, but it did not get "
            f"to act before the exploration ended: {ENDED[answer.stopped_by]} (--enodes, --seconds "
            "and --memory give it more)"
        )
    if answer.fires:
        return (
            f"`{answer.rule}` matches{place} and nothing in it is in the way, but it changed "
            "nothing: the schedule does not reach it, the cycle check stopped it, or the outputs "
            "are one already"
        )
    if answer.applied and place:
        return f"`{answer.rule}` does not fire{place}; elsewhere it does, {times}"
    if answer.applied:
        return f"`{answer.rule}` fires {times}, but not everywhere"
    return f"`{answer.rule}` does not fire{place}"


def _parts(parts: Sequence[Part], missing: str) -> list[Block]:
    from tensat_dl.cli.tables import Line

    patterns = [_cut(part.pattern) for part in parts]
    width = max((len(text) for text in (_cut(missing), *patterns)), default=0)
    lines: list[Block] = [
        Line(f"  matches        {pattern.ljust(width)}  {part.node}")
        for pattern, part in zip(patterns, parts, strict=True)
    ]
    return [*lines, Line(f"  does not match {_cut(missing)}", "bold")] if missing else lines


def _cut(pattern: str) -> str:
    """Its beginning, where it is long: the parts in the lines below show the rest."""
    return pattern if len(pattern) <= _WIDEST else f"{pattern[: _WIDEST - 2]}.."


COMMAND = Command(
    "why-not",
    "say why a rule does not fire, or is not in the answer",
    "Find the longest part of the pattern of RULE that matches in GRAPH, and what is in its way; "
    "where it fires, whether the answer uses it, and else what that would cost.",
    _EPILOG + "\n" + flags.settings_help(),
    _add_arguments,
    _execute,
)
