"""Ctrl-C ends everything within two seconds, also where Python is not listening."""

from __future__ import annotations

import signal
import subprocess
import sys
import time

import psutil
import pytest

#: A command that starts a child, says so, and then does not end.
SCRIPT = """
import dataclasses, subprocess, sys, time
from tensat_dl.cli import command, ops
from tensat_dl.cli.main import main

def tidy(child):
    try:
        print(child.pid, flush=True)
        time.sleep(60)
    finally:
        child.kill()

def deaf(child):
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

command.commands = lambda: (dataclasses.replace(ops.COMMAND, execute=execute),)
sys.exit(main(["ops"]))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("body", ["tidy", "deaf"])
def test_interrupted(number: signal.Signals, body: str) -> None:
    script = SCRIPT.replace("BODY", body)
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
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
