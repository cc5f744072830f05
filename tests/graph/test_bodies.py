"""The types by which a body of control flow is read: those that hold in every iteration."""

from __future__ import annotations

import onnx
import pytest
from onnx import numpy_helper, parser

from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.source import Source
from tensat_dl.settings import ModelSettings


def types_inside(text: str) -> dict[str, dict[str, list[int | str | None]]]:
    """Body -> what it reads and gives -> dims: a number, a name, or None where nothing is known."""
    found = {}

    def record(body: Source) -> None:
        graph = body.proto.graph
        found[graph.name] = {v.name: dims(v) for v in (*graph.input, *graph.output)}

    proto = parser.parse_model('<ir_version: 9, opset_import: ["": 18]> g ' + text)
    onnx.checker.check_model(proto)
    read_model(proto, ModelSettings(), improve=record)
    return found


def dims(value: onnx.ValueInfoProto) -> list[int | str | None]:
    found: list[int | str | None] = []
    for dim in value.type.tensor_type.shape.dim:
        named = dim.dim_param if not dim.dim_param.startswith("inside_") else None
        found.append(dim.dim_value if dim.HasField("dim_value") else named or None)
    return found


LOOP = """(int64 n, float[B, 2] x) => (float[B, 2] y, float[k, 2] z) {
    y, z = Loop(n, "", x, x) <body = body (int64 i, bool go, float[7, 7] h, float[B, 2] all)
        => (bool on, float[7, 7] h2, float[B, 2] all2) {
            on = Identity(go)
            a = Neg(h) h2 = Add(a, x)
            all2 = Concat<axis=0>(all, h2)
        }>
}"""


def test_what_a_loop_declares_is_not_believed() -> None:
    inside = types_inside(LOOP)["body"]
    assert inside["h"] == inside["h2"] == ["B", 2]
    assert inside["all"] == [None, 2]
    assert inside["i"] == inside["go"] == []


CHAINED = """(int64 n, float[2] x) => (float[p] y, float[q] z) {
    y, z = Loop(n, "", x, x) <body = body (int64 i, bool go, float[2] a, float[2] b)
        => (bool on, float[2] a2, float[2] b2) {
            on = Identity(go)
            a2 = Identity(b) b2 = Concat<axis=0>(b, x)
        }>
}"""


def test_what_changes_an_iteration_later_is_not_known_either() -> None:
    """`a` has two elements in the first two iterations."""
    inside = types_inside(CHAINED)["body"]
    assert inside["a"] == inside["b"] == [None]


RANK = """(int64 n, float[2] x) => (float y) {
    y = Loop(n, "", x) <body = body (int64 i, bool go, float a) => (bool on, float a2) {
            on = Identity(go) axis = Constant<value_ints=[0]>()
            a2 = Unsqueeze(a, axis)
        }>
}"""


def test_a_body_whose_ranks_change_is_left_alone() -> None:
    assert types_inside(RANK) == {}


UNREAD = """(int64 n, float[B, 2] x) => (float[B, 2] y) {
    y = Loop(n, "", x) <body = body (int64[1] i, bool[1] go, float[B, 2] a)
        => (bool on, float[B, 2] a2) {
            on = Constant<value = bool {1}>()
            b = Neg(a) a2 = Add(b, x)
        }>
}"""


def test_what_the_body_does_not_read_may_change_its_rank() -> None:
    """The condition is a vector in the first iteration, and a scalar later."""
    inside = types_inside(UNREAD)["body"]
    assert inside["a"] == inside["a2"] == ["B", 2]
    assert (inside["go"], inside["on"]) == ([1], [])
    assert types_inside(UNREAD.replace("Neg(a)", "Where(go, a, x)")) == {}


SCAN = """(float[2] start, float[3, T, 5] xs) => (float[2] last, float[T, 2] sums) {
    last, sums = Scan <num_scan_inputs = 1, scan_input_axes = [AXIS], body = body
        (float[2] h, float[a, b] x) => (float[2] h2, float[2] out) {
            r = ReduceSum<keepdims=0>(x) h2 = Add(h, r) out = Neg(h2)
        }> (start, xs)
}"""


