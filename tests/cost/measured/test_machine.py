"""With how many threads operators are timed: as many as asked, and one on a busy machine."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tensat_dl.cost.measured import machine
from tensat_dl.cost.measured.machine import threads_for_timing
from tensat_dl.resources import processors

#: As it is, before the tests of everything else have it that no machine is busy.
BUSY_SHARE = machine.busy_share


@pytest.mark.parametrize(
    ("asked", "cpus", "others", "threads"),
    [(0, 2, 0.1, 0), (0, 2, 0.6, 1), (2, 2, 0.9, 2), (1, 2, 0.9, 1), (0, 1, 0.9, 1)],
)
def test_one_thread_is_timed_where_others_disturb_more(
    asked: int, cpus: int, others: float, threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(machine, "processors", lambda: cpus)
    monkeypatch.setattr(machine, "busy_share", lambda: others)
    taken, note = threads_for_timing(asked)
    assert taken == threads
    assert ("other processes take 60% of this machine" in note) == (others == 0.6)


def test_the_share_of_others_is_seen() -> None:
    """A process that never rests takes a whole processor, or others do."""
    busy = subprocess.Popen(
        [sys.executable, "-c", "print(end='x', flush=True)\nwhile 1: 0"], stdout=-1
    )
    try:
        assert busy.stdout is not None
        busy.stdout.read(1)
        shares = [BUSY_SHARE() for _ in range(3)]
    finally:
        busy.kill()
        busy.communicate()
    assert max(shares) >= 0.7 / processors()
