"""Rules act inside If, Loop and Scan: what is computed stays, what stands there becomes less."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper, parser

import tensat_dl
from tensat_dl.bodies import settings_of_body
from tensat_dl.graph.names import operators, subgraphs
from tensat_dl.graph.reading.outside import Outside
from tensat_dl.settings import ExtractSettings, RuleSettings, Settings, VerifySettings

RULES = """\
language 1
rewrite relu_relu: Relu(Relu(x)) => Relu(x)
rewrite neg_neg: Neg(Neg(x)) => x
rewrite scale: MatMul(Mul(x, s), w) => MatMul(x, Mul(s, w))
  where weight(s), weight(w), numel(s) == 1
rewrite same_shape: Reshape(x, s) => x where value(s) == shape(x)
"""
X = np.array([1, -2], np.float32)


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "r.tsat"
    path.write_text(RULES)
    return str(path)


def model(text: str, *weights: onnx.TensorProto) -> onnx.ModelProto:
    proto = parser.parse_model('<ir_version: 9, opset_import: ["": 18]> g ' + text)
    proto.graph.initializer.extend(weights)
    onnx.checker.check_model(proto)
    return proto


def run(proto: onnx.ModelProto, **feeds: object) -> list[np.ndarray]:
    onnx.checker.check_model(proto)
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    content = proto.SerializeToString()
    session = onnxruntime.InferenceSession(content, options, ["CPUExecutionProvider"])
    given = {name: np.asarray(value) for name, value in feeds.items()}
    return [np.asarray(value) for value in session.run(None, given)]


def inside(proto: onnx.ModelProto) -> list[list[str]]:
    """The operators of each body, in order."""
    bodies = [body for node in proto.graph.node for body in subgraphs(node)]
    return [list(operators(body)) for body in bodies]


IF = """(bool c, float[2] x) => (float[2] y) {
    y = If(c) <
        then_branch = t () => (float[2] p) { a = Relu(x) b = Relu(a) p = Neg(b) },
        else_branch = e () => (float[2] r) { d = Neg(x) f = Neg(d) r = Exp(f) }
    >
}"""


def test_both_branches(rules: str) -> None:
    result = tensat_dl.optimize(model(IF), rules)
    assert inside(result.model) == [["Exp"], ["Relu", "Neg"]]  # attributes by name
    (positive,) = run(result.model, c=True, x=X)
    (negative,) = run(result.model, c=False, x=X)
    np.testing.assert_array_equal(positive, [-1, 0])
    np.testing.assert_allclose(negative, np.exp(X), rtol=1e-6)


def test_the_report_counts_what_is_inside(rules: str) -> None:
    report = tensat_dl.optimize(model(IF), rules).report
    assert (report["status"], report["bodies"]) == ("improved", 2)
    before, after = report["nodes"]["before"], report["nodes"]["after"]
    assert before == {"If": 1, "Relu": 2, "Neg": 3, "Exp": 1}
    assert after == {"If": 1, "Relu": 1, "Neg": 1, "Exp": 1}
    (note,) = report["notes"]
    assert "2 bodies of If, Loop or Scan 6 nodes became 3" in note


@pytest.mark.parametrize(
    "settings",
    [
        Settings(rules=RuleSettings(bodies=False)),
        Settings(extract=ExtractSettings(at_most={"Exp": 5})),
    ],
    ids=["switched off", "limits"],
)
def test_bodies_are_left_alone(rules: str, settings: Settings) -> None:
    proto = model(IF)
    result = tensat_dl.optimize(proto, rules, config=settings)
    assert (result.report["status"], result.report["bodies"]) == ("unchanged", 0)
    assert result.model == proto


LOOP = """(int64 n, float[2] x) => (float[2] y, float[k] z) {
    y, z = Loop(n, "", x, x) <body = body (int64 i, bool go, float[DECLARED] h, float[m] all)
        => (bool on, float[2] h2, float[m2] all2) {
            on = Identity(go)
            a = Relu(h) b = Relu(a) h2 = Add(b, x)
            s = Shape(all) u = Reshape(all, s) all2 = Concat<axis=0>(u, h2)
        }>
}"""


@pytest.mark.parametrize("declared", ["2", "q"])
@pytest.mark.parametrize("count", [0, 1, 3])
def test_what_a_loop_carries_may_grow(rules: str, count: int, declared: str) -> None:
    """`h` keeps its size, `all` does not."""
    proto = model(LOOP.replace("DECLARED", declared))
    result = tensat_dl.optimize(proto, rules)
    assert Counter(inside(result.model)[0])["Relu"] == 1
    h, every = X, [X]
    for _ in range(count):
        h = np.maximum(h, 0) + X
        every.append(h)
    y, z = run(result.model, n=count, x=X)
    np.testing.assert_array_equal(y, h)
    np.testing.assert_array_equal(z, np.concatenate(every))


GROWING = """(int64 n, float[2] x, float[1] w) => (float[k] z, float[j, 2] v) {
    z, v = Loop(n, "", x) <body = body (int64 i, bool go, float[m] h)
        => (bool on, float[m2] h2, float[2] first) {
            on = Identity(go)
            r = Relu(h) q = Relu(r) h2 = Concat<axis=0>(q, w)
            two = Constant<value_ints=[2, -1]>() t = Concat<axis=0>(h, h) u = Reshape(t, two)
            axis = Constant<value_ints=[1]>() first = ReduceSum<keepdims=0>(u, axis)
        }>
}"""


def test_a_dim_that_grows_is_not_known_by_its_beginning(tmp_path: Path) -> None:
    """By the first iteration alone `h` would have two elements in all of them, and the rule would
    act, with a right result for the body alone."""
    path = tmp_path / "r.tsat"
    rule = "rewrite two: Reshape(x, s) => Reshape(x, i64([2, 2]))"
    path.write_text(f"{RULES}{rule} where numel(x) == 4, value(s) == [2, -1]\n")
    result = tensat_dl.optimize(model(GROWING), str(path))
    assert Counter(inside(result.model)[0])["Relu"] == 1
    z, v = run(result.model, n=3, x=X, w=np.array([5], np.float32))
    np.testing.assert_array_equal(z, [1, 0, 5, 5, 5])
    np.testing.assert_array_equal(v, [[-1, -1], [6, 6], [11, 11]])


SCAN = """(float[2] start, float[T, 2] xs) => (float[2] last, float[T, 2] sums) {
    last, sums = Scan <num_scan_inputs = 1, body = body (float[2] h, float[2] x)
        => (float[2] h2, float[2] out) {
            a = Neg(x) b = Neg(a) h2 = Add(h, b) c = Relu(h2) out = Relu(c)
        }> (start, xs)
}"""


def test_scan(rules: str) -> None:
    result = tensat_dl.optimize(model(SCAN), rules)
    assert Counter(inside(result.model)[0]) == {"Add": 1, "Relu": 1}
    xs = np.array([[1, -5], [2, 3], [-9, 1]], np.float32)
    last, sums = run(result.model, start=X, xs=xs)
    expected = X + np.cumsum(xs, axis=0)
    np.testing.assert_array_equal(last, expected[-1])
    np.testing.assert_array_equal(sums, np.maximum(expected, 0))


NESTED = """(int64 n, bool c, float[2] x) => (float[2] y) {
    y = Loop(n, "", x) <body = body (int64 i, bool go, float[2] h) => (bool on, float[2] h2) {
            on = Identity(go)
            h2 = If(c) <
                then_branch = t () => (float[2] p) { a = Relu(h) b = Relu(a) p = Add(b, x) },
                else_branch = e () => (float[2] r) { d = Neg(h) f = Neg(d) r = Sub(f, x) }
            >
        }>
}"""


@pytest.mark.parametrize("c", [True, False])
def test_bodies_in_bodies(rules: str, c: bool) -> None:
    result = tensat_dl.optimize(model(NESTED), rules)
    assert Counter(inside(result.model)[0]) == Counter(["Identity", "If", "Relu", "Add", "Sub"])
    h = X
    for _ in range(3):
        h = np.maximum(h, 0) + X if c else h - X
    (y,) = run(result.model, n=3, c=c, x=X)
    np.testing.assert_array_equal(y, h)


def weight(name: str, *dims: int) -> onnx.TensorProto:
    array = np.random.default_rng(1).standard_normal(dims).astype(np.float32)
    return numpy_helper.from_array(array, name)


SCALED = """(bool c, float[2,256] x) => (float[2,256] y, float[2,256] z) {
    f = Mul(x, s) z = MatMul(f, v)
    y = If(c) <
        then_branch = t () => (float[2,256] p) { a = Mul(x, s) p = MatMul(a, w) },
        else_branch = e () => (float[2,256] r) { b = Mul(x, s) r = MatMul(b, OTHER) }
    >
}"""
WEIGHTS = [weight(name, 256, 256) for name in "vwu"]
SCALE = numpy_helper.from_array(np.array([3], np.float32), "s")


def test_new_names_are_nobody_elses(rules: str) -> None:
    """Each graph gets a constant and would call it the same."""
    proto = model(SCALED.replace("OTHER", "u"), *WEIGHTS, SCALE)
    result = tensat_dl.optimize(proto, rules)
    assert inside(result.model) == [["MatMul"], ["MatMul"]]
    bodies = [body for node in result.model.graph.node for body in subgraphs(node)]
    made = [t.name for graph in (result.model.graph, *bodies) for t in graph.initializer]
    assert len(made) == len(set(made)) == 3
    x = np.random.default_rng(2).standard_normal((2, 256)).astype(np.float32)
    v, w, u = map(numpy_helper.to_array, WEIGHTS)
    for c, each in ((True, w), (False, u)):
        y, z = run(result.model, c=c, x=x)
        np.testing.assert_allclose(y, 3 * x @ each, rtol=1e-4, atol=1e-3)
        np.testing.assert_allclose(z, 3 * x @ v, rtol=1e-4, atol=1e-3)


def test_the_report_has_what_rules_did_inside(rules: str) -> None:
    """In three graphs thrice what they do in one."""
    text = "(float[2,256] x) => (float[2,256] z) { f = Mul(x, s) z = MatMul(f, v) }"
    alone = model(text, WEIGHTS[0], SCALE)
    proto = model(SCALED.replace("OTHER", "u"), *WEIGHTS, SCALE)
    once, thrice = (tensat_dl.optimize(each, rules).report["rules"] for each in (alone, proto))
    keys = ("matches", "applied", "in_answer")
    expected = {rule["name"]: [3 * rule[key] for key in keys] for rule in once}
    assert expected["scale"][2] > 0
    assert {rule["name"]: [rule[key] for key in keys] for rule in thrice} == expected


def test_a_weight_that_several_bodies_read_is_not_stored_in_each(rules: str) -> None:
    proto = model(SCALED.replace("OTHER", "w"), *WEIGHTS[:2], SCALE)
    result = tensat_dl.optimize(proto, rules)
    assert inside(result.model) == [["Mul", "MatMul"], ["Mul", "MatMul"]]
    assert result.model.ByteSize() < 1.01 * proto.ByteSize()


def wrong_in_one_branch(tmp_path: Path) -> tensat_dl.Result[onnx.ModelProto]:
    path = tmp_path / "wrong.tsat"
    path.write_text(RULES + "rewrite wrong: Exp(x) => x\n")
    return tensat_dl.optimize(model(IF), str(path))


def test_what_is_wrong_in_a_branch_is_left_out_and_told(tmp_path: Path) -> None:
    """Each body is compared by itself: a sample of the whole model may not take the branch."""
    result = wrong_in_one_branch(tmp_path)
    assert inside(result.model) == [["Neg", "Neg", "Exp"], ["Relu", "Neg"]]
    (warning,) = result.report["warnings"]
    assert "inside control flow, in 'e', what rules made does not compute" in warning
    assert "applied were `neg_neg` and `wrong`" in warning


@pytest.mark.parametrize(
    "operator", ["Sin", "Unheard"], ids=["it is wrong in place", "it is refused in place"]
)
def test_what_fails_in_place_is_left_out(
    rules: str, operator: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is found outside of bodies stays."""
    taken_back = Outside.taken_back

    def spoilt(self: Outside, written: onnx.GraphProto, body: onnx.GraphProto) -> onnx.GraphProto:
        graph = taken_back(self, written, body)
        graph.node[-1].op_type = operator
        return graph

    monkeypatch.setattr(Outside, "taken_back", spoilt)
    text = IF.replace("y = If(c)", "g = Relu(x) k = Relu(g) z = Abs(k) y = If(c)")
    proto = model(text.replace("(float[2] y)", "(float[2] y, float[2] z)"))
    result = tensat_dl.optimize(proto, rules)
    assert inside(result.model) == inside(proto)
    assert sorted(n.op_type for n in result.model.graph.node) == ["Abs", "If", "Relu"]
    assert result.report["bodies"] == 0
    assert "what rules made inside control flow is not right there" in result.report["notes"][0]


