"""Verification finds what is wrong, says where, and runs what is right."""

import math
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper, parser

from tensat_dl.errors import VerificationError
from tensat_dl.graph.randomise import randomise_initializers
from tensat_dl.graph.reading.read import read_model
from tensat_dl.graph.running.run import OrtRunner, open_reference, open_runner
from tensat_dl.graph.source import Source
from tensat_dl.graph.verifying.compare import compare
from tensat_dl.graph.verifying.verify import Verification, require, verify
from tensat_dl.settings import ModelSettings, VerifySettings

HEAD = '<ir_version: 9, opset_import: ["": 18]>'
SETTINGS = VerifySettings()


def model(text: str, opset: int = 18) -> onnx.ModelProto:
    return parser.parse_model(HEAD.replace("18", str(opset)) + text)


def check(before: str, after: str) -> Verification:
    return verify(model(before), model(after), SETTINGS)


SCALED = "g (float[N,4] x) => (float[N,4] y) <float k = {%s}> { y = Mul(x, k) }"


def test_equal_models_agree_exactly() -> None:
    result = check(SCALED % 2.0, SCALED % 2.0)
    assert (result.ok, result.samples, result.max_difference) == (True, 3, 0.0)


def test_a_model_that_is_the_same_runs_once_a_sample(monkeypatch: pytest.MonkeyPatch) -> None:
    ran = []
    run = OrtRunner.run
    monkeypatch.setattr(OrtRunner, "run", lambda self, feeds: ran.append(feeds) or run(self, feeds))
    same = model(SCALED % 2.0)
    told: list[int] = []
    result = verify(same, same, SETTINGS, progress=told.append)
    assert (result.ok, result.samples, result.max_difference) == (True, 3, 0.0)
    assert (result.runner, told) == ("onnxruntime", [1, 2, 3])
    assert len(ran) == 3
    # one that is equal is another, and runs, too
    assert verify(same, model(SCALED % 2.0), SETTINGS).ok
    assert len(ran) == 3 + 6


def test_rounding_is_allowed_and_reported() -> None:
    result = check(SCALED % 2.0, SCALED % 2.00001)
    assert result.ok
    assert result.max_difference == pytest.approx(5e-6, rel=0.05)


def test_an_error_of_one_percent_is_found() -> None:
    result = check(SCALED % 2.0, SCALED % 2.02)
    assert not result.ok
    with pytest.raises(VerificationError, match=r"output 'y' at \[.*\]: .* 0.01 relative"):
        require(result)


def test_one_wrong_element_is_found_and_named() -> None:
    text = (
        "g (float[3] x) => (float[3] y, float[3] z) <float[3] k = {%s}>"
        "{ y = Relu(x) z = Mul(x, k) }"
    )
    result = check(text % "1,1,1", text % "1,1,1.01")
    assert [m.output for m in result.mismatches] == ["z"] * 3
    assert {m.index for m in result.mismatches} == {(2,)}


def test_integers_off_by_one_are_found() -> None:
    text = "g (int64[50] x) => (int64[50] y) <int64 k = {%d}> { y = Div(x, k) }"
    assert check(text % 7, text % 7).ok
    result = check(text % 7, text % 6)
    assert "became" in str(result.mismatches[0])


def test_integer_division_is_tried_with_negative_numbers() -> None:
    """-3 / 2 * 2 + x % 2 == x holds for floors; ONNX truncates."""
    before = "g (int64[99] x) => (int64[99] y) { y = Identity(x) }"
    after = (
        "g (int64[99] x) => (int64[99] y) <int64 k = {2}>"
        "{ d = Div(x, k) e = Mul(d, k) m = Mod(x, k) y = Add(e, m) }"
    )
    assert not check(before, after).ok


def test_nan_must_stay() -> None:
    before = "g (float[20] x) => (float[20] y) { y = Sqrt(x) }"
    after = "g (float[20] x) => (float[20] y) { a = Abs(x) y = Sqrt(a) }"
    result = check(before, after)
    assert "NaN must stay" in str(result.mismatches[0])


