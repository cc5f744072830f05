"""How long work tells its caller where it stands."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum


class Phase(StrEnum):
    """What a run does, one after another."""

    CHECK = "check"
    READ = "read"
    EXPLORE = "explore"
    COST = "cost"
    MEASURE = "measure"
    EXTRACT = "extract"
    EXPORT = "export"
    VERIFY = "verify"
    COMPARE = "compare"
    EXPLAIN = "explain"
    WRITE = "write"


@dataclass(frozen=True)
class ProgressEvent:
    """Fields are None where they do not apply; `seconds` counts from the start of the phase.  An
    extraction has a `stage`, and `total` independent parts of which `done` are solved."""

    phase: Phase
    seconds: float = 0.0
    step: int | None = None
    enodes: int | None = None
    incumbent: float | None = None
    bound: float | None = None
    stage: str = ""
    done: int | None = None
    total: int | None = None
    message: str = ""


Progress = Callable[[ProgressEvent], None]


def silent(event: ProgressEvent) -> None:
    """A progress callback that does nothing."""
