"""Ctrl-C ends everything within two seconds, also where Python is not listening."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.slow

#: A command that starts a child, says so, and then does not end.
SCRIPT = """
import dataclasses, subprocess, sys, time
from tensat_dl.cli import command_line, ops
from tensat_dl.cli.main import main

def tidy(child):
    try:
        print(child.pid, flush=True)
        time.sleep(60)
    finally:
        child.kill()

def deaf(child):
    from pathlib import Path
    from tensat_dl.cli import interrupt
    from tensat_dl.resources import temporary_prefix
    interrupt.WRITING.add(Path.cwd())
    Path(temporary_prefix() + "half").write_text("half a model")
    text = f"{child.pid}\\n"
    while True:
        try:
            print(end=text, flush=True)
            text = ""
            time.sleep(60)
        except KeyboardInterrupt:
            pass

def execute(arguments):
    BODY(subprocess.Popen(["sleep", "60"]))

command_line.COMMANDS = (dataclasses.replace(ops.COMMAND, execute=execute),)
sys.exit(main(["ops"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("body", ["tidy", "deaf"])
def test_interrupted(number: signal.Signals, body: str, tmp_path: Path) -> None:
    script = SCRIPT.replace("BODY", body)
    process = subprocess.Popen(
        [sys.executable, "-c", script],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    started = time.monotonic()
    process.send_signal(number)
    _, err = process.communicate(timeout=10)
    assert time.monotonic() - started < 2
    assert process.returncode == 130
    assert err == "tensat-dl: interrupted\n"
    assert not psutil.pid_exists(child) or psutil.Process(child).status() == "zombie"
    assert list(tmp_path.iterdir()) == []


RULES = """language 1
@real
rewrite assoc: Add(Add(a, b), c) <=> Add(a, Add(b, c))
rewrite swap: Add(a, b) => Add(b, a)
"""


@pytest.mark.parametrize("seconds", [0.4, 1.0, 2.0])
def test_a_run_can_be_interrupted_in_any_phase(interrupt, tmp_path: Path, seconds: float) -> None:
    """Rules that explode keep the engine busy for as long as it is allowed."""
    from onnx import TensorProto, helper, save_model

    names = [f"x{i}" for i in range(40)]
    inputs = [helper.make_tensor_value_info(n, TensorProto.FLOAT, [4]) for n in names]
    sums = ["x0", *(f"s{i}" for i in range(1, 39)), "y"]
    nodes = [helper.make_node("Add", [sums[i - 1], names[i]], [sums[i]]) for i in range(1, 40)]
    y = helper.make_tensor_value_info("y", TensorProto.FLOAT, [4])
    graph = helper.make_graph(nodes, "sum", inputs, [y])
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    save_model(model, tmp_path / "m.onnx")
    (tmp_path / "r.tsat").write_text(RULES)
    before = sorted(tmp_path.iterdir())
    command = [
        sys.executable,
        "-c",
        "import sys; from tensat_dl.cli.main import main; sys.exit(main())",
    ]
    process = subprocess.Popen(
        [*command, "run", "r.tsat", "m.onnx", "--seconds", "30", "--json", "r.json"],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        text=True,
    )
    time.sleep(seconds)
    interrupt(process)
    assert sorted(tmp_path.iterdir()) == before
