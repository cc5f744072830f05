"""What a graph says of a model: constants, inputs, types, opaque nodes, captured values."""

import pickle
from dataclasses import replace

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.model import Graph, Node
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.settings import ModelSettings
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dims import symbol
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import OperatorKind
from tensat_dl.vocabulary.types import (
    MAX_FLOAT_VALUE_ELEMENTS,
    UNDECLARED,
    OtherType,
    TensorType,
)

PLAIN = ModelSettings()
HEAD = '<ir_version: 9, opset_import: ["": 21, "acme": 1, "loc": 1]>'


def read(text: str, settings: ModelSettings = PLAIN) -> Graph:
    return read_model(parser.parse_model(HEAD + text), settings)


def node_of(graph: Graph, output: str) -> Node:
    return next(node for node in graph.nodes if output in node.outputs)


def test_equal_content_has_an_equal_digest_wherever_it_is() -> None:
    graph = read(
        "g (float[2] x) => (float[2] y)"
        "<float[2] a = {1,2}, float[2] b = {1,2}, float[2] c = {2,1}>"
        "{ d = Constant<value_floats = [1.0, 2.0]>() e = Sum(x, a, b, c, d) y = Relu(e) }"
    )
    digests = {name: constant.digest for name, constant in graph.constants.items()}
    assert digests["a"] == digests["b"] == digests["d"] != digests["c"]
    assert digests["a"] == constant_of_array(np.array([1, 2], np.float32)).digest
    assert digests["a"] != constant_of_array(np.array([[1, 2]], np.float32)).digest
    assert digests["a"] != constant_of_array(np.array([1, 2], np.float64)).digest


def test_raw_and_typed_fields_have_one_digest() -> None:
    raw = numpy_helper.from_array(np.array([1, 0, 1], np.bool_), "r")
    typed = helper.make_tensor("t", TensorProto.BOOL, [3], [1, 0, 1])
    half = numpy_helper.from_array(np.array([1.5, -2], np.float16), "h")
    typed_half = helper.make_tensor("i", TensorProto.FLOAT16, [2], [1.5, -2.0])
    proto = parser.parse_model(HEAD + "g (float[2] x) => (float[2] y) { y = Relu(x) }")
    proto.graph.initializer.extend([raw, typed, half, typed_half])
    constants = read_model(proto, ModelSettings()).constants
    assert constants["r"].digest == constants["t"].digest
    assert constants["h"].digest == constants["i"].digest


def test_every_kind_of_constant_node() -> None:
    graph = read(
        "g (float x) => (float y) {"
        " a = Constant<value_int = 3>() b = Constant<value_ints = [1, 2]>()"
        ' c = Constant<value_float = 0.5>() d = Constant<value_strings = ["p", "q"]>()'
        ' e = Constant<value = int32[2] {7, 8}>() f = Constant<value_string = "z">()'
        " y = Relu(x) }"
    )
    constants = graph.constants
    assert (constants["a"].value, constants["a"].dims) == ((3,), ())
    assert (constants["b"].value, constants["b"].dims) == ((1, 2), (2,))
    assert constants["c"].load() == np.float32(0.5)
    assert list(constants["d"].load()) == ["p", "q"]
    assert (constants["e"].dtype, constants["e"].value) == (DType.I32, (7, 8))
    assert (constants["f"].dtype, constants["f"].dims) == (DType.STRING, ())
    assert [node.operator.name for node in graph.nodes] == ["Relu"]


def test_texts_are_bytes() -> None:
    """Vocabularies of tokenizers cut characters into parts."""
    proto = parser.parse_model(
        HEAD + "g (bool[2] x) => (bool[2] y) { e = Equal(s, t) y = Or(x, e) }"
    )
    content = [b"\xc3", b"\xff\x00"]
    proto.graph.initializer.add(name="s", data_type=8, dims=[2], string_data=content)
    node = helper.make_node("Constant", [], ["t"])
    node.attribute.add(name="value_strings", type=onnx.AttributeProto.STRINGS, strings=content)
    proto.graph.node.insert(0, node)
    graph = read_model(proto, ModelSettings())
    assert graph.constants["s"].digest == graph.constants["t"].digest
    after = build_proto(graph).graph
    assert list(after.initializer[0].string_data) == content


def test_an_attribute_that_is_no_number_equals_itself() -> None:
    """As of an Imputer, after a way through another process."""
    nan, other = (Attributes.of({"a": (float("nan"), 1.0)}) for _ in range(2))
    assert pickle.loads(pickle.dumps(nan)) == other
    assert hash(nan) == hash(other)
    assert nan != Attributes.of({"a": (0.0, 1.0)})
    assert Attributes.of({"a": -0.0}) != Attributes.of({"a": 0.0})


@pytest.mark.parametrize(
    ("array", "value"),
    [
        (np.arange(64), tuple(range(64))),
        (np.arange(65), None),
        (np.array([True, False]), (True, False)),
        (np.float32(0.5), (0.5,)),
        (np.float32("nan"), None),
        (np.full(MAX_FLOAT_VALUE_ELEMENTS + 1, 0.5, np.float32), None),
        (np.zeros((0, 2), np.int64), ()),
        (np.array([2 + 1j]), None),
    ],
)
def test_small_values_are_known(array: np.ndarray, value: object) -> None:
    assert constant_of_array(np.asarray(array)).value == value


