"""The entry point of the command `tensat-dl`.

Imports nothing until it can handle Ctrl-C, which may come while the rest is being imported.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line (default: that of the process) and return its exit code."""
    try:
        from tensat_dl.cli.command_line import run

        return int(run(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:
        sys.stderr.write("tensat-dl: interrupted\n")
        return 130
