"""Runs the command line inside the test process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tensat_dl.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def tensat(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Done]:
    """`tensat("ops", "Conv")`, in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run
