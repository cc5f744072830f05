"""Comparisons of whole models that are kept: a repeated run need not time both again.

Enters: what was compared, and a cost cache.  Leaves: the comparison of an earlier run, or a new
one.  It holds for the same content of both models and the same conditions, under the same setting
as any measurement, and for the code that compares as that is now.  Those that time did not suffice
for are not kept, nor those in which noise hides what is faster: they would still decide when the
machine is quiet again.  A cache that fails here is no news: the measurements of operators came out
of it before.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass, fields, replace
from functools import cache
from pathlib import Path
from typing import Any

from tensat_dl.cache import digest_of_makers
from tensat_dl.cost.measured.cache import CacheFault, CostCache
from tensat_dl.cost.measured.comparison import Comparison, Conditions
from tensat_dl.cost.measured.machine import Setting


def pair_key(before: str, after: str, conditions: Conditions) -> str:
    """The key of a comparison of two models of these digests; "" where one of them is none."""
    if not (before and after):
        return ""
    given = b""
    if conditions.input_data:
        given = hashlib.sha256(Path(conditions.input_data).read_bytes()).digest()
    dims = sorted(conditions.dims.items())
    under = f"{before} {after} {dims} {conditions.sizes} {given.hex()} {_code()}"
    return hashlib.sha256(under.encode()).hexdigest()


@cache
def _code() -> str:
    """A digest of the modules that time both models and judge the times."""
    here = Path(__file__).parent
    return digest_of_makers(here / f"{name}.py" for name in ("comparison", "rounds", "timer"))


@dataclass(frozen=True)
class KeptComparisons:
    """Those in `cache` under `setting`; `anew`: none of an earlier run will do."""

    cache: CostCache
    setting: Setting
    anew: bool = False

    def get(self, key: str, compare: Callable[[], Comparison]) -> Comparison:
        """The comparison that was kept under `key`, else `compare()`, which then is."""
        found = None if self.anew or not key else self._find(key)
        if found is not None:
            return replace(found, cached=True)
        made = compare()
        if key and made.tells:
            with contextlib.suppress(CacheFault):
                self.cache.keep_comparison(self.setting, key, json.dumps(asdict(made)))
        return made

    def _find(self, key: str) -> Comparison | None:
        with contextlib.suppress(CacheFault, ValueError, RecursionError):
            return _read(json.loads(self.cache.comparison(self.setting, key)))
        return None


def _read(content: Any) -> Comparison | None:
    """What was kept, None where it is something else: SQLite takes any value."""
    known = {field.name for field in fields(Comparison)}
    if not isinstance(content, dict) or content.keys() != known:
        return None
    found = Comparison(**content)
    times = (found.before, found.after, found.ratio, found.low, found.high)
    if not all(type(time) is float and 0 < time < math.inf for time in times):
        return None
    sizes = found.sizes.values() if isinstance(found.sizes, dict) else [None]
    counts = (found.rounds, found.threads, *sizes)
    if not all(type(count) is int and count >= 0 for count in counts):
        return None
    return found if found.tells and found.low <= found.ratio <= found.high else None
