"""`tensat-dl ops`: the operators that rules can use."""

from __future__ import annotations

import argparse

from tensat_dl.cli.command import Command
from tensat_dl.errors import ExitCode, UsageError
from tensat_dl.suggest import closest

_EPILOG = """\
examples:
  tensat-dl ops             every operator, one a line
  tensat-dl ops Conv        its inputs, outputs, attributes and their defaults

The operators are those of ai.onnx 21, and of ai.onnx 23 Attention, RMSNormalization and
RotaryEmbedding.  Models of other opsets are lifted to it and lowered back.
"""


def _add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="an operator, e.g. Conv")


def _execute(arguments: argparse.Namespace) -> ExitCode:
    from tensat_dl.vocabulary import catalog

    if arguments.name is None:
        known = [catalog.operator(name) for name in catalog.names()]
        print("\n".join(catalog.signature(operator) for operator in known if operator))
        return ExitCode.OK
    found = (catalog.operator(arguments.name, domain) for domain in catalog.VERSIONS)
    operator = next((each for each in found if each is not None), None)
    if operator is None:
        from tensat_dl.vocabulary.left_out import why_left_out

        reason = why_left_out(arguments.name)
        if reason:
            raise UsageError(f"no rule has an operator `{arguments.name}`", help=reason)
        guess = closest(arguments.name, catalog.names())
        meant = f"; did you mean `{guess}`?" if guess else ""
        raise UsageError(
            f"there is no operator `{arguments.name}`{meant}", help="`tensat-dl ops` lists them"
        )
    print(catalog.describe(operator), end="")
    return ExitCode.OK


COMMAND = Command(
    "ops",
    "show operators and their attributes",
    "Show the operators that rules can use, as a rule author needs them.",
    _EPILOG,
    _add_arguments,
    _execute,
)
