"""`tensat-dl test`: run the `test` blocks of rule files."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from tensat_dl.cli import flags
from tensat_dl.cli.command import Command
from tensat_dl.cli.failures import print_diagnostics
from tensat_dl.errors import ExitCode
from tensat_dl.sentences import counted

if TYPE_CHECKING:
    from tensat_dl.rule_tests.run import TestResult

_FLAGS = (flags.COST, flags.SOLVER, flags.EXPLORE_SECONDS, flags.PROOF_SECONDS)

_EPILOG = """\
examples:
  tensat-dl test my.tsat
  tensat-dl test my.tsat --only merge     those with `merge` in their title

A test declares a small graph, and claims what the rules make of it:

  test "two are one" {
    input x: f32[4]
    given y = Relu(Relu(x))
    expect fires relu_relu
    expect best under nodes y = Relu(x)
  }

exit codes: 0 all tests hold   4 one fails, or the rule file is wrong
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "rules", metavar="RULES", help="rule files or shipped rulesets, separated by commas"
    )
    parser.add_argument(
        "--only", metavar="TEXT", default="", help="run the tests with TEXT in their title"
    )
    parser.add_argument("--json", metavar="FILE", help="write the results to FILE, `-` for stdout")
    flags.add_settings(parser, _FLAGS, dims=False)


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.destination import check_report
    from tensat_dl.language.load import load_rules
    from tensat_dl.report import write_json
    from tensat_dl.rule_tests.run import run_tests

    settings = flags.read_settings(arguments, _FLAGS)
    check_report(arguments.json, flags.files_used(arguments, settings))
    program = load_rules(arguments.rules)
    quiet = arguments.json == "-"
    results = []
    for result in run_tests(program, settings, arguments.only):
        results.append(result)
        if not quiet:
            print(f"{'ok    ' if result.ok else 'FAILED'}  {result.case.title}", flush=True)
            print_diagnostics(result.failures)
    if arguments.json:
        write_json(_report(results), arguments.json)
    if not quiet:
        print(f"{arguments.rules}: {_counted(results, arguments.only)}")
        for name in program.tested_imports:
            print(f"the tests of the imported {name} do not run here: `tensat-dl test {name}`")
    return ExitCode.OK if all(r.ok for r in results) else ExitCode.BAD_RULES


def _counted(results: list[TestResult], only: str) -> str:
    if not results:
        return f"no test with `{only}` in its title" if only else "no tests"
    failed = sum(not result.ok for result in results)
    return f"{counted(len(results), 'test')}, {f'{failed} failed' if failed else 'all hold'}"


def _report(results: list[TestResult]) -> dict[str, Any]:
    from tensat_dl.cli.render import render_json

    tests = [
        {
            "title": result.case.title,
            "file": result.case.span.file.name,
            "line": result.case.span.position()[0],
            "ok": result.ok,
            "failures": [render_json(diagnostic) for diagnostic in result.failures],
            "seconds": result.seconds,
        }
        for result in results
    ]
    failed = sum(not result.ok for result in results)
    return {"tests": tests, "passed": len(results) - failed, "failed": failed}


COMMAND = Command(
    "test",
    "run the tests of a rule file",
    "Run the `test` blocks of RULES and say what does not hold.",
    _EPILOG,
    _add_arguments,
    _execute,
)
