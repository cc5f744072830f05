"""What bounds an exploration, and what ends it early.  Leaves: plain data and an exception."""

from __future__ import annotations

from dataclasses import dataclass

from tensat_dl.egraph.snapshot import StopReason


class Stop(Exception):
    """A limit was reached: `reason` is `ENODES` or `SECONDS`, `blamed` a rule or ""."""

    def __init__(self, reason: StopReason, blamed: str = "") -> None:
        super().__init__(reason)
        self.reason = reason
        self.blamed = blamed


@dataclass
class Limits:
    """What bounds the run: e-nodes, and the moment (time.monotonic) at which to stop."""

    enodes: int
    deadline: float
