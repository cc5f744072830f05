"""What each setting may hold: types from the dataclasses of `settings`, limits from a table here.

Enters: tables as TOML gives them.  Leaves: the same with sizes and numbers converted, and every
problem in words.  Knows nothing of files and flags.
"""

from __future__ import annotations

import dataclasses
import math
import re
import typing
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from tensat_dl.settings import Settings
from tensat_dl.suggest import nearest_or_all

_UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
_BINARY_UNITS = {"ki": 1 << 10, "mi": 1 << 20, "gi": 1 << 30, "ti": 1 << 40}
_SIZE = re.compile(r"(\d+(?:_\d+)*(?:\.\d+)?)\s*([kmgt]i?)?b?", re.IGNORECASE)

#: Keys that hold a number of bytes, so that "4GiB" may be written.
SIZES = frozenset({"explore.memory", "export.fold_bytes", "extract.max_weight_bytes"})

#: Least and greatest value allowed.  Seconds have no upper end; a float bound is inclusive.
RANGES: Mapping[str, tuple[float, float]] = {
    "model.opset": (0, 1000),
    "explore.enodes": (1, math.inf),
    "explore.seconds": (0.001, math.inf),
    "explore.memory": (64 << 20, math.inf),
    "cost.flops_per_second": (1.0, math.inf),
    "cost.bytes_per_second": (1.0, math.inf),
    "cost.overhead": (0.0, math.inf),
    "cost.symbolic_dim": (1, 1 << 20),
    "cost.threads": (0, 1024),
    "cost.margin": (0.0, 1.0),
    "cost.measure_seconds": (0.0, math.inf),
    "cost.compare_seconds": (0.0, math.inf),
    "extract.seconds": (0.001, math.inf),
    "extract.gap": (0.0, 1.0),
    "extract.max_weight_bytes": (0, math.inf),
    "extract.workers": (1, 256),
    "verify.samples": (1, 1000),
    "verify.seed": (0, (1 << 32) - 1),
    "export.fold_ratio": (0.0, math.inf),
    "export.fold_bytes": (0, math.inf),
    "test.proof_seconds": (0.001, math.inf),
}


class _Wrong(Exception):
    """A value does not fit; the message completes "`key` ..."."""


def keys() -> dict[str, Any]:
    """Every dotted key and its Python type, e.g. `explore.enodes` -> int."""
    found = {}
    for table in dataclasses.fields(Settings):
        hints = typing.get_type_hints(_table_class(table.name))
        found.update({f"{table.name}.{key}": hint for key, hint in hints.items()})
    return found


def defaults() -> dict[str, Any]:
    """Every dotted key and its default."""
    settings = Settings()
    tables = {field.name: getattr(settings, field.name) for field in dataclasses.fields(Settings)}
    return {key: getattr(tables[key.split(".")[0]], key.split(".")[1]) for key in keys()}


