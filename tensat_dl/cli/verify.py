"""`tensat-dl verify`: do the rules hold?"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from tensat_dl.cli import flags
from tensat_dl.cli.command import Command
from tensat_dl.cli.failures import print_diagnostics
from tensat_dl.diagnostics import Severity
from tensat_dl.errors import ExitCode
from tensat_dl.sentences import counted, shortened

if TYPE_CHECKING:
    from tensat_dl.soundness.verdict import Verdict

#: Rules that are named where some of them call for a remark.
_NAMED = 5

_EPILOG = """\
examples:
  tensat-dl verify my.tsat
  tensat-dl verify my.tsat --rule fuse --samples 500      one rule, more instances
  tensat-dl verify std --rule 'fold.conv_*' --rule merge  some by a pattern, and a ruleset
  tensat-dl verify std --json verdicts.json

For each rule, instances are drawn: shapes, element types, attributes, constants that satisfy its
pattern, types and conditions.  On each, both sides are computed from equal inputs and compared.

methods, from the strongest on:
  modular   equal modulo 2^31 - 1 at random places: proved but for the error that is shown
  exact     equal on numbers that are computed without rounding
  float64   equal in float64, within 1e-6 of the largest value

A rule that is not `@real` is also tried with NaN, infinities, signed zeros and rounding.
Some instances are written as models of other opsets have them, and run; -v shows which.
Instances on which the sides differ in type are kept apart, since `run` does not join those: their
number is shown, and with --unguarded they refute the rule.
exit codes: 0 no rule is refuted   4 a rule is refuted, has no instance, or the file is wrong
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", metavar="RULES", help="rule files or shipped rulesets, separated by commas"
    )
    parser.add_argument(
        "--rule",
        action="append",
        default=[],
        metavar="NAME",
        help="verify only this rule, the rules of this ruleset, or those that fit a pattern",
    )
    parser.add_argument(
        "--samples", type=_count, default=40, metavar="N", help="instances of each rule (40)"
    )
    parser.add_argument(
        "--seed", type=_seed, default=0, metavar="S", help="draw other instances (0)"
    )
    parser.add_argument(
        "--unguarded",
        action="store_true",
        help="sides that differ in type refute a rule, too: what would happen without the guard",
    )
    parser.add_argument(
        "--no-cache", action="store_true", help="compute verdicts that are known already, too"
    )
    parser.add_argument(
        "-v", "--verbose", action="store_true", help="also the opsets at which instances were run"
    )
    parser.add_argument("--json", metavar="FILE", help="write the verdicts to FILE, `-` for stdout")


def _count(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"a whole number of at least 1, not `{text}`")
    return int(text)


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"a whole number of at least 0, not `{text}`")
    return int(text)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.api import verify_rules
    from tensat_dl.cli.progress import live_progress
    from tensat_dl.destination import check_report
    from tensat_dl.language.load import load_rules
    from tensat_dl.report import write_json
    from tensat_dl.soundness.findings import findings
    from tensat_dl.soundness.report import make_report

    check_report(arguments.json, flags.files_used(arguments))
    program = load_rules(arguments.rules)
    with live_progress() as progress:
        verdicts = verify_rules(
            program,
            only=arguments.rule,
            samples=arguments.samples,
            seed=arguments.seed,
            cache=not arguments.no_cache,
            processes=None,
            progress=progress,
            unguarded=arguments.unguarded,
        )
    quiet = arguments.json == "-"
    found = findings(program, verdicts)
    if arguments.json:
        write_json(make_report(verdicts), arguments.json)
    if not quiet:
        _print(verdicts, arguments.rules, arguments.samples, verbose=arguments.verbose)
    print_diagnostics(found)
    bad = any(diagnostic.severity is Severity.ERROR for diagnostic in found)
    return ExitCode.BAD_RULES if bad else ExitCode.OK


def _print(verdicts: Sequence[Verdict], rules: str, samples: int, *, verbose: bool) -> None:
    from tensat_dl.cli.tables import Line, Table, print_blocks

    columns: tuple[str, ...] = ("rule", "verdict", "method", ">instances", ">error", "kept apart")
    rows = [_row(verdict) for verdict in verdicts]
    if not any(verdict.apart for verdict in verdicts):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    if verbose:
        columns = (*columns, "opsets")
        rows = [(*r, ", ".join(map(str, v.opsets))) for r, v in zip(rows, verdicts, strict=True)]
    counts: dict[str, int] = {}
    for verdict in verdicts:
        counts[verdict.status.value] = counts.get(verdict.status.value, 0) + 1
    words = [_counted(name, count) for name, count in counts.items()]
    total = counted(len(rows), "rule")
    line = Line(f"{rules}: " + (f"{total}: {', '.join(words)}" if words else total))
    lines = [line, *map(Line, [*_guarded(verdicts), *_rarely_met(verdicts, samples)])]
    print_blocks([Table(columns, rows), *lines] if rows else lines, sys.stdout)


def _guarded(verdicts: Sequence[Verdict]) -> Iterator[str]:
    """What the guard of types was for."""
    apart = [verdict for verdict in verdicts if verdict.apart and not verdict.unguarded]
    if apart:
        yield (
            f"of {counted(len(apart), 'rule')} some instances differ in type: the guard of types "
            "keeps both sides apart there (--unguarded refutes them)"
        )


def _rarely_met(verdicts: Sequence[Verdict], samples: int) -> Iterator[str]:
    """That a verdict stands on fewer instances than was asked for."""
    from tensat_dl.soundness.verdict import Status

    few = [v for v in verdicts if v.status is Status.HOLDS and v.instances < samples]
    if few:
        named = shortened([f"{v.rule} {v.instances}" for v in few], _NAMED)
        yield (
            f"of {counted(len(few), 'rule')} fewer than {samples} instances were found ({named}): "
            "what the rule asks for is rarely drawn (--samples, --seed: more, others)"
        )


def _counted(name: str, count: int) -> str:
    return f"{count} hold" if name == "holds" and count != 1 else f"{count} {name}"


def _row(verdict: Verdict) -> tuple[str, ...]:
    error = f"{verdict.error:.0e}" if verdict.error else ""
    methods = ", ".join(f"{name} {count}" for name, count in sorted(verdict.methods.items()))
    drawn = verdict.apart + verdict.instances
    apart = f"{verdict.apart} of {drawn}" if verdict.apart else ""
    return (verdict.rule, verdict.status.value, methods, str(verdict.instances), error, apart)


COMMAND = Command(
    "verify",
    "try whether rules hold",
    "Draw instances of every rule of RULES and compare both sides.",
    _EPILOG,
    _add_arguments,
    _execute,
)