@pytest.mark.parametrize(
    ("array", "fill"),
    [
        (np.zeros((3, 300), np.float32), 0.0),
        (np.full(65, 7), 7),
        (np.ones((9, 9), np.bool_), True),
        (np.float32(0.5), None),  # a value
        (np.r_[np.zeros(500), 1.0], None),
        (np.full(9, np.nan), None),
        (np.full(9, "a"), None),
    ],
)
def test_the_one_number_in_a_large_constant_is_known(array: np.ndarray, fill: object) -> None:
    constant = constant_of_array(np.asarray(array))
    assert constant.fill == fill
    assert type(constant.fill) is type(fill)


def test_dims_of_inputs() -> None:
    proto = parser.parse_model(HEAD + "g (float[N,?,4] x) => (float[N,M,4] y) { y = Relu(x) }")
    graph = read_model(proto, ModelSettings())
    assert graph.types["x"] == TensorType(DType.F32, (symbol("N"), symbol("x.1"), 4))
    assert graph.types["y"] == graph.types["x"]
    fixed = read_model(proto, ModelSettings(dims={"N": 2, "x.1": 3}))
    assert fixed.types["y"] == TensorType(DType.F32, (2, 3, 4))


def test_declared_output_shapes_are_not_trusted() -> None:
    graph = read("g (float[2,3] x) => (float[7] y) { a = Relu(x) y = Neg(a) }")
    assert graph.types["y"] == TensorType(DType.F32, (2, 3))


def test_inputs_are_padded_to_the_schema() -> None:
    graph = read("g (float[1,1,4] x) => (float[1,1,4] y) { y = Clip(x) }")
    assert graph.nodes[0].inputs == ("x", None, None)


def test_unused_optional_outputs_are_cut_and_others_named() -> None:
    graph = read(
        "g (float[4] x) => (float[2] i) <int64[1] k = {2}> { d, m = Dropout(x) v, i = TopK(d, k) }"
    )
    assert node_of(graph, "d").outputs == ("d",)
    assert node_of(graph, "i").outputs == ("v", "i")
    blank = read("g (float[4] x) => (int64[2] i) <int64[1] k = {2}> { , i = TopK(x, k) }")
    (first, second) = node_of(blank, "i").outputs
    assert (bool(first), second) == (True, "i")


def test_unknown_domains_are_opaque_with_declared_types() -> None:
    graph = read(
        "g (float[3] x) => (float[3] y) <float[3] b>"
        "{ a = acme.Op<k = 2>(x) b = acme.Op(a) y = Relu(b) }"
    )
    op = node_of(graph, "a").operator
    assert (op.kind, op.domain, op.name) == (OperatorKind.OPAQUE, "acme", "Op")
    assert not op.deterministic
    assert node_of(graph, "a").attributes.as_dict() == {"k": 2}
    assert graph.types["a"] == UNDECLARED
    assert graph.types["b"] == TensorType(DType.F32, (3,))
    assert graph.types["y"] == TensorType(DType.F32, (3,))


def test_local_functions_are_opaque_with_inferred_types() -> None:
    text = HEAD + (
        "g (float[N] x) => (float[N] y) { a = loc.twice(x) y = Relu(a) }"
        '<domain: "loc", opset_import: ["": 21]> twice (p) => (q) { q = Add(p, p) }'
    )
    graph = read_model(parser.parse_model(text), ModelSettings())
    assert node_of(graph, "a").operator.kind is OperatorKind.OPAQUE
    assert graph.types["a"] == TensorType(DType.F32, (symbol("N"),))


CAPTURES = (
    "g (float[3] x, bool c) => (float[3] y) <float[3] w = {1,2,3}> { a = Relu(x)"
    " y = If(c) <else_branch = e () => (float[3] q) { q = Neg(a) },"
    "            then_branch = t () => (float[3] p) { b = Mul(a, w) p = Add(b, x) }> }"
)


def test_declarations_that_are_doubted_are_not_believed() -> None:
    """Of the branches one gives [3, 2], whatever it declares."""
    text = HEAD + (
        "g (float[2,3] x, bool c) => (float[A,B] y, float[A,B] z) <float[2,3] a>"
        "{ a = acme.Op(x) z = Relu(a) y = If(c) <"
        "  then_branch = t () => (float[2,3] p) <float[2,3] k> { k = Transpose(x) p = Neg(k) },"
        "  else_branch = e () => (float[2,3] q) { q = Neg(x) }> }"
    )
    told = read_model(parser.parse_model(text), ModelSettings())
    assert told.types["y"] == told.types["z"] == TensorType(DType.F32, (2, 3))
    assert set(told.source.believed) == {"a", "y"}
    doubted = read_model(parser.parse_model(text), ModelSettings(), doubted=True)
    assert doubted.types["a"] == UNDECLARED
    y = doubted.types["y"]
    assert isinstance(y, TensorType)
    assert y.dims is not None
    assert not {2, 3} & set(y.dims)