FOREIGN = """\
language 1
op "com.microsoft"::FusedMatMul(A: Tensor, B: Tensor) -> Y: Tensor {
  since 1
  infer Y = like(A, [dim(A, 0), dim(B, 1)])
}
rewrite fuse: MatMul(a: T[_, _], b: T[_, _]) => "com.microsoft"::FusedMatMul(a, b)
rewrite relu_relu: Relu(Relu(x)) => Relu(x)
cost model mine { MatMul = 1 Relu = 1 }
"""


def test_a_domain_that_only_a_body_would_need_costs_nothing_outside(tmp_path: Path) -> None:
    path = tmp_path / "foreign.tsat"
    path.write_text(FOREIGN)
    proto = model("""(bool c, float[4,4] x) => (float[4,4] y, float[4,4] z) {
        g = Relu(x) k = Relu(g) z = Abs(k)
        y = If(c) <
            then_branch = t () => (float[4,4] p) { a = Relu(x) p = MatMul(a, x) },
            else_branch = e () => (float[4,4] q) { b = Relu(x) d = Relu(b) q = Abs(d) }
        >
    }""")
    result = tensat_dl.optimize(proto, str(path), {"cost": {"model": "mine"}})
    assert sorted(n.op_type for n in result.model.graph.node) == ["Abs", "If", "Relu"]
    assert inside(result.model) == [["Relu", "Abs"], ["Relu", "MatMul"]]


