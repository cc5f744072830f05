"""Exit codes and messages of the command as a whole, however a subcommand ends."""

from __future__ import annotations

import dataclasses
import os
import subprocess
import sys
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from tensat_dl import config_schema
from tensat_dl.cli import command_line, ops, supervisor
from tensat_dl.cli.command import Command
from tensat_dl.cli.commands import COMMANDS
from tensat_dl.cli.failures import DOING
from tensat_dl.cli.main import main
from tensat_dl.diagnostics import Diagnostic, SourceFile, Span
from tensat_dl.errors import (
    ExitCode,
    InfeasibleError,
    InputError,
    RuleFileError,
    UnsoundRuleError,
    UsageError,
    VerificationError,
)
from tensat_dl.progress import Phase

Tensat = Callable[..., object]


def test_the_command_switches_telemetry_off_unless_somebody_chose(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    chosen = "ORT_DISABLE_TELEMETRY"
    monkeypatch.setattr(supervisor, "supervised", lambda _: int(os.environ[chosen]))
    monkeypatch.setenv(chosen, "0")
    assert main() == 0
    monkeypatch.delenv(chosen)
    assert main() == 1


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Callable[[BaseException], None]:
    """Makes the subcommand `ops` raise."""

    def prepare(error: BaseException) -> None:
        def execute(_: object) -> ExitCode:
            raise error

        stub = dataclasses.replace(ops.COMMAND, execute=execute)
        monkeypatch.setattr(command_line, "COMMANDS", (stub,))

    return prepare


def test_version(tensat) -> None:
    done = tensat("--version")
    assert (done.code, done.out) == (0, f"tensat-dl {version('tensat-dl')}\n")


@pytest.mark.parametrize("each", COMMANDS, ids=lambda each: each.name)
def test_every_command_has_help_with_examples(tensat, each: Command) -> None:
    done = tensat(each.name, "--help")
    assert done.code == 0
    assert each.summary in tensat("--help").out
    assert "examples:" in done.out or "stages:" in done.out


def test_help_tells_the_exit_codes(tensat) -> None:
    out = tensat("--help").out
    for code in ExitCode:
        assert f"{int(code)} " in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "COMMAND"),
        (["frob"], "invalid choice: 'frob'"),
        (["run"], "RULES, GRAPH"),
        (["run", "std", "m.onnx", "--enodes", "many"], "--enodes: invalid int value: 'many'"),
        (["run", "std", "m.onnx", "--frob"], "unrecognized arguments: --frob"),
        (["extract", "g.json", "--cost", "nodes"], "help: `tensat-dl extract --help`"),
        (["ops", "Frobnicate"], "there is no operator `Frobnicate`"),
        (["ops", "matmul"], "did you mean `MatMul`?"),
        (["rules", "frob"], "there is no shipped ruleset `frob`"),
        (["show", "std", "--stage", "facts"], "the stage `facts` needs a model"),
    ],
)
def test_usage_errors(tensat, arguments: list[str], message: str) -> None:
    done = tensat(*arguments)
    assert done.code == ExitCode.USAGE
    assert message in done.err
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (UsageError("no such flag", help="try another"), 2, "no such flag\nhelp: try another\n"),
        (InputError("m.onnx: broken"), 3, "m.onnx: broken"),
        (UnsoundRuleError("rule r changes a type"), 4, "rule r changes a type"),
        (VerificationError("output y differs"), 5, "output y differs"),
        (InfeasibleError("no selection"), 6, "no selection"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (PermissionError(13, "Permission denied", "out.onnx"), 2, "out.onnx: Permission denied"),
        (FileNotFoundError(2, "No such file"), 2, "the working directory is gone\nhelp: change"),
        (MemoryError(), 1, "out of memory\nhelp: set a limit with --memory"),
        (ValueError("odd\nvalue"), 1, "internal error: ValueError: odd value\nhelp: this is a"),
        (AssertionError(), 1, "internal error: AssertionError: no message"),
    ],
)
def test_failures_become_codes_and_one_message(
    tensat, failing, error: BaseException, code: int, message: str
) -> None:
    failing(error)
    done = tensat("ops")
    assert done.code == code
    assert done.err.startswith(f"tensat-dl: {message}")
    assert "Traceback" not in done.err
    assert done.out == ""


