"""How `verify` goes about it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    """`samples`: instances of each rule; `seed`: equal seeds draw equal instances; `conditions`:
    also ask which conditions a rule needs; `unguarded`: sides that differ in type refute; `cache`:
    read and keep verdicts; `processes`: None for as many as there are processors."""

    samples: int = 40
    seed: int = 0
    conditions: bool = True
    unguarded: bool = False
    cache: bool = True
    processes: int | None = None