def test_without_verification_bodies_are_optimised_too(rules: str) -> None:
    settings = Settings(verify=VerifySettings(enabled=False))
    result = tensat_dl.optimize(model(IF), rules, settings)
    assert inside(result.model) == [["Exp"], ["Relu", "Neg"]]


def test_a_body_that_gives_what_it_is_given(rules: str) -> None:
    """onnxruntime takes no outer value as the output of a body: an Identity stays."""
    text = IF.replace("r = Exp(f)", "r = Neg(d)").replace("f = Neg(d) ", "")
    result = tensat_dl.optimize(model(text), rules)
    assert inside(result.model) == [["Identity"], ["Relu", "Neg"]]
    np.testing.assert_array_equal(run(result.model, c=False, x=X)[0], X)


HIDING = """(int64 n, float[2] h) => (float[2] z, float[2] y) {
    a = Neg(h) u = Neg(a) b = Relu(h) c = Relu(b) y = Relu(c)
    s = Loop(n, "", u) <body = body (int64 i, bool go, float[2] NAME) => (bool on, float[2] h2) {
            on = Identity(go) d = Add(NAME, u) h2 = Add(d, c)
        }>
    z = Identity(s)
}"""


@pytest.mark.parametrize("name", ["h", "y", "other"])
def test_a_value_that_is_captured_is_not_hidden_by_its_new_name(rules: str, name: str) -> None:
    """`u` becomes the input `h` and `c` the output `y`: names that a body may have, too."""
    result = tensat_dl.optimize(model(HIDING.replace("NAME", name)), rules)
    positive, h = np.maximum(X, 0), X
    for _ in range(3):
        h = h + X + positive
    z, y = run(result.model, n=3, h=X)
    np.testing.assert_array_equal(z, h)
    np.testing.assert_array_equal(y, positive)


