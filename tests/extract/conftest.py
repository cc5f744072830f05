"""E-graphs for the tests of extraction."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tensat_dl.extract.problem import Problem
from tensat_dl.extract.readers import read_egraph

sys.path.insert(0, str(Path(__file__).parent))  # for `oracle`
sys.path.insert(0, str(Path(__file__).parents[1] / "bench"))  # for `published_egraphs`

from published_egraphs import DATA


@pytest.fixture
def instance() -> Callable[[str], Problem]:
    """Reads a published e-graph by name; skips where they were not put beside the checkout."""

    def read(name: str) -> Problem:
        path = DATA / f"{name}.gz"
        if not path.exists():
            pytest.skip(f"{path} is not here")
        return read_egraph(path).problem

    return read
