"""Answers that are kept with the times they rest on: the same problem is not solved twice.

Enters: a problem at measured prices, and how to solve it.  Leaves: its Extraction, new or of an
earlier run.  A kept answer passes the check that every answer does, and must cost what it cost;
that nothing is cheaper was shown by the run that found it.  A cache that fails here is no news: the
measurements of operators came out of it before.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import json
import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tensat_dl.cache import digest_of_makers
from tensat_dl.cost.measured.cache import CacheFault, CostCache
from tensat_dl.cost.measured.machine import Setting
from tensat_dl.extract.problem import Extraction, Problem, Status, StopReason
from tensat_dl.extract.selection import InvalidSelectionError, check, select
from tensat_dl.settings import ExtractSettings

_EXTRACT = Path(__file__).resolve().parents[2] / "extract"

#: Endings after which more time would change nothing.
_FINAL = (StopReason.PROVEN, StopReason.GAP)
#: Sums of the same costs differ by no more than this share.
_ROUNDING = 1e-9


@dataclass(frozen=True)
class KeptAnswers:
    """Those in `cache` under `setting`; None keeps none."""

    cache: CostCache | None
    setting: Setting

    def get(
        self, problem: Problem, settings: ExtractSettings, solve: Callable[[], Extraction]
    ) -> Extraction:
        """The kept answer to `problem` under `settings`, else `solve()`, which then is kept if it
        is final.  Answers within limits are not kept."""
        if self.cache is None or settings.max_weight_bytes or settings.at_most:
            return solve()
        started = time.perf_counter()
        key = _key(problem, settings)
        with contextlib.suppress(CacheFault, ValueError, RecursionError, InvalidSelectionError):
            found = _read(json.loads(self.cache.answer(self.setting, key)), problem, settings)
            return dataclasses.replace(found, seconds=time.perf_counter() - started)
        made = solve()
        if made.selection is not None and made.stopped in _FINAL:
            with contextlib.suppress(CacheFault):
                self.cache.keep_answer(self.setting, key, _written(made))
        return made


def _key(problem: Problem, settings: ExtractSettings) -> str:
    """Of all that an answer depends on.  Time is no part of it, as only what is final is kept."""
    digest = hashlib.sha256()
    for array in (
        *(problem.node_class, problem.node_cost, problem.child_start, problem.children),
        *(problem.roots, *(values for _, values in sorted(problem.measures.items()))),
    ):
        digest.update(np.ascontiguousarray(array).tobytes())
        digest.update(b"|")
    timeless = dataclasses.replace(settings, seconds=1.0)
    digest.update(f"{_solver_code()} {sorted(problem.measures)} {timeless}".encode())
    return digest.hexdigest()


@cache
def _solver_code() -> str:
    """A digest of what finds answers and proves them."""
    return digest_of_makers(sorted(_EXTRACT.rglob("*.py")))


def _written(made: Extraction) -> str:
    assert made.selection is not None
    return json.dumps(
        {
            "nodes": made.selection.chosen().tolist(),
            "objective": made.objective,
            "bound": made.bound,
            "status": made.status,
            "stopped": made.stopped,
        }
    )


def _read(content: Any, problem: Problem, settings: ExtractSettings) -> Extraction:
    """Raises ValueError for what was not written by this module: SQLite takes any value."""
    match content:
        case {
            "nodes": list(nodes),
            "objective": float(objective),
            "bound": float(bound),
            "status": str(status),
            "stopped": str(stopped),
        } if all(type(node) is int and 0 <= node < problem.nodes for node in nodes):
            selection = select(problem, {int(problem.node_class[node]): node for node in nodes})
        case _:
            raise ValueError("no answer")
    cost = check(problem, selection)
    if not math.isclose(cost, objective, rel_tol=_ROUNDING) or not bound <= objective:
        raise ValueError("another answer")
    return Extraction(
        selection=selection,
        status=Status(status),
        stopped=StopReason(stopped),
        objective=cost,
        bound=bound,
        method=settings.method,
        solver=settings.solver,
        seconds=0.0,
        cached=True,
    )
