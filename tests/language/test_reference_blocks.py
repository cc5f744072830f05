"""The complete examples of `grammar/README.md` are rule files without a problem."""

from __future__ import annotations

import re

import pytest

from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_text
from tensat_dl.resources import data_directory

REFERENCE = (data_directory("grammar") / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```tsat\n(.*?)^```", REFERENCE, re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.strip().split("\n")[0][:30])
def test_example(block: str) -> None:
    diagnostics = Diagnostics()
    assert load_text(block, "example.tsat", diagnostics) is not None
    assert [found.message for found in diagnostics] == []