def test_debug_shows_where(tensat, failing) -> None:
    failing(ValueError("odd"))
    done = tensat("ops", "--debug")
    assert done.code == 1
    assert "Traceback" in done.err
    assert "internal error: ValueError: odd" in done.err


def test_problems_of_rule_files_are_drawn(tensat, failing) -> None:
    file = SourceFile("r.tsat", "rewrite a: Relux(x) => x\n")
    span = Span(file, 11, 16)
    failing(RuleFileError([Diagnostic("E0201", "no operator `Relux`", span, "unknown")]))
    done = tensat("ops")
    assert done.code == ExitCode.BAD_RULES
    assert "error[E0201]: no operator `Relux`" in done.err
    assert "^^^^^ unknown" in done.err
    assert "1 problem in the rule file" in done.err


def test_a_closed_pipe_is_no_error(tensat, failing) -> None:
    failing(BrokenPipeError())
    assert tensat("ops").code == 0


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (["--set", "explore.enode=3"], "did you mean `enodes`?"),
        (["--set", "explore.cycles=never"], "is one of check, prune, allow"),
        (["--enodes", "0"], "--enodes 0: `explore.enodes` must be at least 1"),
        (["--memory", "lots"], "--memory lots: `explore.memory` is a size such as 4GiB"),
        (["--dim", "batch"], "--dim batch: expected NAME=SIZE"),
        (["--config", "none.toml"], "cannot read the configuration none.toml"),
    ],
)
def test_wrong_settings_are_usage_errors(tensat, flags: list[str], message: str) -> None:
    done = tensat("run", "std", "m.onnx", *flags)
    assert done.code == ExitCode.USAGE
    assert message in done.err


def test_a_wrong_key_in_the_file_of_the_directory(tensat) -> None:
    Path("tensat.toml").write_text("[extract]\nsolvr = 'highs'\n")
    done = tensat("run", "std", "m.onnx")
    assert done.code == ExitCode.USAGE
    expected = "tensat.toml: unknown key `solvr` in [extract]; did you mean `solver`?"
    assert expected in done.err


def test_the_model_must_be_there_and_the_output_possible(tensat) -> None:
    done = tensat("run", "std", "m.onnx")
    assert done.code == ExitCode.BAD_INPUT
    assert done.err.startswith("tensat-dl: m.onnx does not exist\nhelp:")
    Path("m.onnx").write_bytes(b"")
    done = tensat("run", "std", "m.onnx", "-o", "m.onnx")
    assert done.code == ExitCode.USAGE
    assert "overwrite it with --force" in done.err
    done = tensat("run", "std", "m.onnx", "-o", "none/out.onnx")
    assert done.code == ExitCode.USAGE
    assert "does not exist" in done.err


def test_help_of_run_lists_every_setting_with_its_default(tensat) -> None:
    out = tensat("run", "--help").out
    assert "  explore.enodes = 50000\n" in out
    assert '  extract.solver = "glpk"\n' in out
    assert all(f"  {key} = " in out for key in config_schema.defaults())


@pytest.mark.parametrize("closed", ["stdout", "stderr"])
def test_a_stream_that_is_closed_from_the_start_is_no_error(
    tensat, monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    monkeypatch.setattr(sys, closed, None)
    assert tensat("ops", "Relu").code == 0


def test_output_that_cannot_be_written_is_said_in_one_line(tensat, failing) -> None:
    failing(OSError(28, "No space left on device"))
    done = tensat("ops")
    assert done.code == ExitCode.USAGE
    assert done.err == "tensat-dl: cannot write what there is to say: No space left on device\n"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a file that is always full")
def test_errors_that_cannot_be_written_are_told_by_the_exit_code(tmp_path: Path) -> None:
    path = tmp_path / "r.tsat"
    path.write_text("language 1\nrewrite r: x => Relu(x)\n")
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "tensat_dl", "check", str(path)]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=full, text=True)
    assert done.returncode == ExitCode.USAGE


def test_a_crash_can_be_told_of_every_phase() -> None:
    assert DOING.keys() == set(Phase)
