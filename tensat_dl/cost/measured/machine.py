"""What a measurement holds for: this machine, this runtime, so many threads."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tensat_dl.resources import processors


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