def validate(tables: Mapping[str, Any]) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Converted values by table, and what is wrong (then the values are incomplete)."""
    names = [field.name for field in dataclasses.fields(Settings)]
    values: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for name, content in tables.items():
        if name not in names:
            problems.append(_unknown_table(name, names))
        elif not isinstance(content, dict):
            problems.append(f"`{name}` is a table: write `[{name}]`, or `{name}.KEY = VALUE`")
        else:
            values[name], found = _validate_table(name, content)
            problems += found
    return values, problems


def _validate_table(table: str, content: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    hints = typing.get_type_hints(_table_class(table))
    values: dict[str, Any] = {}
    problems: list[str] = []
    for key, value in content.items():
        if key not in hints:
            problems.append(f"unknown key `{key}` in [{table}]; {nearest_or_all(key, hints)}")
            continue
        try:
            values[key] = _convert(f"{table}.{key}", hints[key], value)
        except _Wrong as wrong:
            problems.append(f"`{table}.{key}` {wrong}")
    return values, problems


def _unknown_table(name: str, tables: list[str]) -> str:
    for table in tables:
        if name in typing.get_type_hints(_table_class(table)):
            return f"unknown table `{name}`; did you mean `{table}.{name}`?"
    return f"unknown table `{name}`; {nearest_or_all(name, tables)}"


def _table_class(name: str) -> type:
    return type(getattr(Settings(), name))


def _convert(key: str, hint: Any, value: Any) -> Any:
    if typing.get_origin(hint) is tuple:
        return _subset(value, typing.get_args(hint)[0])
    if typing.get_origin(hint) is not None:
        return _mapping(value, typing.get_args(hint)[1])
    if issubclass(hint, StrEnum):
        return _choice(value, hint)
    if key in SIZES and isinstance(value, str):
        value = _size(value)
    converted = _CONVERTERS[hint](value)
    _check_limits(key, converted)
    return converted


def _check_limits(key: str, value: Any) -> None:
    low, high = RANGES.get(key, (-math.inf, math.inf))
    if key in RANGES and not low <= value <= high:
        bounds = f"at least {low:_}" if high == math.inf else f"from {low:_} to {high:_}"
        raise _Wrong(f"must be {bounds}, not {value}")


def _choice(value: Any, known: type[StrEnum]) -> StrEnum:
    """One of a few words."""
    text = _string(value)
    if text not in set(known):
        raise _Wrong(f"is one of {', '.join(known)}, not {text!r}")
    return known(text)


def _subset(value: Any, known: type[StrEnum]) -> tuple[StrEnum, ...]:
    """Some of a few words, in the order of `known`."""
    if not isinstance(value, list | tuple) or not all(isinstance(word, str) for word in value):
        example = ", ".join(f'"{word}"' for word in tuple(known)[:2])
        raise _Wrong(f"is a list of strings, as [{example}], not {_describe(value)}")
    for word in value:
        if word not in set(known):
            raise _Wrong(f"holds an unknown name `{word}`; {nearest_or_all(word, known)}")
    return tuple(word for word in known if word in value)


def _mapping(value: Any, element: Any) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise _Wrong(f"is a table of names and values, not {_describe(value)}")
    if element is not int:
        return {key: _option(key, item) for key, item in value.items()}
    return {key: _dim(key, item) for key, item in value.items()}


def _option(key: str, value: Any) -> str | int | float | bool:
    if isinstance(value, str | int | float | bool):
        return value
    raise _Wrong(f"holds strings, numbers and booleans; `{key}` is {_describe(value)}")


def _dim(key: str, value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise _Wrong(f"holds whole numbers from 0 up; `{key}` is {_describe(value)}")


def _integer(value: Any) -> int:
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise _Wrong(f"is a whole number, not {_describe(value)}")


def _number(value: Any) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value):
        return float(value)
    raise _Wrong(f"is a finite number, not {_describe(value)}")


def _boolean(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise _Wrong(f"is true or false, not {_describe(value)}")


def _string(value: Any) -> str:
    if isinstance(value, str):
        return value
    raise _Wrong(f"is a string, not {_describe(value)}")


def _size(text: str) -> int:
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise _Wrong(f"is a size such as 4GiB, 512MiB or 1_000_000, not {text!r}")
    unit = (match[2] or "").lower()
    return round(float(match[1]) * {**_UNITS, **_BINARY_UNITS}[unit])


def size_text(size: int) -> str:
    """`4GiB`; a plain number where no unit divides it."""
    for unit, factor in reversed(_BINARY_UNITS.items()):
        if size and size % factor == 0:
            return f"{size // factor}{unit[0].upper()}iB"
    return str(size)


def _describe(value: Any) -> str:
    return (
        repr(value) if isinstance(value, str | int | float | bool) else f"a {type(value).__name__}"
    )


_CONVERTERS: Mapping[type, Callable[[Any], Any]] = {
    bool: _boolean,
    int: _integer,
    float: _number,
    str: _string,
}