def test_wrong_element_type_shape_and_missing_output() -> None:
    before = "g (float[3] x) => (float[3] y) { y = Relu(x) }"
    double = "g (float[3] x) => (double[3] y) { a = Relu(x) y = Cast<to=11>(a) }"
    shape = (
        "g (float[3] x) => (float[1,3] y) <int64[1] a = {0}> { b = Relu(x) y = Unsqueeze(b, a) }"
    )
    renamed = "g (float[3] x) => (float[3] z) { z = Relu(x) }"
    assert "float became double" in str(check(before, double).mismatches[0])
    assert "[3] became [1, 3]" in str(check(before, shape).mismatches[0])
    assert "the outputs are z instead of y" in str(check(before, renamed).mismatches[0])


LITTLE = "the outputs are empty or NaN throughout, so that this tells little"


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.full((2, 4), np.nan), LITTLE),
        (np.zeros((0, 4)), LITTLE),
        (np.array([[np.nan, np.nan, np.nan, 1]]), ""),
        (np.full((1, 4), np.inf), ""),
    ],
)
def test_samples_that_tell_little(tmp_path: Path, array: np.ndarray, said: str) -> None:
    """Both models agree on NaN, whatever they compute."""
    np.savez(tmp_path / "x.npz", x=array.astype(np.float32))
    before, after = (
        model(f"g (float[N,4] x) => (float[N,4] y) {{ y = {op}(x) }}") for op in ("Relu", "Abs")
    )
    result = verify(before, after, VerifySettings(input_data=str(tmp_path / "x.npz")))
    assert (result.ok, result.samples, result.skipped) == (True, 1, said)


def test_a_size_that_is_baked_in_is_found() -> None:
    """Correct at N = 2 alone."""
    before = "g (float[N,4] x) => (float[M] y) <int64[1] s = {-1}> { y = Reshape(x, s) }"
    after = "g (float[N,4] x) => (float[M] y) <int64[1] s = {8}> { y = Reshape(x, s) }"
    result = check(before, after)
    assert "fails where the original runs" in str(result.mismatches[0])


def test_a_symbolic_dim_is_also_one() -> None:
    """Correct but where N = 1: then the sum keeps the dim."""
    before = "g (float[N,4] x) => (float[N,4] y) { y = Identity(x) }"
    after = (
        "g (float[N,4] x) => (float[N,4] y) <int64 one = {1}, int64 z = {0}, float f = {2}>"
        "{ s = Shape(x) n = Gather(s, z) e = Equal(n, one) d = Cast<to=1>(e) y = Add(x, d) }"
    )
    result = check(before, after)
    assert [m.sample for m in result.mismatches] == [1]


def test_indices_below_a_table_are_found_by_trying() -> None:
    text = "g (int64[N] i) => (float[N,2] y) <float[3,2] t = {1,2,3,4,5,6}> { y = Gather(t, i) }"
    assert check(text, text).ok


def test_sizes_that_a_model_demands_are_found_by_trying() -> None:
    text = "g (float[N,H] x) => (float[N,K,32] y) <int64[3] s = {0,-1,32}> { y = Reshape(x, s) }"
    result = check(text, text)
    assert (result.ok, result.samples) == (True, 3)


def test_a_shape_as_input() -> None:
    text = "g (float[2,3] x, int64[2] s) => (float[A,B] y) { y = Expand(x, s) }"
    assert check(text, text).ok


def test_fixed_dims_are_used() -> None:
    before = "g (float[N,4] x) => (float[M] y) <int64[1] s = {-1}> { y = Reshape(x, s) }"
    after = "g (float[2,4] x) => (float[M] y) <int64[1] s = {8}> { y = Reshape(x, s) }"
    assert verify(model(before), model(after), SETTINGS, {"N": 2}).ok