@pytest.mark.parametrize(("axis", "slice_"), [("1", [3, 5]), ("-2", [3, 5]), ("0", ["T", 5])])
def test_a_scan_is_given_slices(axis: str, slice_: list[int | str]) -> None:
    inside = types_inside(SCAN.replace("AXIS", axis))["body"]
    assert inside["x"] == slice_
    assert inside["h"] == inside["out"] == [2]


UNNAMED = """(int64 n, float[?, 2] h) => (float[k, 2] y) {
    b = Relu(h)
    y = Loop(n, "", h) <body = body (int64 i, bool go, float[a, 2] h) => (bool on, float[c, 2] h2) {
            on = Identity(go) h2 = Concat<axis=0>(h, b)
        }>
}"""


@pytest.mark.parametrize("dim", ["?", "h.0", "inside_0"])
def test_what_changes_has_the_name_of_nothing_else(dim: str) -> None:
    """A dim of the input `h` that has no name is called `h.0` elsewhere."""
    names = {}

    def record(body: Source) -> None:
        for value in body.proto.graph.input:
            names[value.name] = [d.dim_param for d in value.type.tensor_type.shape.dim][:1]

    proto = parser.parse_model('<ir_version: 9, opset_import: ["": 18]> g ' + UNNAMED)
    proto.graph.input[1].type.tensor_type.shape.dim[0].dim_param = dim
    read_model(proto, ModelSettings(), improve=record)
    assert names["h"][0] and names["b"][0] and names["h"] != names["b"]


@pytest.mark.parametrize(
    "text",
    [
        SCAN.replace("AXIS", "5"),
        SCAN.replace("[AXIS]", "[0, 0]"),
        SCAN.replace("num_scan_inputs = 1, ", "").replace("[AXIS]", "[0]"),
        CHAINED.replace('y, z = Loop(n, "", x, x)', 'y, z = Loop(n, "", x, x, x)'),
    ],
    ids=["axis", "axes", "no number", "outputs"],
)
def test_invalid_nodes_are_left_to_onnxruntime(text: str) -> None:
    seen = []
    proto = parser.parse_model('<ir_version: 9, opset_import: ["": 18]> g ' + text)
    read_model(proto, ModelSettings(), improve=seen.append)
    assert seen == []


def test_what_the_model_only_declares_is_not_handed_in() -> None:
    """No sample need take the branch, which would show that the declaration is wrong."""
    text = """(bool c, float[N, N] w) => (float[a, b] y) {
        u = com.microsoft.Unheard(w)
        y = If(c) <
            then_branch = t () => (float[a, b] p) { r = Relu(u) p = Relu(r) },
            else_branch = e () => (float[a, b] q) { s = Relu(w) q = Relu(s) }
        >
    }"""
    proto = parser.parse_model(
        '<ir_version: 9, opset_import: ["": 18, "com.microsoft": 1]> g ' + text
    )
    u = onnx.helper.make_tensor_value_info("u", onnx.TensorProto.FLOAT, [2, 2])
    proto.graph.value_info.append(u)
    seen = []
    read_model(proto, ModelSettings(), improve=lambda body: seen.append(body.proto.graph.name))
    assert seen == ["e"]


def test_what_follows_from_shapes_is_handed_in() -> None:
    """Without it few samples of a body alone would fit together."""
    text = """(bool c, float[3, 5] x, float[3, N] z) => (float[a, b, d] y) {
        d = Shape(x) seven = Constant<value_ints=[7]>() s = Concat<axis=0>(seven, d)
        open = Shape(z)
        y = If(c) <
            then_branch = t () => (float[a, b, d] p) { u = Relu(x) p = Expand(u, s) },
            else_branch = e () => (float[a, b, d] q) { v = Relu(x) q = Expand(v, open) }
        >
    }"""
    known = {}

    def record(body: Source) -> None:
        tensors = body.proto.graph.initializer
        known[body.proto.graph.name] = {t.name: numpy_helper.to_array(t).tolist() for t in tensors}

    proto = parser.parse_model('<ir_version: 9, opset_import: ["": 18]> g ' + text)
    read_model(proto, ModelSettings(), improve=record)
    assert known == {"t": {"s": [7, 3, 5]}, "e": {}}
