"""All of `std` at once, on one graph made of all the cases in which a rule acts.

Here the rules meet what other rules made, in combinations that nobody wrote down.
"""

from __future__ import annotations

import time
from collections.abc import Iterator

import onnx
import pytest
from alternatives import Explored, shipped
from comparisons import assert_equal
from onnx import compose
from small_models import build_model
from test_std_rules import CASES, MEMBERS, text_of

from tensat_dl.egraph.explore import explore
from tensat_dl.graph.read import read_model
from tensat_dl.settings import ExploreSettings, ModelSettings, RuleSettings


def texts() -> Iterator[str]:
    for case in CASES:
        if case.fires:
            yield text_of(case, MEMBERS[case.rule][0])


def one_graph() -> onnx.ModelProto:
    """Side by side: names are told apart by a prefix."""
    graph = onnx.GraphProto(name="together")
    for number, text in enumerate(dict.fromkeys(texts())):
        part = compose.add_prefix_graph(build_model(text).graph, f"m{number}_")
        graph.node.extend(part.node)
        graph.input.extend(part.input)
        graph.output.extend(part.output)
        graph.initializer.extend(part.initializer)
    imports = [onnx.helper.make_opsetid("", 21)]
    return onnx.helper.make_model(graph, opset_imports=imports, ir_version=10)


@pytest.mark.slow
def test_every_choice_computes_the_same() -> None:
    model = one_graph()
    program = shipped()
    graph = read_model(model, ModelSettings())
    started = time.monotonic()
    saturated = explore(graph, program, ExploreSettings(), RuleSettings())
    assert time.monotonic() - started < 30
    assert saturated.exploration.stopped_by in ("saturated", "schedule")
    explored = Explored(graph, program, saturated)
    for other in explored.models(seeds=range(6)):
        assert_equal(model, other, samples=1)
