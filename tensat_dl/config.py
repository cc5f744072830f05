"""Reads settings from files and flags and merges them, later ones winning.

Enters: `tensat.toml`, `[tool.tensat-dl]` of a pyproject.toml, `--set` assignments, flags.
Leaves: one :class:`tensat_dl.settings.Settings`.  Each source is validated on its own, so that a
message names the place where the wrong value was written.  What a key may hold is the business
of `config_schema`.
"""

from __future__ import annotations

import dataclasses
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tensat_dl import config_schema
from tensat_dl.errors import UsageError
from tensat_dl.settings import Settings

#: Looked for in the working directory, in this order.
CONFIG_NAME = "tensat.toml"
PYPROJECT_NAME = "pyproject.toml"
PYPROJECT_TABLE = "tool.tensat-dl"

#: A size in `--dim` has at most so many digits, as an int64 does.
_SIZE_DIGITS = 19


@dataclass(frozen=True)
class Source:
    """Tables of settings, and where they were written (a file's name or a flag)."""

    origin: str
    tables: Mapping[str, Any]


def load_settings(
    config: Path | None = None,
    overrides: Sequence[Source] = (),
    directory: Path | None = None,
) -> Settings:
    """The settings of a run: defaults, then a file, then `overrides` in order.

    The file is `config`, else `tensat.toml` of `directory` (default: the working directory),
    else the table `[tool.tensat-dl]` of its pyproject.toml, else none.  Raises UsageError.
    """
    file = read_file(config) if config else _discover(directory or Path.cwd())
    return merge([*([file] if file else []), *overrides])


def merge(sources: Iterable[Source]) -> Settings:
    """Validate each source and lay one over the other.  Raises UsageError with every problem."""
    merged: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for source in sources:
        tables, found = config_schema.validate(source.tables)
        problems += [f"{source.origin}: {problem}" for problem in found]
        for name, values in tables.items():
            _lay_over(merged.setdefault(name, {}), values)
    if problems:
        help = "`tensat-dl run --help` lists the settings"
        raise UsageError(problems[0], also=problems[1:], help=help)
    return _build(merged)


def read_file(path: Path) -> Source:
    """The settings in one TOML file; of a pyproject.toml only our own table."""
    tables = _parse(path)
    if path.name == PYPROJECT_NAME:
        return Source(f"{path} [{PYPROJECT_TABLE}]", _own_table(tables) or {})
    return Source(str(path), tables)


def assignment(text: str) -> Source:
    """The source that `--set KEY=VALUE` is, e.g. `extract.options.threads=2`.

    KEY is a dotted TOML key (quote parts with unusual characters); VALUE is a TOML value, or
    else taken as a string.
    """
    key, equals, value = text.partition("=")
    origin = f"--set {text}"
    if not equals:
        raise UsageError(f"{origin}: expected KEY=VALUE", help="e.g. --set explore.cycles=prune")
    try:
        tables = tomllib.loads(f"{key} = 0")
    except (ValueError, RecursionError) as error:
        raise UsageError(f"{origin}: `{key.strip()}` is not a dotted key") from error
    _replace_leaf(tables, _value(value.strip(), origin))
    return Source(origin, tables)


def dim_assignment(text: str) -> Source:
    """The source that `--dim NAME=SIZE` is."""
    name, equals, size = text.rpartition("=")
    if not (equals and name and size.strip().isdecimal() and len(size) <= _SIZE_DIGITS):
        raise UsageError(f"--dim {text}: expected NAME=SIZE", help="e.g. --dim batch=1")
    return Source(f"--dim {text}", {"model": {"dims": {name.strip(): int(size)}}})


def flag(origin: str, table: str, key: str, value: Any) -> Source:
    """The source that a flag with a table and key of its own is."""
    return Source(origin, {table: {key: value}})


def _discover(directory: Path) -> Source | None:
    if (directory / CONFIG_NAME).is_file():
        return dataclasses.replace(read_file(directory / CONFIG_NAME), origin=CONFIG_NAME)
    pyproject = directory / PYPROJECT_NAME
    if not pyproject.is_file():
        return None
    try:
        own = _own_table(_parse(pyproject))
    except UsageError:
        return None  # someone else's broken file is not ours to report
    return None if own is None else Source(f"{PYPROJECT_NAME} [{PYPROJECT_TABLE}]", own)


def _parse(path: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(path.read_bytes().decode("utf-8-sig"))
    except OSError as error:
        raise UsageError(f"cannot read the configuration {path}: {error.strerror}") from error
    except (ValueError, RecursionError) as error:  # also bad UTF-8, endless numbers and nesting
        raise UsageError(f"{path}: not valid TOML: {error}") from error


def _own_table(pyproject: Mapping[str, Any]) -> Mapping[str, Any] | None:
    table: Any = pyproject
    for part in PYPROJECT_TABLE.split("."):
        table = table.get(part) if isinstance(table, dict) else None
    return table if isinstance(table, dict) else None


def _value(text: str, origin: str) -> Any:
    try:
        return tomllib.loads(f"value = {text}")["value"]
    except RecursionError:
        return text
    except ValueError:  # also a number of more digits than Python reads
        if text.startswith(("[", "{")):
            raise UsageError(
                f"{origin}: the value is no list or table of TOML",
                help="strings in it have quotes, which a shell takes away unless all is in others:"
                """ --set 'extract.ties=["nodes"]'""",
            ) from None
        return text


def _replace_leaf(tables: dict[str, Any], value: Any) -> None:
    (key, inner), *_ = tables.items()
    if isinstance(inner, dict):
        _replace_leaf(inner, value)
    else:
        tables[key] = value


def _lay_over(below: dict[str, Any], above: Mapping[str, Any]) -> None:
    for key, value in above.items():
        old = below.get(key)
        both = isinstance(old, dict) and isinstance(value, dict)
        below[key] = {**old, **value} if both else value  # type: ignore[dict-item]


def _build(tables: Mapping[str, Mapping[str, Any]]) -> Settings:
    defaults = Settings()
    changed = {
        name: dataclasses.replace(getattr(defaults, name), **values)
        for name, values in tables.items()
    }
    return dataclasses.replace(defaults, **changed)