def test_strings_bools_and_sequences() -> None:
    strings = "g (string[4] x) => (string[4] y) { y = Identity(x) }"
    bools = "g (bool[4] x) => (bool[4] y) { y = Not(x) }"
    wrong = "g (bool[4] x) => (bool[4] y) { y = Identity(x) }"
    seq = "g (seq(float[3]) x) => (float[3] y) <int64 i = {1}> { y = SequenceAt(x, i) }"
    other = "g (seq(float[3]) x) => (float[3] y) <int64 i = {2}> { y = SequenceAt(x, i) }"
    assert check(strings, strings).ok
    assert check(bools, bools).ok
    assert not check(bools, wrong).ok
    assert check(seq, seq).ok
    assert not check(seq, other).ok


def test_maps() -> None:
    """As classifiers give: numbers as precise as the tensors that they come from."""
    head = '<ir_version: 8, opset_import: ["": 18, "ai.onnx.ml": 3]>'
    text = head + (
        "g (float[N,2] x) => (seq(map(string, float)) y) {"
        ' a = %s(x) y = ai.onnx.ml.ZipMap<classlabels_strings=["p","q"]>(a) }'
    )
    left = parser.parse_model(text % "Softplus")
    spelt = "b = Exp(x) k = Constant<value = float {1.000001}>() c = Add(b, k) a = Log(c)"
    rounded = parser.parse_model((text % "Log").replace("a = Log(x)", spelt))
    assert verify(left, rounded, SETTINGS).ok
    wrong = verify(left, parser.parse_model(text % "Relu"), SETTINGS)
    assert "became" in str(wrong.mismatches[0])
    inputs = head + (
        "g (map(int64, float) m, float[3] x) => (float[K,3] y) {"
        ' a = ai.onnx.ml.CastMap<cast_to="TO_FLOAT", map_form="SPARSE", max_map=3>(m)'
        " y = %s(a, x) }"
    )
    assert not compare({}, {}, 1).problem
    assert compare({}, {"a": 1.0}, 1).problem
    added = parser.parse_model(inputs % "Add")
    assert verify(added, parser.parse_model(inputs % "Add"), SETTINGS).ok
    assert not verify(added, parser.parse_model(inputs % "Sub"), SETTINGS).ok


def test_narrow_types_at_the_border() -> None:
    text = "g (bfloat16[4] x) => (bfloat16[4] y) { y = Identity(x) }"
    half = "g (bfloat16[4] x) => (bfloat16[4] y) { y = Neg(x) }"
    assert check(text, text).ok
    assert not verify(model(text), model(half), SETTINGS).ok


@pytest.mark.parametrize("weight", ["w", "s"])
def test_narrow_types_that_pass_through(weight: str) -> None:
    """An input, and an initializer, sparse or not, that are outputs themselves."""
    text = (
        f"g (bfloat16[2] x) => (bfloat16[2] x, bfloat16[2] {weight}, float[2] y)"
        "{ a = Cast <to = 1> (x) y = %s(a) }"
    )

    def build(op: str) -> onnx.ModelProto:
        proto = model(text % op)
        values = helper.make_tensor(weight, onnx.TensorProto.BFLOAT16, [2], [1, 2])
        if weight == "w":
            proto.graph.initializer.append(values)
        else:
            indices = numpy_helper.from_array(np.array([0, 1], np.int64), "i")
            sparse = helper.make_sparse_tensor(values, indices, [2])
            proto.graph.sparse_initializer.append(sparse)
        return proto

    same = verify(build("Neg"), build("Neg"), SETTINGS)
    assert (same.ok, same.samples, same.skipped) == (True, 3, "")
    wrong = verify(build("Neg"), build("Identity"), SETTINGS)
    assert {mismatch.output for mismatch in wrong.mismatches} == {"y"}


def test_random_outputs_are_compared_by_shape_alone() -> None:
    text = "g (float[9] x) => (float[9] y, float[9] z) { y = RandomNormalLike(x) z = %s(x) }"
    assert check(text % "Neg", text % "Neg").ok
    assert [m.output for m in check(text % "Neg", text % "Abs").mismatches] == ["z"] * 3


