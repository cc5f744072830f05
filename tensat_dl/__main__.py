"""`python -m tensat_dl`: the command where its script is not on PATH."""

from __future__ import annotations

import sys

from tensat_dl.cli.main import main

if __name__ == "__main__":
    sys.exit(main())
