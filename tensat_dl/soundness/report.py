"""Verdicts as plain data, as `--json` has them.

Enters: verdicts.  Leaves: dicts, lists, texts and numbers.  Numbers are finite: NaN and infinities
of a counterexample are the strings "NaN", "Infinity", "-Infinity".
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from tensat_dl.soundness.verdict import Verdict


def make_report(verdicts: Sequence[Verdict]) -> dict[str, Any]:
    """`{"rules": [..]}`, in the order of the program."""
    return {"rules": [_entry(verdict) for verdict in verdicts]}


def _entry(verdict: Verdict) -> dict[str, Any]:
    found: dict[str, Any] = _finite(asdict(verdict))
    return {**found, "status": verdict.status.value, "method": verdict.method}


def _finite(item: Any) -> Any:
    if isinstance(item, dict):
        return {key: _finite(value) for key, value in item.items()}
    if isinstance(item, list | tuple):
        return [_finite(value) for value in item]
    if isinstance(item, float) and not math.isfinite(item):
        return "NaN" if math.isnan(item) else ("Infinity" if item > 0 else "-Infinity")
    return item
