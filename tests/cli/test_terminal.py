"""What a terminal sees and a pipe does not."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from tensat_dl.cli.progress import describe
from tensat_dl.progress import Phase, ProgressEvent

COLOR = "\x1b[3"

SCRIPT = """
import sys
from tensat_dl.cli.progress import live_progress
from tensat_dl.cli.tables import Line, Table, print_blocks
from tensat_dl.progress import Phase, ProgressEvent
with live_progress() as progress:
    progress(ProgressEvent(Phase.EXPLORE, 1.5, step=3, enodes=12345))
    import time; time.sleep(0.3)
print_blocks([Line("done", "green"), Table(("name", ">count"), [("a", "1")])], sys.stdout)
"""


def on_terminal(**environment: str) -> str:
    """What the script writes to a terminal (stdout and stderr)."""
    ours, theirs = pty.openpty()
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "TERM", "COLUMNS")}
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT],
        stdout=theirs,
        stderr=theirs,
        env={**env, "TERM": "xterm", "COLUMNS": "100", **environment},
    )
    os.close(theirs)
    chunks = []
    while True:
        try:
            chunk = os.read(ours, 4096)
        except OSError:
            break
        if not chunk:
            break
        chunks.append(chunk)
    assert process.wait() == 0
    os.close(ours)
    return b"".join(chunks).decode()


def test_a_terminal_sees_progress_and_colour() -> None:
    seen = on_terminal()
    assert "explore  step 3, 12,345 e-nodes, 1.5 s" in seen
    assert COLOR in seen


@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_no_colour_where_it_is_not_wanted(environment: dict[str, str]) -> None:
    seen = on_terminal(**environment)
    assert COLOR not in seen
    assert "done" in seen
    assert ("explore" in seen) == ("NO_COLOR" in environment)


def test_a_pipe_sees_plain_text_and_no_progress() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout == "done\n\nname  count\na         1\n"


@pytest.mark.parametrize(
    ("event", "expected"),
    [
        (ProgressEvent(Phase.READ), "read"),
        (
            ProgressEvent(Phase.EXPLORE, 2.04, step=0, enodes=10),
            "explore  step 0, 10 e-nodes, 2.0 s",
        ),
        (
            ProgressEvent(Phase.EXTRACT, 1.0, incumbent=1.25, bound=1.0),
            "extract  1.0 s, incumbent 1.25, bound 1",
        ),
        (
            ProgressEvent(Phase.EXTRACT, 1.0, bound=1.0, stage="solve", done=0, total=3),
            "extract  solve, 0 of 3 parts solved, 1.0 s, bound 1",
        ),
        (ProgressEvent(Phase.VERIFY, message="sample 2 of 3"), "verify   sample 2 of 3"),
    ],
)
def test_progress_is_one_line(event: ProgressEvent, expected: str) -> None:
    assert describe(event).rstrip() == expected
