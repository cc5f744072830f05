"""Puts the model `measured` together from the settings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from tensat_dl.cache import kept_costs
from tensat_dl.cost.measured.cache import CostCache
from tensat_dl.cost.measured.machine import this_setting, threads_for_timing
from tensat_dl.cost.measured.model import MeasuredModel
from tensat_dl.cost.measured.timer import OrtTimer
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Part
from tensat_dl.language.program import CheckedProgram
from tensat_dl.settings import CostSettings

_NOWHERE = (
    "there is no cache directory for measurements, so that the next run measures anew: name a file"
    " with --cost-cache"
)


def make_measured_model(
    settings: CostSettings,
    program: CheckedProgram | None,
    opsets: Mapping[str, int],
    estimate: Callable[[Part], float],
    sizes: SymbolSizes,
) -> MeasuredModel:
    """The model; `estimate` prices what cannot be timed.  A user without a cache directory, and
    without a file of their own choice, keeps nothing."""
    path = cache_path(settings.cache)
    kept = bool(settings.cache) or path.is_absolute()
    threads, busy = threads_for_timing(settings.threads)
    notes = [busy, "" if kept else _NOWHERE]
    return MeasuredModel(
        program=program,
        opsets=opsets,
        sizes=sizes,
        setting=this_setting(threads),
        timer=OrtTimer(threads),
        estimate=estimate,
        budget=settings.measure_seconds,
        cache=CostCache(path) if kept else None,
        margin=settings.margin,
        notes=[note for note in notes if note],
    )


def cache_path(chosen: str = "") -> Path:
    """The cache that `cost.cache` names; by default that of the user."""
    return Path(chosen) if chosen else kept_costs()
