"""What a measurement holds for: this machine, this runtime, so many threads.

Several threads are timed by the clock on the wall, which other processes disturb, and threads that
wait for one another are disturbed most.  One thread is timed by the clock of the processor, which
counts nobody else.
"""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tensat_dl.resources import processors

#: Others that take more than this share of the machine disturb what several threads do.
_BUSY = 0.25
#: Seconds for looking how busy it is.
_LOOK = 0.1


@dataclass(frozen=True)
class Setting:
    """`machine` and `runtime` are texts for people, too; `threads` 0: as many as the runtime
    takes by itself."""

    machine: str
    runtime: str
    threads: int


def this_setting(threads: int) -> Setting:
    """The setting of measurements made here and now."""
    import onnxruntime

    return Setting(_machine(), f"onnxruntime {onnxruntime.__version__} cpu", threads)


def threads_for_timing(asked: int) -> tuple[int, str]:
    """As many as were `asked` for; one where that is left open (0) and others keep the machine
    busy, or where there is but one processor.  With what there is to say of that, or ""."""
    if asked or processors() == 1:
        return asked or 1, ""
    others = busy_share()
    if others < _BUSY:
        return 0, ""
    return 1, (
        f"other processes take {others:.0%} of this machine, so that one thread was timed, by the "
        "clock of the processor; times with all threads need a quiet machine (cost.threads)"
    )


def busy_share() -> float:
    """The share of the machine, from 0 to 1, that other processes take: this one sleeps."""
    import psutil

    return float(psutil.cpu_percent(interval=_LOOK)) / 100


@cache
def _machine() -> str:
    return f"{_processor()}, {platform.machine()}, {processors()} CPUs, {platform.system()}"


def _processor() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            name, _, value = line.partition(":")
            if name.strip() in ("model name", "Model", "cpu model"):
                return value.strip()
    if platform.system() == "Darwin":
        command = ["sysctl", "-n", "machdep.cpu.brand_string"]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode == 0 and done.stdout.strip():
            return done.stdout.strip()
    return platform.processor() or "unknown processor"