def test_nor_where_a_branch_is_inlined(rules: str) -> None:
    """The branch's `v` becomes `y`, which is carried under that name inside."""
    proto = model("""(int64 n, float[2] h) => (float[2] y, float[2] z) {
        k = Constant<value=bool {1}>()
        y, z = If(k) <
            then_branch = t () => (float[2] v, float[2] w) {
                v = Neg(h)
                w = Loop(n, "", h) <body = b (int64 i, bool go, float[2] y)
                    => (bool on, float[2] y2) { on = Identity(go) y2 = Sub(y, v) }>
            },
            else_branch = e () => (float[2] q, float[2] r) { q = Exp(h) r = Neg(h) }
        >
    }""")
    result = tensat_dl.optimize(proto, rules)
    y, z = run(result.model, n=3, h=X)
    np.testing.assert_array_equal(y, -X)
    np.testing.assert_array_equal(z, X + 3 * X)


def test_before_ir_4_new_constants_are_nodes(rules: str) -> None:
    """Initializers would have to be inputs, which a branch has none of."""
    text = """(bool c, float[1,2] x) => (float[1,2] y) {
        y = If(c) <
            then_branch = t () => (float[1,2] p) {
                s = Constant<value=float[1] {3}>() w = Constant<value=float[2,2] {1,2,3,4}>()
                m = Mul(x, s) p = MatMul(m, w)
            },
            else_branch = e () => (float[1,2] q) { q = Relu(x) }
        >
    }"""
    proto = parser.parse_model('<ir_version: 3, opset_import: ["": 8]> g ' + text)
    result = tensat_dl.optimize(proto, rules)
    assert inside(result.model) == [["Relu"], ["MatMul"]]
    (y,) = run(result.model, c=True, x=np.array([[1, -2]], np.float32))
    np.testing.assert_array_equal(y, [[3 * (1 - 6), 3 * (2 - 8)]])


