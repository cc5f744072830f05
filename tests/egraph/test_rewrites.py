"""Rewrites: patterns, directions, attributes, optional inputs, literals, constants, types."""

from __future__ import annotations

import pytest
from cases import Case, found_and_expected
from line import Line

RELU = "rewrite relu: Relu(Relu(x)) => Relu(x)"
TRANSPOSE = (
    "rewrite fuse: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(p, q))"
)

PATTERNS = [
    Case(
        "to_a_variable",
        "rewrite r: Neg(Neg(x)) => x",
        "(float[2] x) => (float[2] y) { a = Neg(x) b = Neg(a) y = Relu(b) }",
        "Relu(x)",
    ),
    Case(
        "to_a_graph_input",
        "rewrite r: Neg(Neg(x)) => x",
        "(float[2] x) => (float[2] y) { a = Neg(x) y = Neg(a) }",
        "Identity(x)",
    ),
    Case(
        "repeatedly",
        RELU,
        "(float[2] x) => (float[2] y) { a = Relu(x) b = Relu(a) c = Relu(b) y = Relu(c) }",
        "Relu(x)",
    ),
    Case(
        "a_repeated_variable_is_one_tensor",
        "rewrite r: Sub(Add(x, z), z) => x",
        "(float[2] x, float[2] z) => (float[2] y) { a = Add(x, z) b = Sub(a, z) y = Relu(b) }",
        "Relu(x)",
    ),
    Case(
        "other_tensors_do_not_match_a_repeated_variable",
        "rewrite r: Sub(Add(x, z), z) => x",
        "(float[2] x, float[2] z) => (float[2] y) { a = Add(x, z) b = Neg(z) y = Sub(a, b) }",
        "Sub(Add(x, z), Neg(z))",
    ),
    Case(
        "equal_nodes_are_one_tensor",
        "rewrite r: And(a, a) => a",
        "(bool[2] x) => (bool[2] y) { a = Not(x) b = Not(x) c = And(a, b) y = Not(c) }",
        "Not(Not(x))",
    ),
    Case(
        "backward_direction",
        "rewrite r: Relu(Neg(x)) <=> Neg(Min(x, Sub(x, x)))",
        "(float[2] x) => (float[2] y) { a = Sub(x, x) b = Min(x, a) y = Neg(b) }",
        "Relu(Neg(x))",
    ),
    Case(
        "forward_direction",
        "rewrite r: Relu(Neg(x)) <=> Neg(Min(x, Sub(x, x)))",
        "(float[2] x) => (float[2] y) { a = Neg(x) y = Relu(a) }",
        "Neg(Min(x, Sub(x, x)))",
        "Relu = 9",
    ),
    Case(
        "commutative_as_written",
        "rewrite r: Add(Relu(x), Neg(z)) => Sub(Relu(x), z)",
        "(float[2] x, float[2] z) => (float[2] y) { a = Relu(x) b = Neg(z) y = Add(a, b) }",
        "Sub(Relu(x), z)",
    ),
    Case(
        "commutative_the_other_way",
        "rewrite r: Add(Relu(x), Neg(z)) => Sub(Relu(x), z)",
        "(float[2] x, float[2] z) => (float[2] y) { a = Relu(x) b = Neg(z) y = Add(b, a) }",
        "Sub(Relu(x), z)",
    ),
    Case(
        "commutative_both_nested",
        "rewrite r: Mul(Add(a, Neg(b)), Relu(c)) => Mul(Sub(a, b), Relu(c))",
        """(float[2] p, float[2] q, float[2] r) => (float[2] y)
        { a = Neg(q) b = Add(a, p) c = Relu(r) y = Mul(c, b) }""",
        "Mul(Relu(r), Sub(p, q))",
    ),
    Case(
        "commutative_of_many_inputs_the_other_way",
        "rewrite r: Max(Relu(x), Neg(z)) => Neg(Min(Neg(Relu(x)), z))",
        "(float[2] x, float[2] z) => (float[2] y) { a = Relu(x) b = Neg(z) y = Max(b, a) }",
        "Neg(Min(Neg(Relu(x)), z))",
        "Max = 9",
    ),
    Case(
        "not_commutative",
        "rewrite r: Sub(Relu(x), z) => Sub(x, z) where rank(x) == 5",
        "(float[2] x, float[2] z) => (float[2] y) { a = Relu(x) y = Sub(z, a) }",
        "Sub(z, Relu(x))",
    ),
    Case(
        "first_output_of_an_operator_with_several",
        "rewrite r: Relu(MaxPool(x, kernel_shape=k, **o)) => MaxPool(Relu(x), kernel_shape=k, **o)",
        "(float[1,1,4,4] x) => (float[1,1,2,2] y) "
        "{ a = MaxPool<kernel_shape=[2,2], strides=[2,2]>(x) y = Relu(a) }",
        "MaxPool(Relu(x), kernel_shape=[2, 2], strides=[2, 2])",
        "Relu = 50 - numel(x)",
        opset=21,
    ),
]

