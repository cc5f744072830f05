"""What is written: names, interface, outputs that are inputs, captured values, old IR versions."""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper, parser

from tensat_dl.graph.constants import constant_of_array
from tensat_dl.graph.model import Graph, Node, Output
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.writing.write import build_model, build_proto
from tensat_dl.settings import ModelSettings
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.operators import OperatorKind

PLAIN = ModelSettings()
HEAD = '<ir_version: 9, opset_import: ["": 21]>'


def read(text: str, settings: ModelSettings = PLAIN) -> Graph:
    return read_model(parser.parse_model(HEAD + text), settings)


def written(graph: Graph) -> onnx.ModelProto:
    proto = build_proto(graph)
    onnx.checker.check_model(proto, full_check=True)
    return proto


def run(proto: onnx.ModelProto, **feeds: object) -> dict[str, np.ndarray]:
    session = onnxruntime.InferenceSession(
        proto.SerializeToString(), providers=["CPUExecutionProvider"]
    )
    names = [value.name for value in proto.graph.output]
    arrays = {name: np.asarray(value) for name, value in feeds.items()}
    return dict(zip(names, session.run(names, arrays), strict=True))


def floats(*values: float) -> np.ndarray:
    return np.array(values, np.float32)


def made(name: str, inputs: tuple[str | None, ...], output: str, **attributes: object) -> Node:
    op = catalog.operator(name)
    assert op is not None
    given: Mapping[str, object] = attributes
    return Node(op, Attributes.of(given), inputs, (output,))  # type: ignore[arg-type]


def shown(graph: Graph, *outputs: tuple[str, str]) -> Graph:
    return replace(graph, outputs=tuple(Output(name, value) for name, value in outputs))


SIMPLE = "g (float[2] x) => (float[2] y, float[2] z) { y = Neg(x) z = Abs(y) }"


def test_outputs_that_are_one_another() -> None:
    proto = written(shown(read(SIMPLE), ("y", "y"), ("z", "y")))
    assert [node.op_type for node in proto.graph.node] == ["Neg", "Abs", "Identity"]
    result = run(proto, x=floats(1, -2))
    assert result["y"].tolist() == result["z"].tolist() == [-1, 2]


def test_outputs_that_are_inputs() -> None:
    proto = written(shown(replace(read(SIMPLE), nodes=()), ("y", "x"), ("z", "x")))
    assert [node.op_type for node in proto.graph.node] == ["Identity", "Identity"]
    assert run(proto, x=floats(3, 4))["z"].tolist() == [3, 4]


def test_an_input_that_is_an_output_under_its_own_name() -> None:
    graph = read("g (float[2] x) => (float[2] x, float[2] y) { y = Neg(x) }")
    proto = build_proto(graph)
    assert [node.op_type for node in proto.graph.node] == ["Neg"]
    assert [value.name for value in proto.graph.output] == ["x", "y"]


def test_an_output_that_is_a_new_constant_needs_no_node() -> None:
    graph = shown(replace(read(SIMPLE), nodes=()), ("y", "k"), ("z", "x"))
    k = constant_of_array(floats(5, 6))
    proto = written(replace(graph, constants={"k": k}))
    assert [tensor.name for tensor in proto.graph.initializer] == ["y"]
    assert run(proto, x=floats(1, 2))["y"].tolist() == [5, 6]


def test_an_output_that_is_an_initializer_of_another_name() -> None:
    graph = read(
        "g (float[2] x) => (float[2] y, float[2] z) <float[2] w = {1,2}>"
        "{ y = Add(x, w) z = Neg(y) }"
    )
    proto = written(shown(graph, ("y", "y"), ("z", "w")))
    assert [tensor.name for tensor in proto.graph.initializer] == ["w"]
    assert run(proto, x=floats(1, 1))["z"].tolist() == [1, 2]


def test_outputs_swap_their_values() -> None:
    proto = written(shown(read(SIMPLE), ("y", "z"), ("z", "y")))
    result = run(proto, x=floats(1, -2))
    assert (result["y"].tolist(), result["z"].tolist()) == ([1, 2], [-1, 2])


