"""Measurements on disk: kept, shared between processes, and worked round where they are broken."""

from __future__ import annotations

import json
import multiprocessing
import os
import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from tensat_dl.cost.measured.cache import (
    CacheFault,
    CostCache,
    Measurement,
    _is_foreign,
    from_text,
    to_content,
)
from tensat_dl.cost.measured.machine import Setting

HERE = Setting("a machine", "a runtime 1.0", 1)


@pytest.fixture
def cache(tmp_path: Path) -> CostCache:
    return CostCache(tmp_path / "deep" / "costs.sqlite")


def test_what_is_stored_is_found_under_its_setting_alone(cache: CostCache) -> None:
    assert cache.load(HERE) == {}
    cache.store(HERE, {"a": 1.0, "b": 2.0})
    assert cache.load(HERE) == {"a": 1.0, "b": 2.0}
    for other in (
        replace(HERE, machine="another"),
        replace(HERE, runtime="a runtime 1.1"),
        replace(HERE, threads=2),
    ):
        assert cache.load(other) == {}


def test_the_lesser_time_counts(cache: CostCache) -> None:
    cache.store(HERE, {"a": 2.0, "b": 2.0})
    cache.store(HERE, {"a": 1.0, "b": 3.0})
    assert cache.load(HERE) == {"a": 1.0, "b": 2.0}


def test_what_the_runtime_makes_of_signatures_is_kept(cache: CostCache) -> None:
    assert cache.keys(HERE) == {}
    cache.store(HERE, {"a": 2.0})
    assert cache.keys(HERE) == {}  # as in files of before
    cache.store(HERE, {"b": 2.0, "c": 2.0}, {"b": "k"})
    cache.store(replace(HERE, threads=2), {"b": 2.0}, {"b": "l"})
    assert cache.keys(HERE) == {"b": "k"}


def test_nothing_stays_open_beside_the_file(cache: CostCache) -> None:
    cache.store(HERE, {"a": 2.0})
    cache.load(HERE)
    assert [path.name for path in cache.path.parent.iterdir()] == ["costs.sqlite"]


def test_a_write_protected_directory_is_read_and_not_written(
    cache: CostCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    cache.store(HERE, {"a": 2.0})
    folder = cache.path.parent
    folder.chmod(0o555)
    monkeypatch.setattr(os, "access", lambda *_: False)  # it is open to root all the same
    try:
        assert cache.load(HERE) == {"a": 2.0}
        with pytest.raises(CacheFault, match=r"costs.sqlite cannot be used: .*readonly"):
            cache.store(HERE, {"b": 1.0})
        assert cache.load(HERE) == {"a": 2.0}
    finally:
        folder.chmod(0o755)


@pytest.mark.parametrize("kind", ["pipe", "directory"])
def test_what_is_no_file_is_left_alone(tmp_path: Path, kind: str) -> None:
    """SQLite would write its journal beside it, or wait for somebody to write to it."""
    path = tmp_path / "costs.sqlite"
    if kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    cache = CostCache(path)
    for ask in (lambda: cache.load(HERE), lambda: cache.store(HERE, {"a": 1.0}), cache.clear):
        with pytest.raises(CacheFault, match=r"costs\.sqlite is no regular file and no cost cache"):
            ask()
    assert [left.name for left in tmp_path.iterdir()] == ["costs.sqlite"]


def write(path: Path, first: int) -> None:
    for number in range(first, first + 50):
        CostCache(path).store(HERE, {f"own {number}": float(number), "shared": float(number)})


@pytest.mark.slow
def test_many_processes_write_at_once(cache: CostCache) -> None:
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=write, args=(cache.path, 100 * k)) for k in range(1, 5)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert [writer.exitcode for writer in writers] == [0, 0, 0, 0]
    found = cache.load(HERE)
    assert found.pop("shared") == 100.0
    assert found == {
        f"own {n}": float(n) for k in range(1, 5) for n in range(100 * k, 100 * k + 50)
    }


class Meanwhile:
    """A connection that lets another run write before statement number `when`."""

    def __init__(self, path: Path, when: int) -> None:
        self.path, self.left = path, when
        self.connection = sqlite3.connect(path)

    def execute(self, statement: str) -> sqlite3.Cursor:
        self.left -= 1
        if self.left == -1:
            CostCache(self.path).store(HERE, {"a": 1.0})
        return self.connection.execute(statement)


@pytest.mark.parametrize("when", range(3))
def test_a_cache_that_another_run_makes_meanwhile_is_ours(tmp_path: Path, when: int) -> None:
    connection = Meanwhile(tmp_path / "costs.sqlite", when)
    assert not _is_foreign(connection)  # type: ignore[arg-type]
    assert connection.left < 0  # it was written
    connection.connection.close()


@pytest.mark.parametrize(
    "content", [b"this is no database at all, but it is long enough to be one" * 40, b"\0" * 4096]
)
def test_a_damaged_file_is_a_fault_with_one_message(cache: CostCache, content: bytes) -> None:
    cache.path.parent.mkdir()
    cache.path.write_bytes(content)
    for use in (lambda: cache.load(HERE), lambda: cache.store(HERE, {"a": 1.0}), cache.rows):
        with pytest.raises(CacheFault, match=r"costs\.sqlite is no cost cache; choose another"):
            use()
    assert cache.path.read_bytes() == content


