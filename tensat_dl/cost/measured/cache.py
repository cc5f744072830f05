"""Measurements on disk: an SQLite file that any number of runs may use at the same time.

Enters: signatures and seconds under a :class:`~tensat_dl.cost.measured.machine.Setting`.  A
connection is open only while something is read or written, so that a run that is stopped while it
measures leaves nothing behind.  Where one signature was measured twice the lesser time counts:
disturbances only ever add.  Comparisons of whole models are kept beside them, and what the runtime
refuses.  Raises :class:`CacheFault`; what is then to be done is the caller's business.
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, cast

from tensat_dl.cost.measured.machine import Setting

#: Seconds to wait for another process that writes.
PATIENCE = 10.0

#: The layout of the file (`user_version`), and that of the exported text.
LAYOUT = 1

#: Seconds and threads that are no mistake.
_LONGEST = 1e6
_MOST_THREADS = 1 << 20

#: How a file of SQLite begins.
_MAGIC = b"SQLite format 3\0"

_SCHEMA = """
CREATE TABLE IF NOT EXISTS costs (
  machine TEXT NOT NULL, runtime TEXT NOT NULL, threads INTEGER NOT NULL,
  signature TEXT NOT NULL, seconds REAL NOT NULL,
  PRIMARY KEY (machine, runtime, threads, signature)
) WITHOUT ROWID
"""
_STORE = """
INSERT INTO costs VALUES (:machine, :runtime, :threads, :signature, :seconds)
ON CONFLICT DO UPDATE SET seconds = min(seconds, excluded.seconds)
"""
_COLUMNS = ("machine", "runtime", "threads", "signature", "seconds")
#: Came later than the rest, so that a file may lack it.
_COMPARISONS = """
CREATE TABLE IF NOT EXISTS comparisons (
  machine TEXT NOT NULL, runtime TEXT NOT NULL, threads INTEGER NOT NULL,
  models TEXT NOT NULL, content TEXT NOT NULL,
  PRIMARY KEY (machine, runtime, threads, models)
) WITHOUT ROWID
"""
#: This, too.
_REFUSALS = """
CREATE TABLE IF NOT EXISTS refusals (
  machine TEXT NOT NULL, runtime TEXT NOT NULL, threads INTEGER NOT NULL,
  maker TEXT NOT NULL, signature TEXT NOT NULL,
  PRIMARY KEY (machine, runtime, threads, maker, signature)
) WITHOUT ROWID
"""
#: What the runtime makes of each signature: those of which it makes the same take the same.
_KEYS = """
CREATE TABLE IF NOT EXISTS keys (
  machine TEXT NOT NULL, runtime TEXT NOT NULL, threads INTEGER NOT NULL,
  signature TEXT NOT NULL, key TEXT NOT NULL,
  PRIMARY KEY (machine, runtime, threads, signature)
) WITHOUT ROWID
"""


class CacheFault(Exception):
    """The file cannot be used; the text says why and what to do."""


@dataclass(frozen=True)
class Measurement:
    """One row: `seconds` of one application under a setting."""

    machine: str
    runtime: str
    threads: int
    signature: str
    seconds: float


@dataclass(frozen=True)
class CostCache:
    """The measurements in the file `path`, which need not exist yet."""

    path: Path

    def load(self, setting: Setting) -> dict[str, float]:
        """Signature -> seconds of everything that was measured under `setting`."""
        if not self.path.exists():
            return {}
        query = "SELECT signature, seconds FROM costs WHERE (machine, runtime, threads) = (?, ?, ?)"
        with self._connection() as connection:
            key = (setting.machine, setting.runtime, setting.threads)
            return dict(_sound(connection.execute(query, key).fetchall()))

    def keys(self, setting: Setting) -> dict[str, str]:
        """Signature -> what the runtime makes of it, where that is known."""
        if not self.path.exists():
            return {}
        query = "SELECT signature, key FROM keys WHERE (machine, runtime, threads) = (?, ?, ?)"
        with self._connection() as connection:
            if not _has(connection, "keys"):
                return {}
            key = (setting.machine, setting.runtime, setting.threads)
            rows = connection.execute(query, key).fetchall()
        return {str(signature): str(found) for signature, found in rows}

    def store(
        self, setting: Setting, seconds: Mapping[str, float], keys: Mapping[str, str] | None = None
    ) -> None:
        """Add measurements, and `keys` of their signatures."""
        of = asdict(setting)
        self._write({**of, "signature": s, "seconds": t} for s, t in seconds.items())
        if not keys:
            return
        with self._connection() as connection, connection:
            connection.execute(_KEYS)
            connection.executemany(
                "INSERT OR REPLACE INTO keys"
                " VALUES (:machine, :runtime, :threads, :signature, :key)",
                ({**of, "signature": signature, "key": key} for signature, key in keys.items()),
            )

    def comparison(self, setting: Setting, models: str) -> str:
        """What was kept of a comparison of `models`, "" where there is none."""
        if not self.path.exists():
            return ""
        with self._connection() as connection:
            if not _has(connection, "comparisons"):
                return ""
            found = connection.execute(
                "SELECT content FROM comparisons"
                " WHERE (machine, runtime, threads, models) = (?, ?, ?, ?)",
                (setting.machine, setting.runtime, setting.threads, models),
            ).fetchone()
        return str(found[0]) if found else ""

    def keep_comparison(self, setting: Setting, models: str, content: str) -> None:
        """Keep `content` of a comparison of `models`, in place of an earlier one."""
        self._make_folder()
        row = {**asdict(setting), "models": models, "content": content}
        with self._connection() as connection, connection:
            connection.execute(_COMPARISONS)
            connection.execute(
                "INSERT OR REPLACE INTO comparisons"
                " VALUES (:machine, :runtime, :threads, :models, :content)",
                row,
            )

    def comparisons(self) -> int:
        """How many are kept."""
        if not self.path.exists():
            return 0
        with self._connection() as connection:
            if not _has(connection, "comparisons"):
                return 0
            (count,) = connection.execute("SELECT count(*) FROM comparisons").fetchone()
        return int(count)

    def refused(self, setting: Setting, maker: str) -> set[str]:
        """The signatures of what does not run under `setting` as `maker` makes it."""
        if not self.path.exists():
            return set()
        with self._connection() as connection:
            if not _has(connection, "refusals"):
                return set()
            found = connection.execute(
                "SELECT signature FROM refusals"
                " WHERE (machine, runtime, threads, maker) = (?, ?, ?, ?)",
                (setting.machine, setting.runtime, setting.threads, maker),
            ).fetchall()
        return {signature for (signature,) in found}

    def refuse(self, setting: Setting, maker: str, signatures: Iterable[str]) -> None:
        """Keep that these do not run."""
        self._make_folder()
        key = (setting.machine, setting.runtime, setting.threads, maker)
        with self._connection() as connection, connection:
            connection.execute(_REFUSALS)
            connection.executemany(
                "INSERT OR IGNORE INTO refusals VALUES (?, ?, ?, ?, ?)",
                [(*key, signature) for signature in signatures],
            )

    def rows(self) -> list[Measurement]:
        """Everything, in order."""
        if not self.path.exists():
            return []
        with self._connection() as connection:
            rows = _sound(connection.execute("SELECT * FROM costs ORDER BY 1, 2, 3, 4").fetchall())
        return [Measurement(*row) for row in rows]

    def add(self, rows: list[Measurement]) -> None:
        """Add rows, of any setting."""
        self._write(map(asdict, rows))

    def clear(self) -> bool:
        """Remove the file, and what SQLite keeps beside it; was there one?

        Refuses what is no cost cache, as somebody may have named the wrong file.
        """
        existed = self.path.exists()
        try:
            if existed and not (self._is_sqlite() and self._is_ours()):
                raise CacheFault(f"{self.path} is no cost cache; if it was one, remove it yourself")
            for name in ("", "-wal", "-shm", "-journal"):
                self.path.with_name(self.path.name + name).unlink(missing_ok=True)
        except OSError as error:
            raise CacheFault(f"{self.path} cannot be removed: {error.strerror}") from None
        return existed

    def _is_sqlite(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(_MAGIC)) in (_MAGIC, b"")

    def _is_ours(self) -> bool:
        with contextlib.closing(sqlite3.connect(self.path, PATIENCE)) as connection:
            try:
                return not _is_foreign(connection)
            except sqlite3.Error:
                return True

    def _write(self, rows: Iterator[dict[str, Any]] | map[dict[str, Any]]) -> None:
        self._make_folder()
        with self._connection() as connection, connection:
            connection.executemany(_STORE, rows)

    def _make_folder(self) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CacheFault(f"{self.path} cannot be written: {error.strerror}") from None

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(sqlite3.connect(self.path, PATIENCE)) as connection:
                if _is_foreign(connection):
                    raise CacheFault(f"{self.path} is no cost cache; choose another file")
                _prepare(connection)
                yield connection
        except sqlite3.Error as error:
            raise CacheFault(_fault(self.path, error)) from None


def _prepare(connection: sqlite3.Connection) -> None:
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    if layout == LAYOUT:
        return
    if layout:
        raise sqlite3.DatabaseError(f"its layout is {layout}, not {LAYOUT}")
    connection.execute("PRAGMA journal_mode = WAL")
    with connection:
        connection.execute(_SCHEMA)
        connection.execute(f"PRAGMA user_version = {LAYOUT}")


def _is_foreign(connection: sqlite3.Connection) -> bool:
    """The database is another program's: it has tables, and not ours.  That of another layout need
    not have our columns."""
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    columns = tuple(row[1] for row in connection.execute("PRAGMA table_info(costs)"))
    if not columns:
        return connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    return layout in (0, LAYOUT) and columns != _COLUMNS


def _has(connection: sqlite3.Connection, table: str) -> bool:
    """A file that is not to be written to may be from before."""
    query = "SELECT 1 FROM sqlite_master WHERE name = ?"
    return connection.execute(query, (table,)).fetchone() is not None


def _sound(rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The rows, which end with their seconds.  SQLite takes any value in any column."""
    for *key, seconds in rows:
        if not (_is_time(seconds) and all(isinstance(part, str | int) for part in key)):
            raise sqlite3.DatabaseError(f"it holds {seconds!r} as the seconds of {key[-1]!r}")
    return rows


def _is_time(seconds: object) -> bool:
    return type(seconds) in (float, int) and 0 <= cast(float, seconds) <= _LONGEST


def _fault(path: Path, error: sqlite3.Error) -> str:
    if isinstance(error, sqlite3.OperationalError):
        return f"the cost cache {path} cannot be used: {error}"
    return f"the cost cache {path} is damaged ({error}); remove it"


def to_content(rows: list[Measurement]) -> dict[str, Any]:
    """Rows as what JSON can hold."""
    return {"tensat-dl costs": LAYOUT, "costs": [asdict(row) for row in rows]}


def from_text(text: str) -> list[Measurement]:
    """Rows from the JSON of :func:`to_content`.  Raises CacheFault where it is something else."""
    try:
        content = json.loads(text)
        if content["tensat-dl costs"] != LAYOUT:
            raise CacheFault(f"its layout is {content['tensat-dl costs']}, not {LAYOUT}")
        if not isinstance(content["costs"], list):
            raise TypeError
        return [_row(row) for row in content["costs"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        raise CacheFault("it was not written by `tensat-dl costs export`") from None


def _row(row: dict[str, Any]) -> Measurement:
    found = Measurement(**row)
    for text in (found.machine, found.runtime, found.signature):
        str.encode(text)  # a half of a pair of UTF-16 is no text, though JSON can say it
    if type(found.threads) is not int or not 0 <= found.threads <= _MOST_THREADS:
        raise ValueError
    if not _is_time(found.seconds):
        raise ValueError
    return replace(found, seconds=float(found.seconds))
