"""Folding gives what numpy gives, stays within its budget, and leaves alone what it must."""

import time
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, parser

from tensat_dl.graph.folding.fold import fold_constants
from tensat_dl.graph.model import Graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.verifying.verify import verify
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.settings import ExportSettings, ModelSettings, VerifySettings

HEAD = '<ir_version: 9, opset_import: ["": 21]>'
SETTINGS = ExportSettings()


def graph(text: str, head: str = HEAD, **weights: np.ndarray) -> Graph:
    proto = parser.parse_model(head + text)
    for name, array in weights.items():
        proto.graph.initializer.append(numpy_helper.from_array(array, name))
    return read_model(proto, ModelSettings())


def operators(folded: Graph) -> list[str]:
    return [node.operator.name for node in folded.nodes]


def rand(*dims: int) -> np.ndarray:
    return np.random.default_rng(0).standard_normal(dims).astype(np.float32)


def test_a_chain_becomes_one_constant() -> None:
    w, s = rand(4, 3), rand(3)
    text = (
        "g (float[N,3] x) => (float[N,4] y)"
        "{ a = Mul(w, s) t = Transpose<perm=[1,0]>(a) y = MatMul(x, t) }"
    )
    folded = fold_constants(graph(text, w=w, s=s), SETTINGS)
    assert operators(folded) == ["MatMul"]
    assert list(folded.constants) == ["t"]
    np.testing.assert_array_equal(folded.constants["t"].load(), (w * s).T)


def test_several_values_at_once_and_one_that_is_an_output() -> None:
    w = rand(2, 2)
    text = (
        "g (float[2,2] x) => (float[2,2] y, float[2,2] n)"
        "{ n = Neg(w) e = Exp(w) a = Add(x, e) y = Mul(a, n) }"
    )
    before = graph(text, w=w)
    folded = fold_constants(before, SETTINGS)
    assert operators(folded) == ["Add", "Mul"]
    np.testing.assert_array_equal(folded.constants["n"].load(), -w)
    assert verify(build_proto(before), build_proto(folded), VerifySettings()).ok


@pytest.mark.parametrize(
    ("onnx_type", "numpy_type"),
    [("float16", "float16"), ("double", "float64"), ("int8", "int8"), ("bool", "bool")],
)
def test_element_types_stay(onnx_type: str, numpy_type: str) -> None:
    w = np.array([0, 1, 1]).astype(numpy_type)
    text = (
        f"g ({onnx_type}[1] x) => ({onnx_type}[6] y)"
        "{ c = Concat<axis=0>(w, w) y = Identity(c) z = Identity(x) }"
    )
    folded = fold_constants(graph(text, w=w), SETTINGS)
    (constant,) = folded.constants.values()
    assert constant.load().dtype == w.dtype
    np.testing.assert_array_equal(constant.load(), np.concatenate([w, w]))


@pytest.mark.parametrize(
    ("name", "opset"),
    [("bfloat16", 21), ("float8_e4m3fn", 21), ("int4", 21), ("float4_e2m1fn", 23), ("int2", 25)],
)
def test_types_that_numpy_does_not_have(name: str, opset: int) -> None:
    import ml_dtypes

    w = np.array([1, 0, 1]).astype(getattr(ml_dtypes, name))
    code = helper.np_dtype_to_tensor_dtype(w.dtype)
    text = (
        "g (float[3] x) => (float[3,1] y) <int64[2] s = {3,1}>"
        "{ r = Reshape(w, s) y = Cast<to=1>(r) }"
    )
    head = HEAD.replace("21", str(opset))
    folded = fold_constants(graph(text, head, w=w), SETTINGS)
    assert operators(folded) == []
    reshaped = fold_constants(graph(text.replace("Cast<to=1>", "Identity"), head, w=w), SETTINGS)
    (constant,) = reshaped.constants.values()
    assert constant.dtype.onnx_code == code
    np.testing.assert_array_equal(constant.load().astype(np.float32), [[1], [0], [1]])


def test_the_budget_holds() -> None:
    text = (
        "g (float[N,512] x) => (float[N,512] y) <int64[2] s = {512,512}>"
        "{ big = Expand(c, s) small = Neg(c) a = Add(small, c) m = MatMul(x, big) y = Mul(m, a) }"
    )
    c = rand(512)
    none = ExportSettings(fold_ratio=0.1, fold_bytes=0)
    nothing = fold_constants(graph(text, c=c), none)
    assert operators(nothing) == ["Expand", "Neg", "Add", "MatMul", "Mul"]
    tight = fold_constants(graph(text, c=c), ExportSettings(fold_ratio=0.1, fold_bytes=4096))
    assert operators(tight) == ["Expand", "MatMul", "Mul"]
    loose = fold_constants(graph(text, c=c), ExportSettings(fold_bytes=1 << 21))
    assert operators(loose) == ["MatMul", "Mul"]


def test_what_depends_on_a_value_over_the_budget_is_folded_all_the_same() -> None:
    text = (
        "g (float[N,512] x) => (float[N,512] y) <int64[2] s = {512,512}, int64[1] z = {0}>"
        "{ big = Expand(c, s) t = ReduceSum<keepdims=0>(big, z) m = MatMul(x, big) y = Mul(m, t) }"
    )
    c = rand(512)
    folded = fold_constants(graph(text, c=c), ExportSettings(fold_bytes=1 << 19, fold_ratio=600))
    assert operators(folded) == ["MatMul", "Mul"]
    tight = fold_constants(graph(text, c=c), ExportSettings(fold_bytes=(1 << 20) - 1000))
    assert operators(tight) == ["Expand", "MatMul", "Mul"]
    np.testing.assert_allclose(tight.constants["t"].load(), 512 * c, rtol=1e-5)


