"""`tensat-dl check`: every problem of a rule file at once."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING

from tensat_dl.cli import flags
from tensat_dl.cli.command import Command
from tensat_dl.cli.failures import count_problems, further_reading, print_diagnostics
from tensat_dl.diagnostics import Diagnostic, Diagnostics
from tensat_dl.errors import ExitCode
from tensat_dl.sentences import counted

if TYPE_CHECKING:
    from tensat_dl.language.program import CheckedProgram
    from tensat_dl.settings import CostSettings

_FLAGS = (flags.COST,)

_EPILOG = """\
examples:
  tensat-dl check my.tsat
  tensat-dl check my.tsat --cost nodes      also: what can make nothing cheaper under this model
  tensat-dl check my.tsat --format json     for editors: {"diagnostics": [...]}, on stdout

exit codes: 0 no errors, warnings or not   4 a rule file has an error
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", metavar="RULES", help="rule files or shipped rulesets, separated by commas"
    )
    parser.add_argument("--format", choices=("text", "json"), default="text")
    flags.add_settings(parser, _FLAGS, dims=False)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.language.load import load_program, split_names

    settings = flags.read_settings(arguments, _FLAGS)
    diagnostics = Diagnostics()
    program = load_program(split_names(arguments.rules), diagnostics)
    if program is not None:
        diagnostics.found += _of_no_worth(program, settings.cost, asked=arguments.cost is not None)
    if arguments.format == "json":
        from tensat_dl.cli.render import render_json

        found = [render_json(diagnostic) for diagnostic in diagnostics]
        print(json.dumps({"diagnostics": found}, indent=2))
    else:
        print_diagnostics(diagnostics)
        count = len({rule.base for rule in program.rules}) if program else 0
        rules = f"{counted(count, 'rule')}, " if program else ""
        print(f"{arguments.rules}: {rules}{count_problems(diagnostics)}")
        if more := further_reading(diagnostics):
            print(more)
    return ExitCode.BAD_RULES if diagnostics.has_errors else ExitCode.OK


def _of_no_worth(
    program: CheckedProgram, settings: CostSettings, *, asked: bool
) -> Iterator[Diagnostic]:
    """What there is to say with the cost model in mind.  One of the configuration may be another
    rule file's; one that is asked for must be there."""
    from tensat_dl.cost.choice import named_model
    from tensat_dl.cost.worth import warn_of_worth

    by_configuration = settings.model and not asked
    model = settings.model if by_configuration else named_model(settings, program).model
    yield from warn_of_worth(program, model).values()


COMMAND = Command(
    "check",
    "check a rule file",
    "Report every problem of RULES at once: what is wrong, where, and how to mend it.",
    _EPILOG,
    _add_arguments,
    _execute,
)
