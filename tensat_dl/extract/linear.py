"""Sums of columns and constants, while rows are being written."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from tensat_dl.extract.program import Row, Sense


@dataclass
class Linear:
    """`constant + sum(terms[column] * x[column])`."""

    constant: float = 0.0
    terms: dict[int, float] = field(default_factory=dict)

    def add(self, column: int | None, factor: float = 1.0) -> Linear:
        """Add a column; None stands for the constant 1."""
        if column is None:
            self.constant += factor
        else:
            self.terms[column] = self.terms.get(column, 0.0) + factor
        return self

    def add_all(self, columns: Iterable[int | None], factor: float = 1.0) -> Linear:
        """Add several columns."""
        for column in columns:
            self.add(column, factor)
        return self

    def row(self, sense: Sense, right: float) -> Row | None:
        """The row `self sense right`; None when no column is left in it."""
        terms = {c: v for c, v in self.terms.items() if v}
        if not terms:
            return None
        return Row(tuple(terms), tuple(terms.values()), sense, right - self.constant)