def test_new_values_do_not_take_names_of_the_source() -> None:
    graph = read("g (float[2] x) => (float[2] y) { Relu = Neg(x) y = Abs(Relu) }")
    nodes = (*graph.nodes, made("Relu", ("Relu",), "x_1"))
    proto = written(shown(replace(graph, nodes=nodes), ("y", "x_1")))
    names = [name for node in proto.graph.node for name in node.output]
    assert len(set(names)) == len(names)
    assert run(proto, x=floats(-2, 3))["y"].tolist() == [2, 0]


def test_unchanged_nodes_keep_name_doc_and_spelling() -> None:
    proto = parser.parse_model(
        HEAD + "g (float[2,2] x) => (float[2,2] y) { [mine] y = Softmax<axis = -1>(x) }"
    )
    proto.graph.node[0].doc_string = "doc"
    proto.graph.node[0].metadata_props.add(key="k", value="v")
    assert build_proto(read_model(proto, ModelSettings())).graph.node[0] == proto.graph.node[0]


def test_changed_nodes_are_lowered() -> None:
    graph = read("g (float[2,2] x) => (float[2,2] y) { [mine] y = Softmax<axis = -1>(x) }")
    changed = replace(graph.nodes[0], attributes=Attributes.of({"axis": 0}))
    (node,) = written(replace(graph, nodes=(changed,))).graph.node
    assert (node.name, node.attribute[0].i) == ("mine", 0)


CAPTURES = (
    "g (float[3] x, bool c) => (float[3] y) <float[3] w = {1,2,3}> { a = Relu(x)"
    " y = If(c) <else_branch = e () => (float[3] q) { q = Neg(a) },"
    "            then_branch = t () => (float[3] p) { b = Mul(a, w) p = Add(b, x) }> }"
)


def test_how_tensors_are_spread_over_devices_follows_their_names() -> None:
    proto = parser.parse_model(
        '<ir_version: 11, opset_import: ["": 23]>'
        "g (float[2,2] x) => (float[2,2] y) { a = Relu(x) y = MatMul(a, x) }"
    )
    spread = proto.graph.node[1].device_configurations.add(configuration_id="c")
    for name in ("a", "y"):
        spread.sharding_spec.add(tensor_name=name)
    graph = read_model(proto, PLAIN)
    new = replace(graph.nodes[1], inputs=("x", "x"))
    (node,) = build_proto(replace(graph, nodes=(new,))).graph.node
    (spread,) = node.device_configurations
    assert [spec.tensor_name for spec in spread.sharding_spec] == ["x", "y"]


def test_captured_values_get_their_new_names() -> None:
    """Let the branches read Abs(x) instead of Relu(x), under the name of an inner value."""
    graph = read(CAPTURES)
    branch = graph.nodes[1]
    assert branch.inputs == ("c", "a", "a", "w", "x")
    new = replace(branch, inputs=("c", "b", "b", "w", "x"))
    proto = written(replace(graph, nodes=(made("Abs", ("x",), "b"), new)))
    x, w = floats(-1, 2, -3), floats(1, 2, 3)
    assert run(proto, x=x, c=True)["y"].tolist() == (np.abs(x) * w + x).tolist()
    assert run(proto, x=x, c=False)["y"].tolist() == (-np.abs(x)).tolist()


def test_a_captured_value_that_becomes_an_output() -> None:
    graph = shown(read(CAPTURES), ("y", "y"), ("r", "a"))
    proto = build_proto(replace(graph, types=graph.types))
    result = run(proto, x=floats(1, -2, 3), c=False)
    assert (result["r"].tolist(), result["y"].tolist()) == ([1, 0, 3], [-1, 0, -3])


def test_unused_initializers_go() -> None:
    graph = read(
        "g (float[2] x) => (float[2] y) <float[2] w = {1,2}, float[2] v = {3,4}> { y = Add(x, w) }"
    )
    assert [tensor.name for tensor in written(graph).graph.initializer] == ["w"]


def test_overridable_initializers_stay_overridable() -> None:
    k = numpy_helper.from_array(floats(2, 2), "k")
    values = [helper.make_tensor_value_info(n, 1, [2]) for n in ("x", "k", "y")]
    body = helper.make_graph(
        [helper.make_node("Mul", ["x", "k"], ["y"])], "g", values[:2], values[2:], [k]
    )
    proto = helper.make_model(body, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)
    after = written(read_model(proto, ModelSettings()))
    assert run(after, x=floats(1, 2))["y"].tolist() == [2, 4]
    assert run(after, x=floats(1, 2), k=floats(3, 4))["y"].tolist() == [3, 8]


