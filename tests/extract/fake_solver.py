#!/usr/bin/env python3
"""Stands for `glpsol` or `cbc` and misbehaves as the variable FAKE says.

It reads the columns of the LP file it is given, so that what it writes looks right.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import time
from pathlib import Path

MODE = os.environ["FAKE"]


def option(name: str) -> Path:
    return Path(sys.argv[sys.argv.index(name) + 1])


def columns() -> list[str]:
    text = option("--lp").read_text()
    return sorted(set(re.findall(r"\bx\d+\b", text)), key=lambda name: int(name[1:]))


def cheapest() -> set[str]:
    """The columns with the least price in the objective: in the tests' ring, those that loop."""
    objective = option("--lp").read_text().split("s.t.")[0]
    prices = {name: float(price) for price, name in re.findall(r"([+-]\S+) (x\d+)", objective)}
    return {name for name, price in prices.items() if price == min(prices.values())}


def write(value: str, status: str, objective: str, only: set[str] | None = None) -> None:
    """GLPK's plain solution format, every column (or some) at one value, others at 0."""
    names = columns()
    lines = [f"n j {i} {name}" for i, name in enumerate(names, start=1)]
    option("--wglp").write_text("\n".join(["p mip min 0 0 0", *lines, "e o f", ""]))
    rows = [
        f"j {i} {value if only is None or name in only else 0}"
        for i, name in enumerate(names, start=1)
    ]
    head = f"s mip 0 {len(names)} {status} {objective}"
    option("--write").write_text("\n".join([head, *rows, "e o f", ""]))


def main() -> None:
    if pid_file := os.environ.get("FAKE_PID"):
        Path(pid_file).write_text(str(os.getpid()))
    match MODE:
        case "crash":
            os.kill(os.getpid(), signal.SIGSEGV)
        case "error":
            print("the licence has expired")
            raise SystemExit(3)
        case "hang":
            print("+    17: mip =   not found yet >=              3.000000000e+02        (1; 0)")
            sys.stdout.flush()
            time.sleep(600.0)
        case "rubbish":
            option("--wglp").write_bytes(os.urandom(500))
            option("--write").write_bytes(os.urandom(500))
        case "nothing":
            print("done")
        case "infeasible":
            print("PROBLEM HAS NO INTEGER FEASIBLE SOLUTION")
        case "zeros":
            write("0", "o", "704")
        case "ones":
            write("1", "o", "1")
        case "loop":
            write("1", "o", "192", cheapest())
        case "bound":
            print("+    17: mip =     5.000000000e+09 >=     4.000000000e+09  20.0% (1; 0)")
            write("0", "f", "5e9")
        case "nan":
            write("nan", "o", "nan")


main()
