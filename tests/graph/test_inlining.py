"""An `If` whose condition is known is the branch that it takes: values, names, nesting."""

import numpy as np
import onnx
import onnxruntime
from onnx import numpy_helper, parser

from tensat_dl.graph.model import Graph
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.writing.write import build_proto
from tensat_dl.settings import ModelSettings

HEAD = '<ir_version: 9, opset_import: ["": 21]>'
BRANCHES = (
    "<then_branch = t () => (float[2] p) { q = Neg(x) p = Exp(q) },"
    " else_branch = e () => (float[2] r) { q = Abs(x) r = Exp(q) }>"
)


def proto_of(text: str) -> onnx.ModelProto:
    return parser.parse_model(HEAD + text)


def read(text: str, **dims: int) -> Graph:
    return read_model(proto_of(text), ModelSettings(dims=dims))


def operators(graph: Graph) -> list[str]:
    return [node.operator.name for node in graph.nodes]


def run(proto: onnx.ModelProto, **feeds: np.ndarray) -> list[np.ndarray]:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    content = proto.SerializeToString()
    session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
    return [np.asarray(value) for value in session.run(None, feeds)]


def same(text: str, **feeds: np.ndarray) -> onnx.ModelProto:
    """The model as read and written, which gives the outputs of the original."""
    before = proto_of(text)
    after = build_proto(read_model(before, ModelSettings()))
    onnx.checker.check_model(after)
    for left, right in zip(run(before, **feeds), run(after, **feeds), strict=True):
        np.testing.assert_array_equal(left, right)
    return after


X = np.array([1, -2], np.float32)


def test_a_constant_condition() -> None:
    text = "g (float[2] x) => (float[2] y) <bool c = {%d}> { y = If(c) " + BRANCHES + " }"
    assert operators(read(text % 1)) == ["Neg", "Exp"]
    assert operators(read(text % 0)) == ["Abs", "Exp"]
    after = same(text % 1, x=X)
    assert [value for node in after.graph.node for value in node.output] == ["q", "y"]


def test_a_condition_that_follows_from_shapes() -> None:
    text = (
        "g (float[N] x) => (float[M] y) <int64 two = {2}, int64 z = {0}>"
        "{ s = Shape(x) n = Gather(s, z) c = Equal(n, two) y = If(c) " + BRANCHES + " }"
    )
    assert operators(read(text)) == ["Shape", "Gather", "Equal", "If"]
    assert operators(read(text, N=2))[-2:] == ["Neg", "Exp"]
    assert operators(read(text, N=3))[-2:] == ["Abs", "Exp"]


def test_a_condition_that_only_running_tells() -> None:
    """The sum of 100 floats is no value that types keep."""
    text = (
        "g (float[2] x) => (float[2] y) <float limit = {99.5}>"
        "{ t = ReduceSum<keepdims=0>(w) c = Greater(t, limit) y = If(c) " + BRANCHES + " }"
    )
    proto = proto_of(text)
    proto.graph.initializer.append(numpy_helper.from_array(np.ones(100, np.float32), "w"))
    assert operators(read_model(proto, ModelSettings()))[-2:] == ["Neg", "Exp"]


def test_what_a_caller_or_chance_decides_stays() -> None:
    given = "g (float[2] x, bool c) => (float[2] y) { y = If(c) " + BRANCHES + " }"
    assert operators(read(given)) == ["If"]
    chance = (
        "g (float[2] x) => (float[2] y) <float half = {0.5}>"
        "{ r = RandomUniform<shape=[1]>() c = Greater(r, half) y = If(c) " + BRANCHES + " }"
    )
    assert operators(read(chance))[-1] == "If"


def test_names_of_branches_may_be_taken() -> None:
    """Both branches of two conditionals call something `v`."""
    branches = (
        "<then_branch = t () => (float[2] p) { v = Neg(%s) p = Exp(v) },"
        " else_branch = e () => (float[2] r) { v = Abs(%s) r = Exp(v) }>"
    )
    first, second = branches % ("q", "q"), branches % ("a", "a")
    text = (
        "g (float[2] x) => (float[2] y, float[2] u) <bool c = {1}, bool d = {0}>"
        f"{{ q = Abs(x) a = If(c) {first} y = If(d) {second} u = Neg(q) }}"
    )
    after = same(text, x=X)
    names = [value for node in after.graph.node for value in node.output]
    assert len(names) == len(set(names))
    assert [node.op_type for node in after.graph.node] == ["Abs", "Neg", "Exp", "Abs", "Exp", "Neg"]


def test_outputs_that_are_not_made_in_the_branch() -> None:
    """An outer value, an initializer of the branch, one value twice, one that nobody reads."""
    text = (
        "g (float[2] x) => (float[2] a, float[2] b, float[2] d, float[2] e) <bool c = {1}>"
        "{ a, b, d, e, f = If(c) <then_branch = t () => "
        "     (float[2] x, float[2] k, float[2] q, float[2] q, float[2] o) <float[2] k = {3,4}>"
        "     { q = Neg(x) o = Exp(q) },"
        "   else_branch = s () => (float[2] x, float[2] x, float[2] x, float[2] x, float[2] x)"
        "     { z = Neg(x) }> }"
    )
    proto = proto_of(text)
    graph = read_model(proto, ModelSettings())
    assert operators(graph) == ["Neg", "Exp", "Identity", "Identity", "Identity"]
    after = build_proto(graph)
    a, b, d, e = run(after, x=X)
    assert a.tolist() == [1, -2]
    assert b.tolist() == [3, 4]
    assert d.tolist() == e.tolist() == [-1, 2]


