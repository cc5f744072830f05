"""What stands behind the prices of a run that measured, as data for the report.

Enters: nothing (data only).  Written by the model `measured`, read by `report.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tensat_dl.cost.measured.machine import Setting


@dataclass(frozen=True)
class Tally:
    """`used`: distinct signatures in the original graph and the answer, of which `cached` were
    known from earlier runs; `measured`: those that this run timed, also for graphs that it did
    not take.  `estimated`: operators that cannot be timed alone; `left`: signatures that the time
    for measuring did not reach.  `rounds`: how often the problem was solved; `seconds`: of
    measuring; `sizes`: what symbolic dims counted as."""

    setting: Setting
    used: int
    cached: int
    measured: int
    estimated: tuple[str, ...]
    left: int
    rounds: int
    seconds: float
    sizes: Mapping[str, int] = field(default_factory=dict)
