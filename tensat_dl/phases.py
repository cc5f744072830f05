"""Times the phases of a run and tells the caller which one has begun."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tensat_dl.progress import Progress, ProgressEvent


class Phases:
    """`with phases("read"): ...` adds to `seconds["read"]`."""

    def __init__(self, report: Progress) -> None:
        self.report = report
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, name: str) -> Iterator[None]:
        """Run the body as the phase `name`."""
        started = time.monotonic()
        self.report(ProgressEvent(name))
        try:
            yield
        finally:
            self.seconds[name] = self.seconds.get(name, 0.0) + time.monotonic() - started
