"""The entry point of the command `tensat-dl`.

Imports nothing until it can handle Ctrl-C, which may come while the rest is being imported.  In a
process of its own onnxruntime is not to report to its makers what models it is given.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

#: What onnxruntime reads before it starts to collect anything.
_NO_TELEMETRY = "ORT_DISABLE_TELEMETRY"


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line in this process, or that of the process under a supervisor, and return
    its exit code."""
    try:
        if argv is not None:
            return _run(argv)
        from tensat_dl.cli.supervisor import supervised

        os.environ.setdefault(_NO_TELEMETRY, "1")
        return supervised(lambda: _run(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.stderr.write("tensat-dl: interrupted\n")
        return 130


def _run(argv: Sequence[str]) -> int:
    from tensat_dl.cli.command_line import run

    return int(run(argv))
