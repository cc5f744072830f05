"""The command line: parses it, runs the subcommand, turns failures into exit codes.

Starting must be quick, so nothing here or at the top of a subcommand's module imports a stage.
"""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Sequence
from typing import NoReturn

from tensat_dl.cli import terminal
from tensat_dl.cli.command import Command
from tensat_dl.cli.commands import COMMANDS
from tensat_dl.cli.failures import report_failure
from tensat_dl.errors import ExitCode
from tensat_dl.resources import collected_rarely

_EPILOG = """\
first steps:
  tensat-dl rules                      what comes with the program
  tensat-dl run std model.onnx         optimise a model with the standard rules
  tensat-dl check my.tsat              every problem of a rule file at once
  tensat-dl run my.tsat model.onnx     optimise with rules of your own

exit codes:
  0 done   1 internal error   2 usage or configuration   3 bad model or e-graph
  4 bad rule file   5 verification failed, nothing written   6 no feasible answer
  130 interrupted
"""


def run(argv: Sequence[str]) -> ExitCode:
    """Run a command line and return its exit code."""
    try:
        with collected_rarely():
            return _run(argv)
    except (Exception, KeyboardInterrupt) as error:  # the one place where every failure ends
        with contextlib.suppress(BrokenPipeError):
            return report_failure(error, debug="--debug" in argv)
        return ExitCode.OK


def _run(argv: Sequence[str]) -> ExitCode:
    terminal.survive_any_text()
    arguments = _parse(argv)
    code: ExitCode = arguments.execute(arguments)
    sys.stdout.flush()
    return code


class _Parser(argparse.ArgumentParser):
    """An argument parser whose errors look like all the others."""

    def error(self, message: str) -> NoReturn:
        sys.stderr.write(f"tensat-dl: {message}\nhelp: `{self.prog} --help` lists what there is\n")
        raise SystemExit(int(ExitCode.USAGE))


def _parse(argv: Sequence[str]) -> argparse.Namespace:
    parser = _Parser(
        prog="tensat-dl",
        description="Optimise ONNX models with rewrite rules, by equality saturation.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action=_Version, help="print the version and exit")
    subparsers = parser.add_subparsers(metavar="COMMAND", required=True, title="commands")
    for each in COMMANDS:
        _add(subparsers, each)
    arguments, unknown = parser.parse_known_args(argv)
    if unknown:
        arguments.parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    return arguments


def _add(subparsers: argparse._SubParsersAction[_Parser], each: Command) -> None:
    parser = subparsers.add_parser(
        each.name,
        help=each.summary,
        description=each.description,
        epilog=each.epilog,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    each.add_arguments(parser)
    parser.add_argument("--debug", action="store_true", help="show a traceback on failure")
    parser.set_defaults(execute=each.execute, parser=parser)


class _Version(argparse.Action):
    """`--version`, asked of the installation only when wanted."""

    def __init__(self, option_strings: Sequence[str], dest: str, help: str | None = None) -> None:
        super().__init__(option_strings, dest, nargs=0, default=argparse.SUPPRESS, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> NoReturn:
        from importlib.metadata import version

        print(f"tensat-dl {version('tensat-dl')}")
        parser.exit(0)
