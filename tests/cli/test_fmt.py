"""`tensat-dl fmt` rewrites files that are laid out otherwise, whole or not at all."""

from __future__ import annotations

import io
import os
import sys
from pathlib import Path

import pytest

UGLY = "language 1\n\n\nrewrite relu_relu : Relu(Relu(x))=>Relu(x) # why\n"
NEAT = "language 1\n\nrewrite relu_relu: Relu(Relu(x)) => Relu(x)  # why\n"
BROKEN = "rewrite a: Relu(x) = x\n"


def test_a_file_is_rewritten_once(tensat) -> None:
    Path("r.tsat").write_text(UGLY)
    done = tensat("fmt", "r.tsat")
    assert (done.code, done.out, done.err) == (0, "formatted r.tsat\n1 file formatted\n", "")
    assert Path("r.tsat").read_text() == NEAT
    before = Path("r.tsat").stat()
    done = tensat("fmt", "r.tsat")
    assert (done.code, done.out) == (0, "1 file in canonical layout\n")
    after = Path("r.tsat").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_check_writes_nothing(tensat) -> None:
    Path("r.tsat").write_text(UGLY)
    Path("s.tsat").write_text(NEAT)
    done = tensat("fmt", "--check", "s.tsat", "r.tsat")
    assert (done.code, done.err) == (4, "")
    assert done.out == (
        "would format r.tsat\n1 file would be formatted, 1 file in canonical layout\n"
    )
    assert Path("r.tsat").read_text() == UGLY
    assert tensat("fmt", "--check", "s.tsat").code == 0


def test_a_directory_stands_for_its_rule_files(tensat) -> None:
    Path("rules/deep").mkdir(parents=True)
    Path("rules/deep/a.tsat").write_text(UGLY)
    Path("rules/b.tsat").write_text(UGLY)
    Path("rules/c.txt").write_text(UGLY)
    done = tensat("fmt", "rules", "rules/b.tsat")
    assert done.out == "formatted rules/b.tsat\nformatted rules/deep/a.tsat\n2 files formatted\n"
    assert Path("rules/c.txt").read_text() == UGLY
    Path("empty").mkdir()
    done = tensat("fmt", "empty")
    assert (done.code, done.out) == (2, "")
    assert "no .tsat file in the directory empty" in done.err


def test_a_file_with_errors_is_left_alone_and_the_others_are_done(tensat) -> None:
    Path("bad.tsat").write_text(BROKEN)
    Path("r.tsat").write_text(UGLY)
    done = tensat("fmt", "bad.tsat", "none.tsat", "r.tsat")
    assert done.code == 4
    assert "bad.tsat:1:20" in done.err
    assert "none.tsat` does not exist" in done.err
    assert done.out == (
        "cannot format bad.tsat\ncannot format none.tsat\nformatted r.tsat\n"
        "1 file formatted, 2 files not formatted\n"
    )
    assert Path("bad.tsat").read_text() == BROKEN
    assert Path("r.tsat").read_text() == NEAT
    assert sorted(path.name for path in Path().iterdir()) == ["bad.tsat", "r.tsat"]


def test_what_is_write_protected_is_left_alone(tensat, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever runs the tests may be allowed everything, so that the question is answered here."""
    Path("closed").mkdir()
    for name in ("closed/a.tsat", "protected.tsat", "r.tsat"):
        Path(name).write_text(UGLY)
    closed = {Path("closed").resolve(), Path("protected.tsat").resolve()}
    monkeypatch.setattr("os.access", lambda path, mode: Path(path).resolve() not in closed)
    done = tensat("fmt", "closed/a.tsat", "protected.tsat", "r.tsat")
    assert done.code == 4
    assert done.err == (
        "closed/a.tsat cannot be written: its directory is write-protected\n"
        "protected.tsat is write-protected\n"
    )
    assert done.out.endswith("1 file formatted, 2 files not formatted\n")
    assert [Path(n).read_text() == UGLY for n in ("closed/a.tsat", "protected.tsat")] == [True] * 2


@pytest.fixture
def stdin(monkeypatch: pytest.MonkeyPatch):
    def feed(content: bytes) -> None:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(content)))

    return feed


def test_from_stdin_to_stdout(tensat, stdin) -> None:
    stdin(UGLY.encode())
    assert tensat("fmt", "-").out == NEAT
    for content, code in ((UGLY, 4), (NEAT, 0)):
        stdin(content.encode())
        done = tensat("fmt", "--check", "-")
        assert (done.code, done.out, done.err) == (code, "", "")
    stdin(BROKEN.encode())
    done = tensat("fmt", "-")
    assert (done.code, done.out) == (4, "")
    assert "<stdin>:1:20" in done.err
    stdin(b"\xff")
    done = tensat("fmt", "-")
    assert (done.code, done.out) == (4, "")
    assert "`<stdin>` is not UTF-8: byte 0xff in line 1" in done.err
    assert tensat("fmt", "-", "r.tsat").code == 2


def test_line_ends_and_marks_of_other_systems_go(tensat) -> None:
    Path("r.tsat").write_bytes(b"\xef\xbb\xbf" + UGLY.replace("\n", "\r\n").encode())
    assert tensat("fmt", "r.tsat").code == 0
    assert Path("r.tsat").read_bytes() == NEAT.encode()


def test_a_mark_alone_goes_too(tensat) -> None:
    Path("r.tsat").write_bytes(b"\xef\xbb\xbf" + NEAT.encode())
    assert tensat("fmt", "--check", "r.tsat").code == 4
    assert tensat("fmt", "r.tsat").out == "formatted r.tsat\n1 file formatted\n"
    assert Path("r.tsat").read_bytes() == NEAT.encode()


def test_permissions_stay_and_links_are_followed(tensat) -> None:
    Path("r.tsat").write_text(UGLY)
    Path("r.tsat").chmod(0o640)
    Path("link.tsat").symlink_to("r.tsat")
    assert tensat("fmt", "link.tsat").code == 0
    assert Path("link.tsat").is_symlink()
    assert Path("r.tsat").read_text() == NEAT
    assert Path("r.tsat").stat().st_mode & 0o777 == 0o640


def test_a_directory_that_cannot_be_written_to(tensat, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("r.tsat").write_text(UGLY)

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "r.tsat")

    monkeypatch.setattr(Path, "replace", refuse)
    done = tensat("fmt", "r.tsat")
    assert (done.code, done.out) == (2, "")
    assert "r.tsat: Permission denied" in done.err
    assert [path.name for path in Path().iterdir()] == ["r.tsat"]
    assert Path("r.tsat").read_text() == UGLY


@pytest.mark.parametrize("command", ["fmt", "check"])
def test_links_that_lead_in_a_circle(tensat, command: str) -> None:
    Path("a.tsat").symlink_to("b.tsat")
    Path("b.tsat").symlink_to("a.tsat")
    done = tensat(command, "a.tsat")
    assert done.code == 4
    assert "error[E0120]: the rule file `a.tsat` cannot be read: Too many levels" in done.err


def test_what_is_no_file_in_a_directory_is_passed_over(tensat) -> None:
    Path("rules/dir.tsat").mkdir(parents=True)
    os.mkfifo("rules/pipe.tsat")
    Path("rules/r.tsat").write_text("language 1\n")
    done = tensat("fmt", "rules")
    assert done.code == 0
    assert done.out == "1 file in canonical layout\n"
