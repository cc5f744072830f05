"""Times the phases of a run and tells the caller which one has begun."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager

from tensat_dl.progress import Phase, Progress, ProgressEvent


class Phases:
    """`with phases(Phase.READ): ...` adds to `seconds["read"]`, without what phases inside it
    take."""

    def __init__(self, report: Progress) -> None:
        self.report = report
        self.seconds: dict[str, float] = {}
        self._inside = 0.0

    @contextmanager
    def __call__(self, name: Phase) -> Iterator[None]:
        """Run the body as the phase `name`."""
        started, before = time.monotonic(), self._inside
        self._inside = 0.0
        self.report(ProgressEvent(name))
        try:
            yield
        finally:
            taken = time.monotonic() - started
            own = taken - self._inside
            self.seconds[name.value] = self.seconds.get(name.value, 0.0) + own
            self._inside = before + taken
