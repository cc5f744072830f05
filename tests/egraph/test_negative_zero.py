"""-0.0 equals 0.0, but its reciprocal is another: nodes and constants with it stay apart."""

from __future__ import annotations

import numpy as np
import onnx
import onnxruntime
import pytest
from line import Line
from onnx import numpy_helper
from onnx_text import model

from tensat_dl.graph.constants import constant_of_array

INPUT = np.array([-1, 2], np.float32)


def computed(proto: onnx.ModelProto) -> list[list[float]]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(proto.SerializeToString(), options)
    return [list(map(float, output)) for output in session.run(None, {"x": INPUT})]


@pytest.mark.parametrize("operator", ["Elu", "LeakyRelu"])
def test_attributes(line: Line, operator: str) -> None:
    proto = model(
        f"(float[2] x) => (float[2] y, float[2] z) {{ a = {operator}<alpha = 0.0>(x) "
        f"b = {operator}<alpha = 1.0>(x) y = Reciprocal(a) z = Reciprocal(b) }}"
    )
    proto.graph.node[1].attribute[0].f = -0.0
    answer = line("rewrite r: Relu(Relu(x)) => Relu(x)", proto)
    assert computed(answer.model) == [[-np.inf, 0.5], [np.inf, 0.5]]


def test_values_that_a_rule_reads(line: Line) -> None:
    """The rule makes 0.0 of 0.0, and may not take -0.0 for that."""
    proto = model(
        "(float[2] x) => (float[2] y, float[2] z) <float zero = {0.0}, float least = {1.0}> "
        "{ a = Abs(x) b = Abs(a) y = Div(b, zero) z = Div(b, least) }"
    )
    proto.graph.initializer[1].CopyFrom(numpy_helper.from_array(np.float32(-0.0), "least"))
    rules = "rewrite r: Div(Abs(x), c: f32[]) => Div(x, f32(value(c)))"
    answer = line(rules, proto)
    assert computed(answer.model) == [[np.inf, np.inf], [-np.inf, -np.inf]]


@pytest.mark.parametrize("elements", [1, 2, 100])
def test_constants(elements: int) -> None:
    zeros = np.zeros(elements, np.float32)
    mixed = np.array([0.0, -0.0] * elements, np.float16)
    assert constant_of_array(-zeros).value is constant_of_array(-zeros).fill is None
    assert constant_of_array(mixed).value is constant_of_array(mixed).fill is None
    known = constant_of_array(zeros)
    assert known.value == (0.0,) * elements or known.fill == 0.0