def test_captured_values_are_inputs() -> None:
    graph = read(CAPTURES)
    node = node_of(graph, "y")
    assert node.inputs == ("c", "a", "a", "w", "x")
    captured = [blob.captured for _, blob in node.attributes.items]  # type: ignore[union-attr]
    assert captured == [("a",), ("a", "w", "x")]
    assert graph.types["y"] == TensorType(DType.F32, (3,))


def test_nested_subgraphs_capture_through() -> None:
    graph = read(
        "g (float[3] x, bool c) => (float[3] y) { a = Relu(x)"
        " y = If(c) <then_branch = t () => (float[3] p) {"
        "   p = If(c) <then_branch = tt () => (float[3] u) { u = Neg(a) },"
        "              else_branch = ee () => (float[3] v) { v = Abs(a) }> },"
        " else_branch = e () => (float[3] q) { q = Neg(x) }> }"
    )
    assert node_of(graph, "y").inputs == ("c", "x", "c", "a")


def test_sequences_and_optionals_have_types() -> None:
    graph = read(
        "g (float[3] x) => (float[3] y) <int64 i = {0}>"
        "{ s = SequenceConstruct(x, x) t = SequenceAt(s, i) y = Relu(t) }"
    )
    assert isinstance(graph.types["s"], OtherType)
    assert "seq" in graph.types["s"].text


def test_overridable_initializers_are_inputs() -> None:
    proto = overridable()
    graph = read_model(proto, ModelSettings())
    assert graph.inputs == ("x", "k")
    assert not graph.constants
    frozen = read_model(proto, ModelSettings(freeze_initializers=True))
    assert frozen.inputs == ("x",)
    assert list(frozen.constants) == ["k"]
    old = onnx.ModelProto()
    old.CopyFrom(proto)
    old.ir_version = 3
    assert read_model(old, ModelSettings()).inputs == ("x",)


def overridable() -> onnx.ModelProto:
    k = numpy_helper.from_array(np.ones(3, np.float32), "k")
    values = [helper.make_tensor_value_info(n, 1, [3]) for n in ("x", "k", "y")]
    body = helper.make_graph(
        [helper.make_node("Mul", ["x", "k"], ["y"])], "g", values[:2], values[2:], [k]
    )
    return helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)


def test_unsorted_nodes_are_sorted() -> None:
    proto = parser.parse_model(
        HEAD + "g (float[3] x) => (float[3] y) { a = Relu(x) b = Neg(a) y = Abs(b) }"
    )
    nodes = list(proto.graph.node)
    del proto.graph.node[:]
    proto.graph.node.extend([nodes[2], nodes[0], nodes[1]])
    graph = read_model(proto, ModelSettings())
    assert [node.operator.name for node in graph.nodes] == ["Relu", "Neg", "Abs"]
    assert [node.index for node in graph.nodes] == [1, 2, 0]


def test_old_opsets_pass_through_with_a_warning() -> None:
    proto = parser.parse_model(
        '<ir_version: 4, opset_import: ["": 6]> g (float[3] x) => (float[3] y) { y = Relu(x) }'
    )
    graph = read_model(proto, ModelSettings())
    assert graph.nodes[0].operator.kind is OperatorKind.OPAQUE
    assert "ai.onnx 6" in graph.source.warnings[0]
    assert graph.types["y"] == TensorType(DType.F32, (3,))


def test_a_node_without_a_type_is_left_as_it_is() -> None:
    """ONNX itself accepts wrong channel counts; whoever runs it will say so."""
    graph = read("g (float[1,4,8,8] x, float[2,3,3,3] w) => (float[1,2,6,6] y) { y = Conv(x, w) }")
    assert graph.nodes[0].operator.kind is OperatorKind.OPAQUE
    assert "Conv node number 0 is left as it is" in graph.source.warnings[0]


def test_sparse_initializers_are_constants() -> None:
    values = numpy_helper.from_array(np.array([5, 7], np.float32), "s")
    indices = numpy_helper.from_array(np.array([1, 3], np.int64), "i")
    sparse = helper.make_sparse_tensor(values, indices, [2, 3])
    proto = parser.parse_model(HEAD + "g (float[2,3] x) => (float[2,3] y) { y = Add(x, s) }")
    proto.graph.sparse_initializer.append(sparse)
    graph = read_model(proto, ModelSettings())
    np.testing.assert_array_equal(graph.constants["s"].load(), [[0, 5, 0], [7, 0, 0]])
    assert graph.types["y"] == TensorType(DType.F32, (2, 3))


def test_constants_of_bundled_types_pickle() -> None:
    graph = read("g (float[2] x) => (float[2] y) <float[2] a = {1,2}> { y = Add(x, a) }")
    copy = pickle.loads(pickle.dumps(graph.constants["a"]))
    assert copy == replace(graph.constants["a"])
    np.testing.assert_array_equal(copy.load(), [1, 2])
