"""New rows of the tables that Python answers: each is given once.

Enters: the engine, names of relations over numbers and lists of numbers to which rows are only
ever added.  Leaves: the rows that were added since they were last asked for.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tensat_dl.egraph.engine import Engine, Row


@dataclass
class NewRows:
    """Reads relations of one engine."""

    engine: Engine
    _seen: dict[str, set[Row]] = field(default_factory=dict)

    def read(self, relations: Iterable[str]) -> dict[str, list[Row]]:
        """New rows in order, for each relation that has any."""
        grown = self._grown(relations)
        found = {}
        for name, rows in self.engine.rows(grown).items():
            seen = self._seen.setdefault(name, set())
            new = [row for row in rows if row not in seen]
            seen.update(new)
            found[name] = sorted(new)
        return found

    def seen(self, relation: str) -> set[Row]:
        """All rows that were given so far."""
        return self._seen.get(relation, set())

    def _grown(self, relations: Iterable[str]) -> list[str]:
        sizes = {name: self.engine.size(name) for name in relations}
        return [name for name, size in sizes.items() if size > len(self._seen.get(name, ()))]