def test_new_constants_before_ir_version_4_are_nodes() -> None:
    """There every initializer is an input as well, and inputs must not change."""
    proto = parser.parse_model(
        '<ir_version: 3, opset_import: ["": 8]> g (float[2] x, float[2] w) => (float[2] y)'
        "{ a = Add(x, w) y = Neg(a) }"
    )
    proto.graph.initializer.append(numpy_helper.from_array(floats(1, 2), "w"))
    graph = read_model(proto, ModelSettings())
    assert [v.name for v in written(graph).graph.input] == ["x", "w"]
    constants = {"new": constant_of_array(floats(3, 4))}
    nodes = (replace(graph.nodes[0], inputs=("x", "new")), graph.nodes[1])
    after = written(replace(graph, constants=constants, nodes=nodes))
    assert [v.name for v in after.graph.input] == ["x"]
    assert [node.op_type for node in after.graph.node] == ["Constant", "Add", "Neg"]
    assert run(after, x=floats(1, 1))["y"].tolist() == [-4, -5]


def test_sparse_initializers_stay_sparse() -> None:
    values = numpy_helper.from_array(floats(5, 7), "s")
    indices = numpy_helper.from_array(np.array([1, 3], np.int64), "i")
    proto = parser.parse_model(HEAD + "g (float[2,3] x) => (float[2,3] y) { y = Add(x, s) }")
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 3]))
    graph = read_model(proto, ModelSettings())
    after = build_proto(graph)
    assert list(after.graph.sparse_initializer) == list(proto.graph.sparse_initializer)
    dense = build_model(graph).graph.initializers["s"].const_value
    assert dense is not None
    assert dense.numpy().tolist() == [[0, 5, 0], [7, 0, 0]]


def test_sparse_initializers_may_be_overridable() -> None:
    values = numpy_helper.from_array(floats(5, 7), "s")
    indices = numpy_helper.from_array(np.array([1, 3], np.int64), "i")
    text = "g (float[2,2] x, float[2,2] s) => (float[2,2] y) { y = Add(x, s) }"
    proto = parser.parse_model(HEAD + text)
    proto.graph.sparse_initializer.append(helper.make_sparse_tensor(values, indices, [2, 2]))
    graph = read_model(proto, ModelSettings())
    assert graph.inputs == ("x", "s")
    after = build_proto(graph)
    zeros = np.zeros((2, 2), np.float32)
    assert run(after, x=zeros)["y"].tolist() == [[0, 5], [0, 7]]
    assert run(after, x=zeros, s=zeros)["y"].tolist() == [[0, 0], [0, 0]]


def test_parameters_that_quantisation_annotations_name_stay() -> None:
    graph = "g (float[2] x) => (float[2] y) <float s = {0.5}, float t = {2}> { y = Neg(x) }"
    proto = parser.parse_model(HEAD + graph)
    annotation = proto.graph.quantization_annotation.add(tensor_name="y")
    annotation.quant_parameter_tensor_names.add(key="SCALE_TENSOR", value="s")
    after = written(read_model(proto, ModelSettings())).graph
    assert list(after.quantization_annotation) == [annotation]
    assert [tensor.name for tensor in after.initializer] == ["s"]


def test_what_training_changes_is_no_constant() -> None:
    weights = "<float[2] w = {1,2}, float[2] v = {3,4}, float r = {0.5}>"
    proto = parser.parse_model(
        HEAD + "g (float[2] x) => (float[2] y)" + weights + "{ a = Mul(w, v) y = Mul(x, a) }"
    )
    step = parser.parse_graph("t () => (float[2] n) { n = Mul(w, r) }")
    info = proto.training_info.add(algorithm=step)
    info.update_binding.add(key="w", value="n")
    graph = read_model(proto, ModelSettings())
    assert (graph.inputs, set(graph.constants)) == (("x", "w"), {"v", "r"})
    after = written(graph)
    assert list(after.training_info) == [info]
    assert [value.name for value in after.graph.input] == ["x"]
    assert {tensor.name for tensor in after.graph.initializer} == {"w", "v", "r"}
    frozen = read_model(proto, ModelSettings(freeze_initializers=True))
    assert set(frozen.constants) == {"w", "v", "r"}


