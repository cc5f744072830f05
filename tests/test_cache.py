"""The user's cache directory: what is stored is found, and what killed processes left goes."""

from __future__ import annotations

import os
import subprocess
import time
from pathlib import Path

import pytest

from tensat_dl import cache
from tensat_dl.resources import temporary_prefix


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(cache, "cache_directory", lambda: tmp_path)
    cache._tidy.cache_clear()
    return tmp_path


def test_what_is_stored_is_found(folder: Path) -> None:
    data = {"a": (1, 2.5, ["x"])}
    assert cache.read_cached("key") is None
    cache.write_cached("key", data)
    assert cache.read_cached("key") == data
    assert [path.name for path in folder.iterdir()] == ["key"]


def test_a_damaged_file_is_none(folder: Path) -> None:
    cache.write_cached("key", 1)
    content = (folder / "key").read_bytes()
    (folder / "key").write_bytes(content[:-1] + b"?")
    assert cache.read_cached("key") is None


def aged(path: Path, days: float) -> Path:
    then = time.time() - days * 86_400
    os.utime(path, (then, then))
    return path


def test_what_nobody_reads_for_a_month_goes(folder: Path) -> None:
    """Reading counts, as writing does; what has no name of ours stays."""
    keys = [f"tree-{number:064x}" for number in range(3)]
    for key, age in zip(keys, (31, 29, 31), strict=True):
        cache.write_cached(key, 1)
        aged(folder / key, age)
    (folder / "costs.sqlite").touch()
    aged(folder / "costs.sqlite", 99)
    assert cache.read_cached(keys[2]) == 1
    cache._tidy.cache_clear()
    cache.write_cached("new-" + "0" * 32, 1)
    left = {path.name for path in folder.iterdir()}
    assert left == {keys[1], keys[2], "costs.sqlite", "new-" + "0" * 32}


def test_what_killed_processes_left_goes_after_a_day(folder: Path) -> None:
    """What others store stays, however old it is, and so does what is being written."""
    gone = subprocess.Popen(["true"])
    gone.wait()
    old, new, alive = (f"{temporary_prefix(p)}x" for p in (gone.pid, 2**22 + 1, os.getpid()))
    days = {old: 2.0, new: 0.9, alive: 2.0, "other": 99.0}
    for name, age in days.items():
        (folder / name).write_bytes(b"half")
        aged(folder / name, age)
    cache.write_cached("key", 1)
    assert {path.name for path in folder.iterdir()} == {new, alive, "other", "key"}


def test_who_is_interrupted_leaves_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Path, "replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        cache.write_cached("key", 1)
    assert list(folder.iterdir()) == []
