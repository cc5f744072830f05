"""However the command ends, it is told in one line, and nothing is left: after Ctrl-C, also where
Python is not listening, a crash of a library, a parent that was killed."""

from __future__ import annotations

import os
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
import dataclasses, os, signal, subprocess, sys, time
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
    from tensat_dl.cli.supervisor import tell_writing
    from tensat_dl.resources import temporary_prefix
    tell_writing(Path.cwd())
    Path(temporary_prefix() + "half").write_text("half a model")
    text = f"{child.pid}\\n"
    while True:
        try:
            print(end=text, flush=True)
            text = ""
            time.sleep(60)
        except KeyboardInterrupt:
            pass

def computing(child):
    try:
        print(child.pid, flush=True)
        sum(range(10**11))  # keeps Python's lock, as some libraries do
    finally:
        child.kill()

def crashing(child):
    try:
        print(child.pid, flush=True)
        time.sleep(60)
    finally:
        child.kill()
        os.kill(os.getpid(), signal.SIGSEGV)

def execute(arguments):
    BODY(subprocess.Popen(["sleep", "60"]))

command_line.COMMANDS = (dataclasses.replace(ops.COMMAND, execute=execute),)
sys.argv[1:] = ["ops"]
sys.exit(main())
"""


def started_in(folder: Path, script: str) -> subprocess.Popen[str]:
    """A program of Python, its output piped."""
    command = [sys.executable, "-c", script]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdout=pipe, stderr=pipe, text=True, cwd=folder)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("body", ["tidy", "deaf", "computing", "crashing"])
def test_interrupted(number: signal.Signals, body: str, tmp_path: Path) -> None:
    script = SCRIPT.replace("BODY", body)
    process = started_in(tmp_path, script)
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


def test_impatience(tmp_path: Path) -> None:
    """Ctrl-C pressed until the command has ended: the last ones come while Python shuts down."""
    script = SCRIPT.replace("BODY", "tidy").replace(
        "sys.exit(main())", "code = main(); time.sleep(0.3); sys.exit(code)"
    )
    process = started_in(tmp_path, script)
    assert process.stdout is not None
    process.stdout.readline()
    while process.poll() is None:
        process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    _, err = process.communicate(timeout=10)
    assert (process.returncode, err) == (130, "tensat-dl: interrupted\n")


CRASH = """
import dataclasses, os, signal, sys
from pathlib import Path
from tensat_dl.cli import command_line, ops
from tensat_dl.cli.main import main
from tensat_dl.cli.progress import live_progress
from tensat_dl.cli.supervisor import tell_writing
from tensat_dl.progress import Phase, ProgressEvent
from tensat_dl.resources import temporary_prefix

def execute(arguments):
    with live_progress() as progress:
        progress(ProgressEvent(Phase.READ))
        progress(ProgressEvent(Phase.PHASE))
        tell_writing(Path.cwd())
        Path(temporary_prefix() + "half").write_text("half a model")
        Path("other").write_text("of somebody else")
        os.kill(os.getpid(), signal.NUMBER)

command_line.COMMANDS = (dataclasses.replace(ops.COMMAND, execute=execute),)
sys.argv[1:] = ["ops"]
sys.exit(main())
"""


@pytest.mark.parametrize(
    ("number", "phase", "code", "message"),
    [
        (
            "SIGFPE",
            "VERIFY",
            5,
            "a library crashed while the models were run and compared: SIGFPE (floating point "
            "exception); nothing was written",
        ),
        (
            "SIGSEGV",
            "WRITE",
            1,
            "a library crashed while the model was written: SIGSEGV (segmentation fault)",
        ),
        (
            "SIGKILL",
            "EXTRACT",
            1,
            "killed from outside while the answer was extracted; nothing was written",
        ),
    ],
)
def test_a_crash_is_told_and_tidied(
    number: str, phase: str, code: int, message: str, tmp_path: Path
) -> None:
    script = CRASH.replace("NUMBER", number).replace("PHASE", phase)
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, cwd=tmp_path, check=False
    )
    first, second = done.stderr.splitlines()
    assert (done.returncode, first) == (code, f"tensat-dl: {message}")
    assert second.startswith("help: ")
    assert [left.name for left in tmp_path.iterdir()] == ["other"]


def test_nothing_goes_on_where_the_parent_is_killed(tmp_path: Path) -> None:
    script = SCRIPT.replace("BODY", "tidy")
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, text=True, cwd=tmp_path
    )
    assert process.stdout is not None
    sleeper = psutil.Process(int(process.stdout.readline()))
    command = psutil.Process(process.pid).children()
    process.kill()
    process.wait()
    assert psutil.wait_procs(command, timeout=2)[1] == []
    sleeper.kill()


SHARING = SCRIPT.replace(
    '    BODY(subprocess.Popen(["sleep", "60"]))',
    """\
    from tensat_dl.resources import process_context
    worker = process_context().Process(target=time.sleep, args=(60,), daemon=True)
    worker.start()
    print(worker.pid, flush=True)
    time.sleep(60)""",
)


@pytest.mark.parametrize("killed", ["parent", "child"])
def test_those_that_share_the_work_end_with_the_command(killed: str, tmp_path: Path) -> None:
    process = subprocess.Popen(
        [sys.executable, "-c", SHARING],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        cwd=tmp_path,
    )
    assert process.stdout is not None
    worker = psutil.Process(int(process.stdout.readline()))
    parent = psutil.Process(process.pid)
    (child,) = parent.children()
    (parent if killed == "parent" else child).kill()
    process.wait()
    assert psutil.wait_procs([child, worker], timeout=2)[1] == []


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


LAST = """
import atexit, sys
from tensat_dl.cli.supervisor import supervised

class Slow:
    def __del__(self):
        print("freed piece by piece")

def body():
    global held
    held = Slow()
    atexit.register(print, "last", end="")
    print("first")
    return 3

sys.exit(supervised(body))
"""


def test_the_end_is_in_order_and_quick() -> None:
    command = [sys.executable, "-c", LAST]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (3, "first\nlast", "")


BACKGROUND = """
import os, sys
from tensat_dl.cli.supervisor import supervised

def body():
    print(os.getpid(), flush=True)
    sys.stdin.read()
    return 3

sys.exit(supervised(body))
"""


def test_what_runs_in_the_background_of_a_script_does_not_hear_ctrl_c() -> None:
    """Shells start it with SIGINT ignored."""
    process = subprocess.Popen(
        [sys.executable, "-c", BACKGROUND],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    assert process.stdout is not None
    child = int(process.stdout.readline())
    for each in (process.pid, child):
        os.kill(each, signal.SIGINT)
    process.communicate("", timeout=60)
    assert process.returncode == 3