def test_nested_conditionals_and_loops_that_capture() -> None:
    text = (
        "g (float[2] x) => (float[2] y) <bool c = {1}, int64 n = {3}>"
        "{ y = If(c) <then_branch = t () => (float[2] p) {"
        "     w = Abs(x) no = Not(c)"
        "     h = If(no) <then_branch = tt () => (float[2] m) { m = Exp(w) },"
        "                 else_branch = ee () => (float[2] m) { m = Neg(w) }>"
        "     p = Loop(n, c, h) <body = b (int64 k, bool go, float[2] v) => (bool on, float[2] u)"
        "                        { on = Identity(go) u = Add(v, w) }> },"
        "  else_branch = e () => (float[2] r) { r = Exp(x) }> }"
    )
    after = same(text, x=X)
    assert [node.op_type for node in after.graph.node] == ["Abs", "Not", "Neg", "Loop"]


def test_a_branch_that_is_not_sorted() -> None:
    proto = proto_of("g (float[2] x) => (float[2] y) <bool c = {1}> { y = If(c) " + BRANCHES + " }")
    branch = next(a.g for a in proto.graph.node[0].attribute if a.name == "then_branch")
    first, second = list(branch.node)
    del branch.node[:]
    branch.node.extend([second, first])
    assert operators(read_model(proto, ModelSettings())) == ["Neg", "Exp"]


def test_conditionals_in_branches_that_stay() -> None:
    """The caller chooses the outer branch; the inner ones follow from shapes and constants."""
    text = (
        "g (float[2] x, bool c) => (float[2] y) <int64 two = {2}, int64 z = {0}, bool no = {0}>"
        "{ w = Abs(x)"
        "  y = If(c) <then_branch = t () => (float[2] p) {"
        "     s = Shape(w) n = Gather(s, z) e = Equal(n, two)"
        "     h = If(e) <then_branch = tt () => (float[2] m) { k = Exp(w) m = Neg(k) },"
        "                else_branch = ee () => (float[2] m) { m = Abs(w) }>"
        "     p = Add(h, w) },"
        "  else_branch = f () => (float[2] q) {"
        "     q = If(no) <then_branch = tt () => (float[2] m) { m = Exp(x) },"
        "                 else_branch = ee () => (float[2] m) { m = Identity(x) }> }> }"
    )
    after = same(text, x=X, c=np.array(True))
    same(text, x=X, c=np.array(False))
    assert [node.op_type for node in after.graph.node] == ["Abs", "If"]
    branches = {a.name: [n.op_type for n in a.g.node] for a in after.graph.node[1].attribute}
    assert branches["then_branch"][-3:] == ["Exp", "Neg", "Add"]
    assert branches["else_branch"] == ["Identity"]
    assert "If" not in branches["then_branch"]


def test_a_branch_that_could_not_run_is_left_as_it_is() -> None:
    """x is no matrix of 3 rows; onnxruntime would refuse a branch in which that can be seen."""
    text = (
        "g (float[2] x, bool c) => (float[K] y)"
        "<bool yes = {1}, int64[1] z = {0}, float[3,3] w = {1,2,3,4,5,6,7,8,9}>"
        "{ y = If(c) <then_branch = t () => (float[J] p) {"
        "     h = If(yes) <then_branch = tt () => (float[2] m) { m = Neg(x) },"
        "                  else_branch = ee () => (float[1,2] m) { m = Unsqueeze(x, z) }>"
        "     p = MatMul(w, h) },"
        "  else_branch = f () => (float[2] q) { q = Exp(x) }> }"
    )
    after = same(text, x=X, c=np.array(False))
    assert after == proto_of(text)


def test_a_branch_that_stays_is_left_alone_where_nothing_is_known() -> None:
    inner = BRANCHES.replace("p)", "m)").replace("p =", "m =")
    text = (
        "g (float[2] x, bool c, bool d) => (float[2] y) { y = If(c) <then_branch = t () =>"
        f"(float[2] p) {{ p = If(d) {inner} }}, else_branch = e () => (float[2] r)"
        "{ r = Abs(x) }> }"
    )
    before = proto_of(text)
    assert build_proto(read_model(before, ModelSettings())) == before


def test_the_source_is_left_as_it_is() -> None:
    proto = proto_of("g (float[2] x) => (float[2] y) <bool c = {1}> { y = If(c) " + BRANCHES + " }")
    before = proto.SerializeToString()
    build_proto(read_model(proto, ModelSettings()))
    assert proto.SerializeToString() == before


def test_what_would_show_a_fault_stays() -> None:
    """A Range takes scalars; as long as the shape is hidden runtimes take one element for one."""
    text = (
        "g (float[N] x) => (float[M] y)"
        " <bool t = {1}, int64[1] n = {3}, int64 a = {0}, int64 b = {1}>"
        "{ e = If (t) <then_branch = t () => (int64[1] p) { p = Identity(n) },"
        " else_branch = e () => (int64[1] q) { q = Neg(n) }>"
        " r = Range(a, e, b) f = Cast<to=1>(r) y = Add(f, x) }"
    )
    assert operators(read(text)) == ["If", "Range", "Cast", "Add"]
    assert not read(text).source.warnings
    assert operators(read(text.replace("int64[1]", "int64"))) == [
        "Identity",
        "Range",
        "Cast",
        "Add",
    ]
