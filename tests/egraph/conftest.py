"""The whole line on small models, for the tests of exploration."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for `line`, `models` and `term`

from line import Line


@pytest.fixture
def line(tmp_path: Path) -> Line:
    """Optimises models with rules that are given as text."""
    return Line(tmp_path)
