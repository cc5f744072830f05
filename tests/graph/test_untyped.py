"""Which nodes rules pass over for want of types, and which values are to blame."""

from __future__ import annotations

import onnx.parser
import pytest

from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.untyped import find_untyped
from tensat_dl.settings import ModelSettings


@pytest.mark.parametrize(
    ("body", "declared", "nodes", "values"),
    [
        ("a = my.Op(x) b = Relu(a) y = Neg(b)", "", ["b", "y"], ["a"]),
        ("a = my.Op(x) b = Relu(a) y = Neg(b)", "float[2] a", [], []),
        # The first custom operator needs no type for what the second one makes of it.
        ("a = my.Op(x) b = my.Op(a) y = Neg(b)", "", ["y"], ["b"]),
        ("a = my.Op(x) b = my.Op(x) y = Add(a, b)", "", ["y"], ["a", "b"]),
        ("a = Relu(x) y = my.Op(a)", "", [], []),
    ],
)
def test_what_is_passed_over(body: str, declared: str, nodes: list[str], values: list[str]) -> None:
    text = f"""<ir_version: 8, opset_import: ["" : 17, "my" : 1]>
    g (float[2] x) => (float[2] y) <{declared}> {{ {body} }}"""
    found = find_untyped(read_model(onnx.parser.parse_model(text), ModelSettings()))
    assert [node.outputs[0] for node in found.nodes] == nodes
    assert list(found.values) == values
