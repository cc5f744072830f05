"""Trees of shipped files come back from the cache as they were parsed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest

from tensat_dl.diagnostics import Diagnostics, SourceFile
from tensat_dl.resources import data_directory
from tensat_dl.syntax import ast, parse as parsing, stored
from tensat_dl.syntax.parse import parse

SHIPPED = data_directory("rulesets") / "onnx" / "cast.tsat"


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "tensat-dl"


def trees(cache: Path) -> list[str]:
    return sorted(path.name for path in cache.glob("tree-*"))


def read(text: str, name: Path = SHIPPED) -> tuple[SourceFile, ast.Module | None, Diagnostics]:
    source, diagnostics = SourceFile(str(name), text), Diagnostics()
    return source, parse(source, diagnostics), diagnostics


def test_a_tree_comes_back_with_places_in_the_file_at_hand(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = SHIPPED.read_text()
    _, parsed, _ = read(text)
    assert len(trees(cache)) == 1
    monkeypatch.setattr(parsing, "_parse", None)  # nothing is parsed any more
    source, stored, diagnostics = read(text)
    assert stored == parsed
    assert stored is not None
    assert stored.items[0].span.file is source
    assert not list(diagnostics)


def test_another_text_is_another_tree(cache: Path) -> None:
    _, before, _ = read("language 1\n\nrewrite r: Relu(Relu(x)) => Relu(x)\n")
    _, after, _ = read("language 1\n\nrewrite r: Neg(Neg(x)) => x\n")
    assert before != after
    assert len(trees(cache)) == 2


@pytest.fixture
def fresh_digest() -> Iterator[None]:
    yield stored.makers_of_trees.cache_clear()
    stored.makers_of_trees.cache_clear()


@pytest.mark.usefixtures("fresh_digest")
@pytest.mark.parametrize("upgraded", ["lark", "python"])
def test_after_an_upgrade_trees_are_made_anew(
    upgraded: str, cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read(text := SHIPPED.read_text())
    stored.makers_of_trees.cache_clear()
    if upgraded == "lark":
        monkeypatch.setattr(metadata, "version", {"lark": "999.0"}.__getitem__)
    else:
        monkeypatch.setattr(sys, "version", "999.0")
    read(text)
    assert len(trees(cache)) == 2


def test_what_has_errors_or_is_not_shipped_is_not_kept(cache: Path, tmp_path: Path) -> None:
    for _ in range(2):
        _, tree, diagnostics = read("language 1\n\nrewrite r: Relu(\n")
        assert tree is None
        assert diagnostics.has_errors
    _, tree, _ = read(SHIPPED.read_text(), tmp_path / "cast.tsat")
    assert tree is not None
    assert trees(cache) == []