def test_a_file_cut_short_is_a_fault(cache: CostCache) -> None:
    cache.store(HERE, {f"a rather long signature, number {n}": 1.0 for n in range(2000)})
    whole = cache.path.read_bytes()
    cache.path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(CacheFault, match="damaged"):
        cache.rows()


def test_a_file_of_another_layout_is_a_fault(cache: CostCache) -> None:
    cache.store(HERE, {"a": 1.0})
    with sqlite3.connect(cache.path) as connection:
        connection.execute("PRAGMA user_version = 99")
    with pytest.raises(CacheFault, match="its layout is 99, not 1"):
        cache.load(HERE)


@pytest.mark.parametrize(
    "change", ["seconds = 'x'", "seconds = -1", "seconds = 9e999", "signature = x'00'"]
)
def test_a_row_that_makes_no_sense_is_a_fault(cache: CostCache, change: str) -> None:
    cache.store(HERE, {"a": 1.0})
    with sqlite3.connect(cache.path) as connection:
        connection.execute(f"UPDATE costs SET {change}")
    for use in (lambda: cache.load(HERE), cache.rows):
        with pytest.raises(CacheFault, match=r"damaged \(it holds .* as the seconds of .*; remove"):
            use()


def test_a_folder_that_cannot_be_made_is_a_fault(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = CostCache(tmp_path / "file" / "costs.sqlite")
    with pytest.raises(CacheFault, match="cannot be written"):
        cache.store(HERE, {"a": 1.0})


def test_clear_removes_the_file_and_says_whether_there_was_one(cache: CostCache) -> None:
    assert cache.clear() is False
    cache.store(HERE, {"a": 1.0})
    assert cache.clear() is True
    assert not cache.path.exists()


def test_clear_spares_what_is_no_database(tmp_path: Path) -> None:
    model = tmp_path / "model.onnx"
    model.write_bytes(b"\x08\x07\x12\x07pytorch")
    with pytest.raises(CacheFault, match="is no cost cache"):
        CostCache(model).clear()
    assert model.exists()


@pytest.mark.parametrize(
    ("layout", "table"),
    [
        *((layout, "history (url)") for layout in (0, 1, 7)),
        *((layout, "costs (signature, seconds)") for layout in (0, 1)),
    ],
)
def test_the_database_of_another_program_is_left_alone(
    tmp_path: Path, layout: int, table: str
) -> None:
    path = tmp_path / "history.sqlite"
    with sqlite3.connect(path) as connection:
        connection.execute(f"CREATE TABLE {table}")
        connection.execute(f"PRAGMA user_version = {layout}")
    connection.close()
    content = path.read_bytes()
    cache = CostCache(path)
    for use in (
        lambda: cache.load(HERE),
        lambda: cache.store(HERE, {"a": 1.0}),
        lambda: cache.refuse(HERE, "maker", ["a"]),
        cache.rows,
        cache.clear,
    ):
        with pytest.raises(CacheFault, match=r"history\.sqlite is no cost cache"):
            use()
    assert path.read_bytes() == content


def test_a_damaged_cache_can_be_cleared(cache: CostCache) -> None:
    cache.store(HERE, {f"a rather long signature, number {n}": 1.0 for n in range(2000)})
    whole = cache.path.read_bytes()
    cache.path.write_bytes(whole[:5000])
    assert cache.clear() is True
    assert not cache.path.exists()


def test_rows_go_to_json_and_back(cache: CostCache) -> None:
    cache.store(HERE, {"b": 1.25e-6, "a": 3.0})
    rows = [
        Measurement("a machine", "a runtime 1.0", 1, s, t) for s, t in (("a", 3.0), ("b", 1.25e-6))
    ]
    assert cache.rows() == rows
    assert from_text(json.dumps(to_content(rows))) == rows
    other = CostCache(cache.path.with_name("other.sqlite"))
    other.add(rows)
    assert other.rows() == rows


ROW = {"machine": "m", "runtime": "r", "threads": 1, "signature": "s", "seconds": 1.0}


@pytest.mark.parametrize(
    "content",
    [
        "",
        "[]",
        "{}",
        '"text"',
        "[" * 100_000,
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "seconds": -1.0}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "seconds": float("nan")}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "seconds": "1"}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "seconds": 10**400}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "seconds": True}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "threads": 1.5}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "threads": 2**70}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "signature": "\ud800"}]}),
        json.dumps({"tensat-dl costs": 1, "costs": {}}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "machine": None}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{**ROW, "more": 1}]}),
        json.dumps({"tensat-dl costs": 1, "costs": [{"machine": "m"}]}),
    ],
)
def test_other_files_cannot_be_imported(content: str) -> None:
    with pytest.raises(CacheFault, match="not written by `tensat-dl costs export`"):
        from_text(content)


def test_an_export_of_another_layout_says_so() -> None:
    with pytest.raises(CacheFault, match="its layout is 2, not 1"):
        from_text('{"tensat-dl costs": 2, "costs": []}')
