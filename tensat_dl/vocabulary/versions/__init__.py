"""What changed in each operator since version 7: one row a change, with the way up and down."""

from __future__ import annotations

from collections.abc import Mapping

from tensat_dl.vocabulary.versions import meaning, moved
from tensat_dl.vocabulary.versions.form import Form, Row

__all__ = ["ROWS", "Form", "Row", "rows_down", "rows_up"]

ROWS: tuple[Row, ...] = (*meaning.ROWS, *moved.ROWS)

_BEFORE: Mapping[str, tuple[Row, ...]] = {
    row.operator: tuple(r for r in ROWS if r.operator == row.operator) for row in ROWS
}
_AFTER: Mapping[str, tuple[Row, ...]] = {
    row.name_after: tuple(r for r in ROWS if r.name_after == row.name_after) for row in ROWS
}


def rows_up(name: str, version: int, target: int) -> Row | None:
    """The first change of the operator called `name` in (version, target]."""
    rows = [row for row in _BEFORE.get(name, ()) if version < row.since <= target]
    return min(rows, key=lambda row: row.since, default=None)


def rows_down(name: str, version: int, target: int) -> Row | None:
    """The last change of the operator called `name` in (target, version]."""
    rows = [row for row in _AFTER.get(name, ()) if target < row.since <= version]
    return max(rows, key=lambda row: row.since, default=None)
