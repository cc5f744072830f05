"""The table of subcommands.

A subcommand is one module of this package.  Modules are imported to build the parser, so they
import stages inside their functions only.
"""

from __future__ import annotations

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
from tensat_dl.cli.command import Command

#: In the order in which help lists them.
COMMANDS: tuple[Command, ...] = (
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
