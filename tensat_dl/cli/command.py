"""What a subcommand is."""

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
