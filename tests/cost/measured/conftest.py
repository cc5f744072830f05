"""Cost models that measure with a fake timer."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "egraph"))  # for `line` and `onnx_text`
sys.path.insert(0, str(Path(__file__).parent))  # for `fake_timer` and `measured_cases`

from fake_timer import SETTING, FakeTimer

from tensat_dl.cost.measured.cache import CostCache
from tensat_dl.cost.measured.model import MeasuredModel
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.language.program import CheckedProgram


@pytest.fixture
def measured_model(tmp_path: Path):
    """Makes a model `measured` with a fake timer; its cache is in the test's directory."""

    def make(
        timer: FakeTimer,
        program: CheckedProgram | None = None,
        *,
        budget: float = 60.0,
        cache: Path | None = tmp_path / "costs.sqlite",
    ) -> MeasuredModel:
        return MeasuredModel(
            program=program,
            opsets={"": 21},
            sizes=SymbolSizes(16),
            setting=SETTING,
            timer=timer,
            estimate=lambda part: 0.5,
            budget=budget,
            cache=None if cache is None else CostCache(cache),
        )

    return make
