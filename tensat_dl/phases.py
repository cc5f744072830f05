"""Times the phases of a run and tells the caller which one has begun."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tensat_dl.progress import Phase, Progress, ProgressEvent


class Phases:
    """`with phases(Phase.READ): ...` adds to `seconds["read"]`."""

    def __init__(self, report: Progress) -> None:
        self.report = report
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: Phase) -> Iterator[None]:
        """Run the body as the phase `name`."""
        started = time.monotonic()
        self.report(ProgressEvent(name))
        try:
            yield
        finally:
            taken = time.monotonic() - started
            self.seconds[name.value] = self.seconds.get(name.value, 0.0) + taken