def test_what_rules_made_is_folded_over_the_budget() -> None:
    """The cost counted it as a constant; what the source computes stays within the budget."""
    text = (
        "g (float[N,64] x) => (float[N,64] y)"
        "{ a = Neg(w) b = Abs(w) m = MatMul(x, a) n = MatMul(m, b) p = MatMul(n, w)"
        "  y = Identity(p) }"
    )
    none = ExportSettings(fold_bytes=0, fold_ratio=0)
    given = graph(text, w=rand(64, 64))
    assert operators(fold_constants(given, none)).count("MatMul") == 3
    assert {"Neg", "Abs"} <= set(operators(fold_constants(given, none)))
    made = replace(given, nodes=(replace(given.nodes[0], index=-1), *given.nodes[1:]))
    folded = operators(fold_constants(made, none))
    assert "Neg" not in folded
    assert "Abs" in folded


def test_choosing_is_not_quadratic() -> None:
    """1,000 values that are over the budget: each has to be left, one by one."""
    count = 1000
    lines = [f"e{i} = Expand(c{i}, s) m{i} = Mul(m{i - 1}, e{i})" for i in range(1, count)]
    head = f"g (float[9,9] m0) => (float[9,9] m{count - 1}) <int64[2] s = {{9,9}}> "
    text = head + "{" + " ".join(lines) + "}"
    weights = {f"c{i}": np.full(9, i, np.float32) for i in range(1, count)}
    given = graph(text, **weights)
    began = time.process_time()
    folded = fold_constants(given, ExportSettings(fold_bytes=1000, fold_ratio=0))
    assert time.process_time() - began < 2
    kept = operators(folded).count("Expand")
    # every constant that is folded adds 8 rows of 9 floats
    assert kept == count - 1 - 1000 // (8 * 9 * 4)


def test_what_does_not_grow_is_folded_without_a_budget() -> None:
    w = rand(300, 200)
    text = (
        "g (float[N,300] x) => (float[N,400] y)"
        "{ n = Neg(w) e = Concat<axis=1>(w, w) u = MatMul(x, n) v = MatMul(x, e)"
        "  y = Concat<axis=1>(u, u) z = Identity(v) }"
    )
    folded = fold_constants(graph(text, w=w), ExportSettings(fold_ratio=0, fold_bytes=0))
    assert operators(folded) == ["MatMul", "Concat"]
    assert list(folded.constants) == ["n"]


def test_quantisation_is_never_folded() -> None:
    q = np.array([1, 2], np.int8)
    text = (
        "g (float[2] x) => (float[2] y) <float s = {0.5}>"
        "{ d = DequantizeLinear(q, s) t = Neg(d) y = Add(x, t) }"
    )
    assert operators(fold_constants(graph(text, q=q), SETTINGS)) == [
        "DequantizeLinear",
        "Neg",
        "Add",
    ]


def test_random_operators_and_control_flow_are_never_folded() -> None:
    text = (
        "g (float[2] x) => (float[2] y) <bool c = {1}, int64 n = {3}>"
        "{ r = RandomNormalLike(w) a = Add(r, w)"
        "  i = Loop(n, c, w) <body = b (int64 k, bool go, float[2] v) => (bool on, float[2] u)"
        "                     { on = Identity(go) u = Neg(v) }>"
        "  b = Add(a, i) y = Add(x, b) }"
    )
    before = ["RandomNormalLike", "Add", "Loop", "Add", "Add"]
    assert operators(fold_constants(graph(text, w=rand(2)), SETTINGS)) == before


def test_dead_code_goes_and_inputs_stay() -> None:
    text = "g (float[3] x, float[3] u) => (float[3] y) { d = Mul(x, w) y = Relu(x) e = Neg(d) }"
    folded = fold_constants(graph(text, w=rand(3)), SETTINGS)
    assert operators(folded) == ["Relu"]
    assert not folded.constants
    assert folded.inputs == ("x", "u")


def test_overridable_initializers_are_not_folded() -> None:
    k = numpy_helper.from_array(rand(3), "k")
    values = [helper.make_tensor_value_info(n, 1, [3]) for n in ("x", "k", "y")]
    nodes = [helper.make_node("Neg", ["k"], ["n"]), helper.make_node("Add", ["x", "n"], ["y"])]
    body = helper.make_graph(nodes, "g", values[:2], values[2:], [k])
    proto = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    kept = fold_constants(read_model(proto, ModelSettings()), SETTINGS)
    assert operators(kept) == ["Neg", "Add"]
    frozen = fold_constants(read_model(proto, ModelSettings(freeze_initializers=True)), SETTINGS)
    assert operators(frozen) == ["Add"]
    assert [value.name for value in build_proto(frozen).graph.input] == ["x"]


def test_sizes_that_only_running_tells() -> None:
    w = np.array([0, 3, 0, 4], np.float32)
    text = "g (float[2] x) => (int64[1,2] y) { y = NonZero(w) z = Identity(x) }"
    folded = fold_constants(graph(text, w=w), SETTINGS)
    assert operators(folded) == []
    np.testing.assert_array_equal(folded.constants["y"].load(), [[1, 3]])
    onnx.checker.check_model(build_proto(folded))


def test_tensors_of_size_zero() -> None:
    w = np.zeros((0, 3), np.float32)
    text = (
        "g (float[2,3] x) => (float[2,3] y) { c = Concat<axis=0>(w, w) y = Concat<axis=0>(x, c) }"
    )
    folded = fold_constants(graph(text, w=w), SETTINGS)
    assert operators(folded) == ["Concat"]
    assert folded.constants["c"].dims == (0, 3)
