"""What a subcommand is, and the table of them.

A subcommand is one module of this package.  Modules are imported to build the parser, so they
import stages inside their functions only.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass

from tensat_dl.errors import ExitCode


@dataclass(frozen=True)
class Command:
    """`summary` stands in the list of commands; `epilog` holds examples."""

    name: str
    summary: str
    description: str
    epilog: str
    add_arguments: Callable[[argparse.ArgumentParser], None]
    execute: Callable[[argparse.Namespace], ExitCode]


def commands() -> tuple[Command, ...]:
    """All subcommands, in the order in which help lists them."""
    from tensat_dl.cli import (
        check,
        costs,
        explain,
        extract,
        fmt,
        import_rules,
        ops,
        profile,
        rules,
        run,
        show,
        solvers,
        test,
        verify,
        why_not,
    )

    return (
        run.COMMAND,
        check.COMMAND,
        explain.COMMAND,
        verify.COMMAND,
        test.COMMAND,
        fmt.COMMAND,
        why_not.COMMAND,
        profile.COMMAND,
        show.COMMAND,
        rules.COMMAND,
        import_rules.COMMAND,
        ops.COMMAND,
        extract.COMMAND,
        costs.COMMAND,
        solvers.COMMAND,
    )