ATTRIBUTES = [
    Case(
        "bound_and_computed",
        TRANSPOSE,
        "(float[2,3,4] x) => (float[4,2,3] y) "
        "{ a = Transpose<perm=[1,2,0]>(x) y = Transpose<perm=[1,2,0]>(a) }",
        # a[i,j,k] = x[k,i,j]; y[i,j,k] = a[k,i,j] = x[j,k,i]: its dims are x's 2, 0, 1.
        "Transpose(x, perm=[2, 0, 1])",
    ),
    Case(
        "bound_twice_must_be_equal",
        "rewrite r: Softmax(Softmax(x, axis=k), axis=k) => Softmax(x, axis=k) where rank(x) == 9",
        "(float[2,3] x) => (float[2,3] y) { a = Softmax<axis=0>(x) y = Softmax<axis=1>(a) }",
        "Softmax(Softmax(x, axis=0), axis=1)",
    ),
    Case(
        "required_value",
        "rewrite r: Transpose(Transpose(x, perm=[1, 0]), perm=[1, 0]) => x",
        "(float[2,3] x) => (float[2,3] y) "
        "{ a = Transpose<perm=[1,0]>(x) b = Transpose<perm=[1,0]>(a) y = Relu(b) }",
        "Relu(x)",
    ),
    # A pattern is the node that it writes down, however the model spells it.
    Case(
        "pads_that_are_those_of_auto_pad",
        'rewrite r: Relu(MaxPool(x, kernel_shape=[3], auto_pad="SAME_UPPER")) => Relu(x)'
        " where rank(x) == 3",
        "(float[1,1,5] x) => (float[1,1,5] y) "
        "{ a = MaxPool<kernel_shape=[3], pads=[1,1]>(x) y = Relu(a) }",
        "Relu(x)",
        settings={"check": False},
    ),
    Case(
        "pads_that_are_not_those_of_auto_pad",
        'rewrite r: Relu(MaxPool(x, kernel_shape=[3], auto_pad="SAME_UPPER")) => Relu(x)',
        "(float[1,1,5] x) => (float[1,1,5] y) "
        "{ a = MaxPool<kernel_shape=[3], pads=[2,0]>(x) y = Relu(a) }",
        "Relu(MaxPool(x, kernel_shape=[3], pads=[2, 0]))",
    ),
    Case(
        "auto_pad_beside_all_other_attributes",
        'rewrite r: Neg(MaxPool(x, auto_pad="VALID", **rest)) => MaxPool(Neg(x), **rest)',
        "(float[1,1,5] x) => (float[1,1,2] y) "
        "{ a = MaxPool<kernel_shape=[3], strides=[2]>(x) y = Neg(a) }",
        "MaxPool(Neg(x), kernel_shape=[3], strides=[2])",
        prices="Neg = 100 - numel(x)",
        settings={"check": False},
    ),
    Case(
        "an_end_that_is_the_rank",
        "rewrite r: Neg(Neg(Shape(x, start=1, end=rank(x)))) => Shape(x, start=1)",
        "(float[2,N,M] x) => (int64[2] y) { a = Shape<start=1>(x) b = Neg(a) y = Neg(b) }",
        "Shape(x, start=1)",
    ),
    Case(
        "another_value_than_required",
        "rewrite r: Transpose(Transpose(x, perm=[1, 0]), perm=[0, 1]) => Transpose(x, perm=[1, 0])",
        "(float[2,3] x) => (float[2,3] y) "
        "{ a = Transpose<perm=[1,0]>(x) y = Transpose<perm=[1,0]>(a) }",
        "Transpose(Transpose(x, perm=[1, 0]), perm=[1, 0])",
    ),
    Case(
        "required_value_that_is_computed",
        "rewrite r: Softmax(Relu(x), axis=rank(x) - 1) => Relu(Softmax(x, axis=0)) "
        "where dim(x, 0) == dim(x, 1), 1 == 2",
        "(float[2,2] x) => (float[2,2] y) { a = Relu(x) y = Softmax<axis=-1>(a) }",
        "Softmax(Relu(x), axis=-1)",
    ),
    Case(
        "a_negative_axis_is_the_axis",
        "rewrite r: Flatten(x, axis=1) => Reshape(x, i64([2, 12]))",
        "(float[2,3,4] x) => (float[2,12] y) { y = Flatten<axis=-2>(x) }",
        "Reshape(x, [2, 12])",
        "Flatten = 9",
    ),
    Case(
        "any_value",
        "rewrite r: Relu(Softmax(x, axis=_)) => Softmax(x, axis=0) where rank(x) == 1",
        "(float[4] x) => (float[4] y) { a = Softmax<axis=-1>(x) y = Relu(a) }",
        "Softmax(x, axis=-1)",
    ),
    Case(
        "unmentioned_is_the_default_of_the_rank",
        "rewrite r: Transpose(Transpose(x)) => x",
        "(float[2,3,4] x) => (float[2,3,4] y) "
        "{ a = Transpose(x) b = Transpose<perm=[2,1,0]>(a) y = Relu(b) }",
        "Relu(x)",
    ),
    Case(
        "unmentioned_is_not_anything",
        "rewrite r: Transpose(Transpose(x)) => x",
        "(float[3,3,3] x) => (float[3,3,3] y) { a = Transpose(x) y = Transpose<perm=[2,0,1]>(a) }",
        "Transpose(Transpose(x), perm=[2, 0, 1])",
    ),
    Case(
        "an_explicit_default_is_the_default",
        "rewrite r: Relu(LeakyRelu(x)) => Relu(x)",
        "(float[2] x) => (float[2] y) { a = LeakyRelu<alpha=0.01>(x) y = Relu(a) }",
        "Relu(x)",
    ),
    Case(
        "what_inputs_imply_is_no_attribute",
        "rewrite r: Conv(Neg(x), w) => Neg(Conv(x, w))",
        "(float[1,1,4,4] x) => (float[1,1,2,2] y) <float[1,1,3,3] w> "
        "{ a = Neg(x) y = Conv<kernel_shape=[3,3], dilations=[1,1], pads=[0,0,0,0]>(a, w) }",
        "Neg(Conv(x, w))",
        "Neg = numel(x)",
    ),
    Case(
        "a_grouped_convolution_is_no_plain_one",
        "rewrite r: Conv(Neg(x), w) => Neg(Conv(x, w))",
        "(float[1,2,4,4] x) => (float[1,2,2,2] y) <float[2,1,3,3] w> "
        "{ a = Neg(x) y = Conv<group=2>(a, w) }",
        "Conv(Neg(x), w, group=2)",
        "Neg = numel(x)",
    ),
    Case(
        "rest_is_kept",
        "rewrite r: Conv(Neg(x), w, **attrs) => Neg(Conv(x, w, **attrs))",
        "(float[1,2,4,4] x) => (float[1,2,2,2] y) <float[2,1,2,2] w> "
        "{ a = Neg(x) y = Conv<group=2, strides=[2,2]>(a, w) }",
        "Neg(Conv(x, w, group=2, strides=[2, 2]))",
        "Neg = numel(x)",
    ),
    Case(
        "rest_beside_a_mentioned_one_which_wins",
        "rewrite r: Relu(MaxPool(x, kernel_shape=k, **o)) => MaxPool(Relu(x), kernel_shape=k, **o)",
        "(float[1,1,5,5] x) => (float[1,1,2,2] y) "
        "{ a = MaxPool<kernel_shape=[2,3], strides=[3,2]>(x) y = Relu(a) }",
        "MaxPool(Relu(x), kernel_shape=[2, 3], strides=[3, 2])",
        "Relu = 50 - numel(x)",
    ),
    Case(
        "rest_captured_twice_must_be_equal",
        "rewrite r: Add(Conv(a, w, **o), Conv(b, w, **o)) => Conv(Add(a, b), w, **o)",
        "(float[1,1,5,5] p, float[1,1,5,5] q) => (float[1,1,2,2] y) <float[1,1,2,2] w> "
        "{ a = Conv<strides=[2,2]>(p, w) b = Conv<dilations=[3,3]>(q, w) y = Add(a, b) }",
        "Add(Conv(p, w, strides=[2, 2]), Conv(q, w, dilations=[3, 3]))",
    ),
    Case(
        "rest_captured_twice_and_equal",
        "@real rewrite r: Add(Conv(a, w, **o), Conv(b, w, **o)) => Conv(Add(a, b), w, **o)",
        "(float[1,1,5,5] p, float[1,1,5,5] q) => (float[1,1,2,2] y) <float[1,1,2,2] w> "
        "{ a = Conv<strides=[2,2]>(p, w) b = Conv<strides=[2,2]>(q, w) y = Add(a, b) }",
        "Conv(Add(p, q), w, strides=[2, 2])",
    ),
    Case(
        "an_element_type_as_attribute",
        "rewrite r: Cast(Cast(x: T, to=S), to=T) => x where dtype(x) == f32, S == f64",
        "(float[2] x) => (float[2] y) { a = Cast<to=11>(x) b = Cast<to=1>(a) y = Relu(b) }",
        "Relu(x)",
    ),
    Case(
        "a_string_attribute",
        'rewrite r: Gelu(x, approximate="tanh") => Gelu(x) where 1 == 2',
        '(float[2] x) => (float[2] y) { y = Gelu<approximate="tanh">(x) }',
        "Gelu(x, approximate=tanh)",
        "Gelu = 9",
        opset=20,
    ),
]