def test_initializers_of_a_body_stay_its_own(rules: str) -> None:
    body = helper.make_graph(
        [
            helper.make_node("Mul", ["x", "two"], ["m"]),
            helper.make_node("MatMul", ["m", "w"], ["p"]),
        ],
        "t",
        [],
        [helper.make_tensor_value_info("p", TensorProto.FLOAT, None)],
        [numpy_helper.from_array(np.array([2], np.float32), "two"), weight("w", 2, 2)],
    )
    other = helper.make_graph(
        [helper.make_node("Identity", ["x"], ["q"])],
        "e",
        [],
        [helper.make_tensor_value_info("q", TensorProto.FLOAT, None)],
    )
    proto = model("(bool c, float[1,2] x) => (float[1,2] y) { y = Identity(x) }")
    del proto.graph.node[:]
    node = helper.make_node("If", ["c"], ["y"], then_branch=body, else_branch=other)
    proto.graph.node.append(node)
    result = tensat_dl.optimize(proto, rules)
    assert inside(result.model) == [["Identity"], ["MatMul"]]
    x = np.array([[1, -2]], np.float32)
    expected = 2 * x @ numpy_helper.to_array(body.initializer[1])
    np.testing.assert_allclose(run(result.model, c=True, x=x)[0], expected, rtol=1e-5)


@pytest.mark.parametrize(
    ("spent", "left"),
    [
        ({}, 30.0),
        ({"explore": 12.0, "read": 500.0}, 18.0),
        ({"explore": 29.0}, None),
        ({"verify": 29.0}, None),
        ({"compare": 20.0}, None),
    ],
)
def test_bodies_share_the_time(spent: dict[str, float], left: float | None) -> None:
    """By default 30 s of exploring, 20 of timing whole bodies; less than a twentieth is nothing."""
    settings = settings_of_body(Settings(), spent)
    assert (settings and settings.explore.seconds) == left