def test_shapes_that_chance_decides_are_not_compared() -> None:
    """onnxruntime draws by the place of a node."""
    text = (
        "g (float[64] x) => (int64[1,K] y, float[64] z)"
        "{ a = %s(x) p = Sigmoid(a) b = Bernoulli(p) y = NonZero(b) z = Neg(x) }"
    )
    left = model(text % "Identity")
    right = model(text.replace("a = %s(x) p = Sigmoid(a)", "p = Sigmoid(x)"))
    wrong = model((text % "Neg").replace("Neg(x) }", "Neg(a) }"))
    types = read_model(left, ModelSettings()).types
    assert verify(left, right, SETTINGS, types=types).ok
    assert {m.output for m in verify(left, wrong, SETTINGS, types=types).mismatches} == {"z"}


def test_functions_of_one_name_are_told_apart() -> None:
    text = """<ir_version: 10, opset_import: ["": 18, "f": 1]>
    g (float[9] x) => (float[9] y, float[9] z) { y = f.h:noise(x) a = f.h:turn(x) z = %s(a) }
    <domain: "f", overload: "noise", opset_import: ["": 18]> h (a) => (b)
    { b = RandomNormalLike(a) }
    <domain: "f", overload: "turn", opset_import: ["": 18]> h (a) => (b) { b = Neg(a) }"""
    left, right = parser.parse_model(text % "Neg"), parser.parse_model(text % "Abs")
    assert verify(left, left, SETTINGS).ok
    assert {m.output for m in verify(left, right, SETTINGS).mismatches} == {"z"}


def test_overridable_initializers_are_overridden_too() -> None:
    """The default of k is 1: folding it would be seen only when it is overridden."""
    k = numpy_helper.from_array(np.ones(3, np.float32), "k")
    values = [helper.make_tensor_value_info(n, 1, [3]) for n in ("x", "k", "y")]

    def build(op: str) -> onnx.ModelProto:
        node = helper.make_node(op, ["x", "k"] if op == "Mul" else ["x"], ["y"])
        graph = helper.make_graph([node], "g", values[:2], values[2:], [k])
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=9)

    result = verify(build("Mul"), build("Identity"), SETTINGS)
    assert [m.sample for m in result.mismatches] == [1]


def test_a_model_that_does_not_load_is_reported() -> None:
    before = "g (float[3] x) => (float[3] y) { y = Relu(x) }"
    after = "g (float[3] x) => (float[3] y) { y = Conv(x, x) }"
    assert "does not load" in str(check(before, after).mismatches[0])


def test_what_onnxruntime_cannot_run_is_run_by_the_reference() -> None:
    text = "g (float16[3] x) => (float16[3] y) { a = Relu(x) y = Celu(a) }"
    assert model(text)
    doubly = model("g (float[3] x) => (float[3] y) { [n] a = Relu(x) [n] y = Neg(a) }")
    fixed = model("g (float[3] x) => (float[3] y) { [n] a = Relu(x) [m] y = Neg(a) }")
    wrong = model("g (float[3] x) => (float[3] y) { [n] a = Relu(x) [m] y = Identity(a) }")
    assert verify(doubly, fixed, SETTINGS).runner == "the reference evaluator"
    assert verify(doubly, fixed, SETTINGS).ok
    assert not verify(doubly, wrong, SETTINGS).ok


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("opset", [7, 9, 13, 15])
def test_the_reference_normalises_as_onnxruntime_does(opset: int) -> None:
    """A batch normalisation of one output does not train, whatever its momentum."""
    text = (
        "g (float[2,3,4] x, float[3] s, float[3] b, float[3] m, float[3] v) => (float[2,3,4] y)"
        "{ y = BatchNormalization<momentum=0.5>(x, s, b, m, v) }"
    )
    source = Source(model(text, opset=opset))
    rng = np.random.default_rng(0)
    feeds = {name: rng.uniform(0.5, 2.0, 3).astype(np.float32) for name in "sbmv"}
    feeds["x"] = rng.standard_normal((2, 3, 4)).astype(np.float32)
    (expected,) = open_runner(source).run(feeds)
    (found,) = open_reference(source).run(feeds)
    np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_the_reference_inserts_axes_in_any_order() -> None:
    text = "g (float[3,4] x) => (float[1,3,1,4] y) { y = Unsqueeze<axes=[2, 0]>(x) }"
    (found,) = open_reference(Source(model(text, opset=11))).run({"x": np.zeros((3, 4), "f4")})
    assert found.shape == (1, 3, 1, 4)


def test_the_reference_says_nothing_of_infinities() -> None:
    """numpy warns of a logarithm of nothing, on the screen of whoever runs a model of bf16."""
    text = "g (bfloat16[2] x) => (bfloat16[2] y) { z = Sub(x, x) y = Log(z) }"
    runner = open_reference(Source(model(text)))
    (output,) = runner.run({"x": np.ones(2, np.float32)})
    assert np.isneginf(output).all()


CAST = """g (float[2,4] x) => (float[2,4] y) <float k = {%s}> {
  h = Cast<to = 10>(x) n = Cast<to = 10>(k) a = Mul(h, n) y = Cast<to = 1>(a)
}"""


def test_an_output_is_as_precise_as_what_it_is_made_of() -> None:
    """Models of f16 mostly have outputs of f32, and what rounds is f16."""
    before, near, far = (model(CAST % k) for k in (2.0, 2.004, 2.2))
    types = read_model(before, ModelSettings()).types
    assert verify(before, near, SETTINGS, types=types).ok
    assert not verify(before, far, SETTINGS, types=types).ok
    inputs = (
        "g (float16[4] x) => (float[4] y) <float k = {%s}> { a = Cast<to = 1>(x) y = Mul(a, k) }"
    )
    before, near = (model(inputs % k) for k in (2.0, 2.004))
    types = read_model(before, ModelSettings()).types
    assert not verify(before, near, SETTINGS, types=types).ok, "an input of f16 is exact"


@pytest.mark.parametrize(
    ("code", "said"),
    [(0, "has no element type"), (77, "has the element type 77, which ONNX does not define")],
)
def test_an_input_whose_element_type_is_none(code: int, said: str) -> None:
    """No numbers can be drawn for it."""
    odd, other = (model("g (float[3] x) => (float[3] y) { y = Relu(x) }") for _ in range(2))
    odd.graph.input[0].type.tensor_type.elem_type = code
    result = verify(odd, other, SETTINGS)
    assert not result.ok
    assert result.skipped == f"the original model cannot be run: input 'x' {said}"


@pytest.mark.parametrize("code", [0, 77])
def test_an_output_whose_element_type_is_none(code: int) -> None:
    """The other model must say the same of it."""
    plain = model("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    odd = model("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    odd.graph.output[0].type.tensor_type.elem_type = code
    assert not verify(odd, odd, SETTINGS).mismatches
    (mismatch,) = verify(odd, plain, SETTINGS).mismatches
    assert mismatch.problem.endswith("became float")


def test_an_overridable_initializer_whose_element_type_is_none_is_not_overridden() -> None:
    text = "g (float[3] x, float[3] w) => (float[3] y) <float[3] w = {1,2,3}> { y = Mul(x, w) }"
    odd = model(text)
    odd.graph.input[1].type.tensor_type.elem_type = 77
    assert not verify(odd, odd, SETTINGS).mismatches


def test_what_nothing_can_compare_is_skipped_and_not_ok() -> None:
    """The one operator that reads the input is unknown, and what it gives has no type."""
    head = '<ir_version: 9, opset_import: ["": 18, "acme": 1]>'
    text = "g (float[3] x) => (float[3] y) { a = acme.%s(x) y = Relu(a) }"
    before, after = (parser.parse_model(head + text % op) for op in ("Op", "Other"))
    result = verify(before, after, SETTINGS)
    assert not result.ok
    assert "cannot be run" in result.skipped
    with pytest.raises(VerificationError, match="could not be verified"):
        require(result)


def test_switched_off() -> None:
    result = verify(model(SCALED % 1.0), model(SCALED % 3.0), VerifySettings(enabled=False))
    assert (result.ok, result.samples, result.skipped) == (True, 0, "switched off")


def test_compare_special_values() -> None:
    nan, inf = np.float32(math.nan), np.float32(math.inf)
    one = np.array([nan, inf, -inf, 1], np.float32)
    assert compare(one, one, 1).problem == ""
    assert "inf must stay" in compare(one, np.array([nan, -inf, -inf, 1], np.float32), 1).problem
    assert compare(one, np.array([nan, inf, -inf, 1.01], np.float32), 1).index == (3,)


def test_what_rounding_may_have_left_is_told_from_what_is_wrong() -> None:
    zero = np.zeros(3, np.float32)
    for expected, lost in ((4e-6, True), (1e-3, False), (1.0, False), (np.inf, True)):
        found = compare(np.array([0, expected, 0], np.float32), zero, 1)
        assert (bool(found.problem), found.beyond_reals) == (True, lost), expected
    assert not compare(zero, np.array([0, np.nan, 0], np.float32), 1).beyond_reals


def test_compare_scales_with_the_output() -> None:
    big = np.array([1e6, 0.0], np.float32)
    assert compare(big, big + np.float32(1), 1).relative == pytest.approx(1e-6)
    assert compare(big, big + np.float32(1), 1).problem == ""
    assert compare(big / 1e6, big / 1e6 + np.float32(1), 1).problem


def test_randomised_weights_keep_activations_finite_and_are_reproducible() -> None:
    deep = "".join(f"a{i} = MatMul(a{i - 1}, w{i}) " for i in range(1, 41))
    proto = model(f"g (float[2,64] a0) => (float[2,64] a40) {{ {deep} }}")
    for i in range(1, 41):
        proto.graph.initializer.append(
            numpy_helper.from_array(np.full((64, 64), 0.02, np.float32), f"w{i}")
        )
    first, second = randomise_initializers(proto, 3), randomise_initializers(proto, 3)
    assert first.SerializeToString() == second.SerializeToString()
    w = numpy_helper.to_array(first.graph.initializer[0])
    assert w.std() == pytest.approx(math.sqrt(2 / 64), rel=0.05)


def test_the_checker_must_accept_the_result() -> None:
    before = model("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    after = model("g (float[3] x) => (float[3] y) { y = Relu(x) }")
    after.graph.node[0].attribute.append(helper.make_attribute("no_such_attribute", 1))
    result = verify(before, after, SETTINGS)
    assert "onnx.checker refuses" in str(result.mismatches[0])


def test_what_a_saturated_output_hides_is_found() -> None:
    """The scores are thousands apart: the softmax of either is a one among zeros."""
    text = (
        "g (float[N,4] x) => (float[N,4] y) <float k = {1e5}, float[4] d = {%s}>"
        "{ a = Mul(x, k) b = Add(a, d) y = Softmax(b) }"
    )
    result = check(text % "0,0,0,0", text % "0,0,0,199")
    assert not result.ok
    assert "what Softmax makes output 'y' of" in str(result.mismatches[0])
    assert check(text % "0,0,0,0", text % "0,0,0,0").ok
    shifted = check(text % "0,0,0,0", text % "9e4,9e4,9e4,9e4")
    assert shifted.ok, shifted


def test_what_is_not_saturated_is_compared_by_its_outputs_alone() -> None:
    """Scores of -1e4 and -1e5 are both nothing to a softmax whose other scores are near."""
    text = (
        "g (float[N,8] x) => (float[N,8] y) <float[8] m = {0,0,0,0,0,0,0,%s}>"
        "{ a = Add(x, m) y = Softmax(a) }"
    )
    assert check(text % "-1e4", text % "-1e5").ok