OPTIONAL = [
    Case(
        "left_out_must_be_absent_and_is",
        "rewrite r: Clip(Relu(x)) => Relu(x)",
        "(float[2] x) => (float[2] y) { a = Relu(x) y = Clip(a) }",
        "Relu(x)",
    ),
    Case(
        "left_out_must_be_absent_and_is_not",
        "rewrite r: Clip(Relu(x)) => Relu(x)",
        "(float[2] x) => (float[2] y) <float m> { a = Relu(x) y = Clip(a, m) }",
        "Clip(Relu(x), m)",
    ),
    Case(
        "handed_on_present",
        "rewrite r: Clip(Clip(x, a?, b?), a?, b?) => Clip(x, a?, b?)",
        "(float[2] x) => (float[2] y) <float m> { a = Clip(x, , m) y = Clip(a, , m) }",
        "Clip(x, _, m)",
    ),
    Case(
        "handed_on_absent",
        "rewrite r: Conv(Neg(x), w, b?) => Conv(x, Neg(w), b?)",
        "(float[1,1,3,3] x) => (float[1,1,2,2] y) <float[1,1,2,2] w> { a = Neg(x) y = Conv(a, w) }",
        "Conv(x, <1x1x2x2>)",
    ),
    Case(
        "maybe_present",
        "rewrite r: Neg(Conv(x, w, b?)) => Conv(x, Neg(w), Neg(b)?)",
        "(float[1,1,3,3] x) => (float[1,1,2,2] y) <float[1,1,2,2] w, float[1] b> "
        "{ a = Conv(x, w, b) y = Neg(a) }",
        "Conv(x, <1x1x2x2>, <1>)",
    ),
    Case(
        "maybe_absent",
        "rewrite r: Neg(Conv(x, w, b?)) => Conv(x, Neg(w), Neg(b)?)",
        "(float[1,1,3,3] x) => (float[1,1,2,2] y) <float[1,1,2,2] w> { a = Conv(x, w) y = Neg(a) }",
        "Conv(x, <1x1x2x2>)",
    ),
    Case(
        "weight_holds_of_an_absent_input",
        "rewrite r: Neg(Conv(x, w, b?)) => Conv(x, Neg(w), Neg(b)?) where weight(w), weight(b)",
        "(float[1,1,3,3] x) => (float[1,1,2,2] y) <float[1,1,2,2] w> { a = Conv(x, w) y = Neg(a) }",
        "Conv(x, <1x1x2x2>)",
    ),
    Case(
        "weight_does_not_hold_of_an_input_of_the_graph",
        "rewrite r: Neg(Conv(x, w, b?)) => Conv(x, Neg(w), Neg(b)?) where weight(w), weight(b)",
        "(float[1,1,3,3] x, float[1] z) => (float[1,1,2,2] y) <float[1,1,2,2] w> "
        "{ a = Conv(x, w, z) y = Neg(a) }",
        "Neg(Conv(x, w, z))",
    ),
]


@pytest.mark.parametrize("case", PATTERNS, ids=str)
def test_patterns(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected


@pytest.mark.parametrize("case", ATTRIBUTES, ids=str)
def test_attributes(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected


@pytest.mark.parametrize("case", OPTIONAL, ids=str)
def test_optional_inputs(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected
