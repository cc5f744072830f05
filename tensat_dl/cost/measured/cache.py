"""Measurements on disk: an SQLite file that any number of runs may use at the same time.

Enters: signatures and seconds under a :class:`~tensat_dl.cost.measured.machine.Setting`.  A
connection is open only while something is read or written, so that a run that is stopped while it
measures leaves nothing behind.  Where one signature was measured twice the lesser time counts:
disturbances only ever add.  Comparisons of whole models are kept beside them, answers at these
prices, and what the runtime refuses.  Raises :class:`CacheFault`; what is then to be done is the
caller's business.
"""

from __future__ import annotations

import contextlib
import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, astuple, dataclass, replace
from pathlib import Path
from typing import Any, cast

from tensat_dl.cost.measured.machine import Setting
from tensat_dl.resources import real_path

#: Seconds to wait for another process that writes.
PATIENCE = 10.0

#: The layout of the file (`user_version`), and that of the exported text.
LAYOUT = 1

#: Seconds and threads that are no mistake.
_LONGEST = 1e6
_MOST_THREADS = 1 << 20

#: How a file of SQLite begins.
_MAGIC = b"SQLite format 3\0"

#: What the tables are made of beside the setting.  Those after the first came later, so that a file
#: may lack them.  `keys` has what the runtime makes of each signature: those of which it makes the
#: same take the same.
_TABLES = {
    "costs": "signature TEXT NOT NULL, seconds REAL NOT NULL, PRIMARY KEY ({}, signature)",
    "comparisons": "models TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY ({}, models)",
    "refusals": "maker TEXT NOT NULL, signature TEXT NOT NULL, PRIMARY KEY ({}, maker, signature)",
    "keys": "signature TEXT NOT NULL, key TEXT NOT NULL, PRIMARY KEY ({}, signature)",
    "answers": "problem TEXT NOT NULL, content TEXT NOT NULL, PRIMARY KEY ({}, problem)",
}
_SETTING = "machine, runtime, threads"
_CREATE = """
CREATE TABLE IF NOT EXISTS {} (
  machine TEXT NOT NULL, runtime TEXT NOT NULL, threads INTEGER NOT NULL, {}
) WITHOUT ROWID
"""
_STORE = """
INSERT INTO costs VALUES (?, ?, ?, ?, ?)
ON CONFLICT DO UPDATE SET seconds = min(seconds, excluded.seconds)
"""
_COLUMNS = ("machine", "runtime", "threads", "signature", "seconds")


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
        query = f"SELECT signature, seconds FROM costs WHERE ({_SETTING}) = (?, ?, ?)"
        return dict(self._sound(self._read("costs", query, *astuple(setting))))

    def keys(self, setting: Setting) -> dict[str, str]:
        """Signature -> what the runtime makes of it, where that is known."""
        query = f"SELECT signature, key FROM keys WHERE ({_SETTING}) = (?, ?, ?)"
        found = self._read("keys", query, *astuple(setting))
        return {str(signature): str(key) for signature, key in found}

    def store(
        self, setting: Setting, seconds: Mapping[str, float], keys: Mapping[str, str] | None = None
    ) -> None:
        """Add measurements, and `keys` of their signatures."""
        of = astuple(setting)
        with self._writing() as connection:
            connection.executemany(_STORE, [(*of, *item) for item in seconds.items()])
            _put(connection, "keys", [(*of, *item) for item in (keys or {}).items()])

    def comparison(self, setting: Setting, models: str) -> str:
        """What was kept of a comparison of `models`, "" where there is none."""
        return self._content("comparisons", "models", setting, models)

    def keep_comparison(self, setting: Setting, models: str, content: str) -> None:
        """Keep `content` of a comparison of `models`, in place of an earlier one."""
        with self._writing() as connection:
            _put(connection, "comparisons", [(*astuple(setting), models, content)])

    def answer(self, setting: Setting, problem: str) -> str:
        """What was kept of an answer to `problem`, "" where there is none."""
        return self._content("answers", "problem", setting, problem)

    def keep_answer(self, setting: Setting, problem: str, content: str) -> None:
        """Keep `content` of an answer to `problem`, in place of an earlier one."""
        with self._writing() as connection:
            _put(connection, "answers", [(*astuple(setting), problem, content)])

    def comparisons(self) -> int:
        """How many are kept."""
        return sum(n for (n,) in self._read("comparisons", "SELECT count(*) FROM comparisons"))

    def refused(self, setting: Setting, maker: str) -> set[str]:
        """The signatures of what does not run under `setting` as `maker` makes it."""
        query = f"SELECT signature FROM refusals WHERE ({_SETTING}, maker) = (?, ?, ?, ?)"
        return {found for (found,) in self._read("refusals", query, *astuple(setting), maker)}

    def refuse(self, setting: Setting, maker: str, signatures: Iterable[str]) -> None:
        """Keep that these do not run."""
        rows = [(*astuple(setting), maker, signature) for signature in signatures]
        with self._writing() as connection:
            _put(connection, "refusals", rows)

    def rows(self) -> list[Measurement]:
        """Everything, in order."""
        rows = self._read("costs", "SELECT * FROM costs ORDER BY 1, 2, 3, 4")
        return [Measurement(*row) for row in self._sound(rows)]

    def add(self, rows: list[Measurement]) -> None:
        """Add rows, of any setting."""
        with self._writing() as connection:
            connection.executemany(_STORE, map(astuple, rows))

    def clear(self) -> bool:
        """Remove the file, and what SQLite keeps beside it; was there one?

        Refuses what is no cost cache, as somebody may have named the wrong file.
        """
        existed = self._is_there()
        try:
            if existed and not (self._is_sqlite() and self._is_ours()):
                raise CacheFault(f"{self.path} is no cost cache; if it was one, remove it yourself")
            for name in ("", "-wal", "-shm", "-journal"):
                self.path.with_name(self.path.name + name).unlink(missing_ok=True)
        except OSError as error:
            raise CacheFault(f"{self.path} cannot be removed: {error.strerror}") from None
        return existed

    def _is_there(self) -> bool:
        """SQLite would write beside a device, and wait for a pipe.  Raises CacheFault."""
        if self.path.exists() and not self.path.is_file():
            raise CacheFault(f"{self.path} is no regular file and no cost cache; choose another")
        return self.path.exists()

    def _is_sqlite(self) -> bool:
        with self.path.open("rb") as file:
            return file.read(len(_MAGIC)) in (_MAGIC, b"")

    def _is_ours(self) -> bool:
        with contextlib.closing(sqlite3.connect(self.path, PATIENCE)) as connection:
            try:
                return not _is_foreign(connection)
            except sqlite3.Error:
                return True

    def _read(self, table: str, query: str, *values: object) -> list[tuple[Any, ...]]:
        """The rows of a query; none where there is no file, or no such table in it."""
        if not self.path.exists():
            return []
        with self._connection() as connection:
            return connection.execute(query, values).fetchall() if _has(connection, table) else []

    def _content(self, table: str, column: str, setting: Setting, key: str) -> str:
        query = f"SELECT content FROM {table} WHERE ({_SETTING}, {column}) = (?, ?, ?, ?)"
        found = self._read(table, query, *astuple(setting), key)
        return str(found[0][0]) if found else ""

    def _sound(self, rows: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
        """The rows, which end with their seconds.  SQLite takes any value in any column."""
        for *key, seconds in rows:
            if not (_is_time(seconds) and all(isinstance(part, str | int) for part in key)):
                what = f"it holds {seconds!r} as the seconds of {key[-1]!r}"
                raise CacheFault(_damage(self.path, what))
        return rows

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        """All that the body writes, or nothing."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise CacheFault(f"{self.path} cannot be written: {error.strerror}") from None
        with self._connection() as connection, connection:
            yield connection

    def _open(self) -> sqlite3.Connection:
        """SQLite reads no such file without writing beside it, unless it is told that nobody
        writes: where the directory is write-protected, and no other run left a journal."""
        path = real_path(self.path)
        if not self._is_there() or os.access(path.parent, os.W_OK):
            return sqlite3.connect(path, PATIENCE)
        journal = path.with_name(f"{path.name}-wal").exists()
        mode = "mode=ro" if journal else "immutable=1"
        return sqlite3.connect(f"{path.as_uri()}?{mode}", PATIENCE, uri=True)

    @contextlib.contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        try:
            with contextlib.closing(self._open()) as connection:
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
        _create(connection, "costs")
        connection.execute(f"PRAGMA user_version = {LAYOUT}")


def _is_foreign(connection: sqlite3.Connection) -> bool:
    """The database is another program's: it has tables, and not ours.  That of another layout need
    not have our columns."""
    # In this order, since another run may make ours meanwhile.
    (layout,) = connection.execute("PRAGMA user_version").fetchone()
    any_table = connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone() is not None
    columns = tuple(row[1] for row in connection.execute("PRAGMA table_info(costs)"))
    if not columns:
        return any_table
    return layout in (0, LAYOUT) and columns != _COLUMNS


def _has(connection: sqlite3.Connection, table: str) -> bool:
    """A file that is not to be written to may be from before."""
    query = "SELECT 1 FROM sqlite_master WHERE name = ?"
    return connection.execute(query, (table,)).fetchone() is not None


def _create(connection: sqlite3.Connection, table: str) -> None:
    """Make a table that is not there."""
    connection.execute(_CREATE.format(table, _TABLES[table].format(_SETTING)))


def _put(connection: sqlite3.Connection, table: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Add rows to one of the later tables, in place of those with the same key."""
    if not rows:
        return
    _create(connection, table)
    places = ", ".join("?" * len(rows[0]))
    connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES ({places})", rows)


def _is_time(seconds: object) -> bool:
    return type(seconds) in (float, int) and 0 <= cast(float, seconds) <= _LONGEST


def _fault(path: Path, error: sqlite3.Error) -> str:
    if isinstance(error, sqlite3.OperationalError):
        return f"the cost cache {path} cannot be used: {error}"
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
        return f"{path} is no cost cache; choose another file, or remove it if it was one"
    return _damage(path, str(error))


def _damage(path: Path, what: str) -> str:
    return f"the cost cache {path} is damaged ({what}); remove it"


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
