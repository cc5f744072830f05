"""Checked programs of shipped rulesets come back from the cache as they were checked."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tensat_dl import resources
from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language import kept, load
from tensat_dl.language.load import load_program
from tensat_dl.language.program import CheckedProgram
from tensat_dl.vocabulary import catalog

RELU = "rewrite relu: Relu(Relu(x)) => Relu(x)\n"
NEG = "rewrite neg: Neg(Neg(x)) => x\n"

Programs = Callable[[], int]


@pytest.fixture(autouse=True)
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Programs:
    """The number of programs in the cache."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return lambda: len(list(tmp_path.glob("cache/tensat-dl/program-*")))


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of rulesets that an installation brings along."""
    grammar = resources.data_directory("grammar")
    folder = tmp_path / "package/_data/rulesets"
    folder.mkdir(parents=True)
    (folder.parent / "grammar").symlink_to(grammar)
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path / "package")
    return folder


def loaded(*names: str) -> tuple[CheckedProgram, list[str]]:
    """The program, and the codes of what is remarked."""
    diagnostics = Diagnostics()
    program = load_program(names, diagnostics)
    assert program is not None
    return program, [found.code for found in diagnostics]


def rules(*names: str) -> list[str]:
    return [rule.name for rule in loaded(*names)[0].rules]


def test_a_program_comes_back_as_it_was_checked(
    programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    checked, _ = loaded("tensat")
    assert programs() == 1
    monkeypatch.setattr(load, "_checked", None)  # nothing is checked any more
    again, remarks = loaded("tensat")
    assert again == checked
    assert not remarks
    operator = again.rules[0].matches[0].operator
    assert operator is catalog.operator(operator.name, operator.domain)
    assert again.rules[0].span.position() == checked.rules[0].span.position()


def test_another_text_is_another_program(shipped: Path, programs: Programs) -> None:
    (shipped / "mine.tsat").write_text(f"language 1\n\n{RELU}")
    assert rules("mine") == rules("mine") == ["relu"]
    (shipped / "other.tsat").write_text(f"language 1\n\n{RELU}")
    (shipped / "mine.tsat").write_text('language 1\n\nimport "other.tsat" as other\n\n' + NEG)
    assert rules("mine") == rules("mine") == ["other.relu", "neg"]
    (shipped / "other.tsat").write_text(
        "language 1\n\nrewrite tanh: Tanh(Neg(x)) => Neg(Tanh(x))\n"
    )
    assert rules("mine") == ["other.tanh", "neg"]
    assert programs() == 3


def test_the_files_that_are_named_make_the_program(
    shipped: Path, programs: Programs, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shipped / "one.tsat").write_text(f"language 1\n\n{RELU}")
    (shipped / "two.tsat").write_text(f"language 1\n\n{NEG}")
    for _ in range(2):
        assert rules("one") == ["relu"]
        assert rules("one", "two") == ["relu", "neg"]
        assert rules("two", "one") == ["neg", "relu"]
    assert programs() == 3
    monkeypatch.chdir(tmp_path)
    Path("one").write_text(f"language 1\n\n{NEG}")
    assert rules("one") == ["neg"]


def test_what_is_remarked_is_said_each_time(shipped: Path, programs: Programs) -> None:
    (shipped / "mine.tsat").write_text(f"language 1\n\n{RELU}\n{RELU.replace('relu:', 'again:')}")
    first, second = loaded("mine")[1], loaded("mine")[1]
    assert first == second != []
    assert programs() == 0


def test_files_of_the_user_are_not_kept(programs: Programs, tmp_path: Path) -> None:
    file = tmp_path / "mine.tsat"
    file.write_text(f"language 1\n\n{RELU}")
    assert rules(str(file)) == ["relu"]
    assert programs() == 0


@pytest.fixture
def fresh_digest() -> Iterator[None]:
    yield kept._makers.cache_clear()
    kept._makers.cache_clear()


@pytest.mark.usefixtures("fresh_digest")
def test_after_an_upgrade_programs_are_made_anew(
    shipped: Path, programs: Programs, monkeypatch: pytest.MonkeyPatch
) -> None:
    (shipped / "mine.tsat").write_text(f"language 1\n\n{RELU}")
    loaded("mine")
    kept._makers.cache_clear()
    monkeypatch.setattr(sys, "version", "999.0")
    loaded("mine")
    assert programs() == 2