def test_dims_that_the_user_fixed_are_declared() -> None:
    graph = read("g (float[N,M] x) => (float[N,M] y) { y = Relu(x) }", ModelSettings(dims={"N": 4}))
    after = written(graph)
    for value in (*after.graph.input, *after.graph.output):
        first, second = value.type.tensor_type.shape.dim
        assert (first.dim_value, second.dim_param) == (4, "M")


def test_optional_inputs_and_outputs() -> None:
    text = "g (float[4] x) => (int64[2] i) <int64[1] k = {2}> { , i = TopK(x, k) }"
    assert written(read(text)).graph.node[0].output[1] == "i"
    text = "g (float[1,1,4] x) => (float[1,1,4] y) <float m = {1}> { y = Clip(x, , m) }"
    assert list(written(read(text)).graph.node[0].input) == ["x", "", "m"]


def test_a_loop_keeps_inputs_that_are_absent() -> None:
    """It must have two, and one that carries nothing may have neither condition nor more."""
    graph = read(
        """g (int64 trips, float[2] x) => (float[N,2] y) {
          a = Neg(x)
          y = Loop(trips, "") <body = b (int64 i, bool go) => (bool on, float[2] o) {
            on = Identity(go) o = Abs(a)
          }>
        }"""
    )
    proto = written(graph)
    assert list(proto.graph.node[1].input) == ["trips", ""]
    found = run(proto, trips=np.int64(2), x=floats(1, -2))["y"]
    assert found.tolist() == [[1, 2], [1, 2]]


def test_a_higher_opset_is_declared() -> None:
    proto = parser.parse_model(
        '<ir_version: 7, opset_import: ["": 13]> g (float[2] x) => (float[2] y) { y = Relu(x) }'
    )
    graph = read_model(proto, ModelSettings())
    after = written(replace(graph, opsets={"": 21}))
    assert [(entry.domain, entry.version) for entry in after.opset_import] == [("", 21)]
    assert after.ir_version >= 10
    assert run(after, x=floats(-1, 1))["y"].tolist() == [0, 1]


@pytest.mark.parametrize("kind", ["proto", "ir"])
def test_both_forms_of_a_model_can_be_read(kind: str) -> None:
    graph = read(SIMPLE)
    model = build_model(graph) if kind == "ir" else build_proto(graph)
    again = read_model(model, ModelSettings())
    assert [node.operator.name for node in again.nodes] == ["Neg", "Abs"]


@pytest.mark.parametrize(
    ("opset", "node", "lifted"),
    [
        (23, "y = Attention<scale=0.5>(q, k, v, m)", True),
        (24, 'y = Attention<is_causal=1>(q, k, v, "", k, v)', True),
        (24, 'y = Attention(q, k, v, m, "", "", n)', False),
        (25, "y = Attention<left_window_size=2>(q, k, v)", False),
        (23, "y = RMSNormalization<axis=-1>(q, s)", True),
        (23, "y = RotaryEmbedding(q, k, v)", False),  # the caches have too many dims
    ],
)
def test_operators_newer_than_opset_21_are_written_as_they_were(
    opset: int, node: str, lifted: bool
) -> None:
    head = f'<ir_version: 10, opset_import: ["": {opset}]>'
    proto = parser.parse_model(
        head + "g (float[1,2,N,4] q, float[1,2,M,4] k, float[1,2,M,4] v, float[1,1,N,M] m,"
        " int64[1] n, float[4] s) => (float[1,2,N,4] y) { " + node + " }"
    )
    graph = read_model(proto, PLAIN)
    assert graph.nodes[0].operator.kind is (OperatorKind.ONNX if lifted else OperatorKind.OPAQUE)
    kept = build_proto(graph).graph.node[0]
    assert kept.SerializeToString() == proto.graph.node[0].SerializeToString()
    assert str(graph.types["y"]) == str(graph.types["q"])
    if lifted:
        anew = replace(graph, nodes=tuple(replace(n, index=-1) for n in graph.nodes))
        again = read_model(build_proto(anew), PLAIN)
        assert again.nodes[0].attributes == graph.nodes[0].attributes
        assert len(again.nodes[0].inputs) == len(graph.nodes[0].inputs)
