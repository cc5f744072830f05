"""All of `std` at once, on one graph made of all the cases in which a rule acts.

Here the rules meet what other rules made, in combinations that nobody wrote down, and at the
element types that nobody had in mind.
"""

from __future__ import annotations

from collections.abc import Iterator

import onnx
import pytest
from alternatives import Explored, load
from comparisons import assert_equal
from small_models import build_model, side_by_side
from test_std_rules import CASES, MEMBERS, text_of

from tensat_dl.egraph.explore import explore
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.running.run import CannotRun, open_runner
from tensat_dl.graph.source import load_source
from tensat_dl.settings import ExploreSettings, ModelSettings, RuleSettings

#: All cases stand in one model, which has the newest operators that rules know.
OPSET = 23


#: Of other elements than f32, onnxruntime refuses these not before they are run.
SINGLE = ("LSTM(", "GRU(", "RNN(")


def texts() -> Iterator[str]:
    for case in CASES:
        if case.fires:
            yield text_of(case, MEMBERS[case.rule][0])


def runs(model: onnx.ModelProto) -> bool:
    """onnxruntime has not every operator for every element type."""
    try:
        open_runner(load_source(model))
    except CannotRun:
        return False
    return True


def parts(element: str) -> Iterator[onnx.ModelProto]:
    for text in dict.fromkeys(texts()):
        if element != "f32" and any(operator in text for operator in SINGLE):
            continue
        try:
            model = build_model(text.replace("f32", element), OPSET)
        except (onnx.checker.ValidationError, onnx.shape_inference.InferenceError):
            assert element != "f32", text
            continue
        if runs(model):
            yield model


@pytest.mark.slow
@pytest.mark.parametrize("element", ["f32", "f16", "f64", "i32"])
def test_every_choice_computes_the_same(element: str) -> None:
    model = side_by_side(parts(element))
    program = load("std")
    graph = read_model(model, ModelSettings())
    saturated = explore(graph, program, ExploreSettings(seconds=200), RuleSettings())
    assert saturated.exploration.stopped_by in ("saturated", "schedule")
    explored = Explored(graph, program, saturated)
    for other in explored.models(seeds=range(2)):
        assert_equal(model, other, samples=1)
