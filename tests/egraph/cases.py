"""A rule at work: a text, a small graph, and the answer written down by hand."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from line import Line
from onnx_text import model, terms


@dataclass(frozen=True)
class Case:
    """`answer`: the term of the one output, or of each.  Where the cost is `ours`, `prices` are
    the rows of a cost model in which everything else costs 1."""

    name: str
    rules: str
    graph: str
    answer: str | Mapping[str, str]
    prices: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    opset: int = 17

    def __str__(self) -> str:
        return self.name


def found_and_expected(line: Line, case: Case) -> tuple[dict[str, str], dict[str, str]]:
    """Run the case; the line verifies the answer against the original."""
    proto = model(case.graph, case.opset)
    rules = f"{case.rules}\ncost model ours {{ {case.prices} _ = 1 }}\n"
    answer = line(rules, proto, cost="ours", **case.settings)
    expected = case.answer
    return terms(answer.model), {"y": expected} if isinstance(expected, str) else dict(expected)
