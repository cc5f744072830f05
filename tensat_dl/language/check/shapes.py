"""Placeholder until inference is there."""

from __future__ import annotations

from tensat_dl.language.check.report import Reporter
from tensat_dl.language.program import Rule


def check_shapes(rule: Rule, report: Reporter) -> None:
    """Nothing yet."""
