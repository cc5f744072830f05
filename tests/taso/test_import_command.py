"""`tensat-dl import`: what it writes, and what it says where it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from wire import encode, node, substitution

from tensat_dl.cli.main import main
from tensat_dl.errors import ExitCode

RELU, RESHAPE = 8, 14
CONTENT = encode(
    [
        substitution([node(RELU, -1), node(RELU, 0)], [node(RELU, -1)]),
        substitution([node(RESHAPE, -1)], [node(RELU, -1)]),
    ]
)


def test_a_rule_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source, rules = tmp_path / "some.pb", tmp_path / "some.tsat"
    source.write_bytes(CONTENT)
    assert main(["import", str(source), "-o", str(rules)]) == ExitCode.OK
    reason = "the rule language has no operator for TASO's RESHAPE"
    assert capsys.readouterr().out == (
        f"not expressed: substitution 1: {reason}\n1 of 2 substitutions are rules in {rules}\n"
    )
    written = rules.read_text(encoding="utf-8")
    assert f"# Substitution 1 is not expressed: {reason}.\n" in written
    assert main(["fmt", "--check", str(rules)]) == ExitCode.OK
    assert main(["verify", str(rules), "--samples", "5"]) == ExitCode.OK


@pytest.mark.parametrize(
    ("content", "output", "code", "words"),
    [
        (b"", "out.tsat", ExitCode.BAD_INPUT, "the file is empty"),
        (CONTENT[:-3], "out.tsat", ExitCode.BAD_INPUT, "cut off"),
        (b"language 1\n", "out.tsat", ExitCode.BAD_INPUT, "no file of TASO's substitutions"),
        (None, "out.tsat", ExitCode.BAD_INPUT, "does not exist"),
        (CONTENT, "in.pb", ExitCode.USAGE, "is the input"),
        (CONTENT, ".", ExitCode.USAGE, "is a directory"),
        (CONTENT, "none/out.tsat", ExitCode.USAGE, "does not exist"),
        (CONTENT, "/dev/null", ExitCode.USAGE, "no regular file"),
    ],
)
def test_one_message_and_no_file(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    content: bytes | None,
    output: str,
    code: ExitCode,
    words: str,
) -> None:
    source = tmp_path / "in.pb"
    if content is not None:
        source.write_bytes(content)
    before = sorted(tmp_path.iterdir())
    assert main(["import", str(source), "-o", str(tmp_path / output)]) == code
    said = capsys.readouterr()
    assert words in said.err
    assert "Traceback" not in said.err
    assert said.out == ""
    assert sorted(tmp_path.iterdir()) == before
    assert content is None or source.read_bytes() == content


def test_the_output_has_to_be_said(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        main(["import", "some.pb"])
    assert caught.value.code == ExitCode.USAGE
    assert "-o" in capsys.readouterr().err
