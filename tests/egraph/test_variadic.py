"""Variadic inputs (prefix, run, suffix, mapped runs), and operators with several outputs."""

from __future__ import annotations

import pytest
from cases import Case, found_and_expected
from line import Line

FLATTEN = "rewrite r: Concat(Concat(*xs, axis=k), *ys, axis=k) => Concat(*xs, *ys, axis=k)"
POINTWISE = """class Pointwise = Relu | Sigmoid
rewrite r for F in Pointwise: Concat(*F(xs), axis=k) <=> F(Concat(*xs, axis=k))"""
SCALED = """rewrite r: Concat(*Mul(xs, c), axis=k) => Mul(Concat(*xs, axis=k), c) where scalar(c)"""

RUNS = [
    Case(
        "a_run_behind_a_pattern",
        FLATTEN,
        "(float[1] p, float[2] q, float[3] r) => (float[6] y) "
        "{ a = Concat<axis=0>(p, q) y = Concat<axis=0>(a, r) }",
        "Concat(p, q, r, axis=0)",
    ),
    Case(
        "an_empty_run",
        FLATTEN,
        "(float[1] p, float[2] q) => (float[3] y) "
        "{ a = Concat<axis=0>(p, q) y = Concat<axis=0>(a) }",
        "Concat(p, q, axis=0)",
    ),
    Case(
        "repeatedly",
        FLATTEN,
        "(float[1] p, float[1] q, float[1] r, float[1] s) => (float[4] y) "
        "{ a = Concat<axis=0>(p, q) "
        "b = Concat<axis=0>(a, r) y = Concat<axis=0>(b, s) }",
        "Concat(p, q, r, s, axis=0)",
    ),
    Case(
        "another_axis",
        FLATTEN,
        "(float[1,1] p, float[1,1] q, float[1,2] r) => (float[2,2] y) "
        "{ a = Concat<axis=1>(p, q) y = Concat<axis=0>(a, r) }",
        "Concat(Concat(p, q, axis=1), r, axis=0)",
    ),
    Case(
        "a_run_before_a_pattern",
        "rewrite r: Concat(*xs, Concat(*ys, axis=k), axis=k) => Concat(*xs, *ys, axis=k)",
        "(float[1] p, float[2] q, float[3] r) => (float[6] y) "
        "{ a = Concat<axis=0>(q, r) y = Concat<axis=0>(p, a) }",
        "Concat(p, q, r, axis=0)",
    ),
    Case(
        "a_run_between_two",
        "rewrite r: Concat(Neg(a), *xs, Neg(b), axis=0) => Neg(Concat(a, *xs, b, axis=0)) "
        "where len(xs) == 0",
        "(float[1] p, float[2] q) => (float[3] y) "
        "{ a = Neg(p) b = Neg(q) y = Concat<axis=0>(a, b) }",
        "Neg(Concat(p, q, axis=0))",
    ),
    Case(
        "a_run_between_two_keeps_its_order",
        "rewrite r: Concat(a, *xs, b, axis=0) => Concat(a, Concat(*xs, b, axis=0), axis=0) "
        "where len(xs) == 2",
        "(float[1] p, float[2] q, float[3] r, float[4] s) => (float[10] y) "
        "{ y = Concat<axis=0>(p, q, r, s) }",
        "Concat(p, Concat(q, r, s, axis=0), axis=0)",
        "Concat = if dim(concat_result, 0) == 10 and len(inputs) == 4 then 9 else 1",
    ),
    Case(
        "exactly_so_many",
        "rewrite r: Concat(Concat(a, b, axis=k), c, axis=k) => Concat(a, b, c, axis=k)",
        "(float[1] p, float[2] q, float[3] r) => (float[6] y, float[8] z) "
        "{ a = Concat<axis=0>(p, q) y = Concat<axis=0>(a, r) "
        "b = Concat<axis=0>(q, p) z = Concat<axis=0>(b, r, q) }",
        {"y": "Concat(p, q, r, axis=0)", "z": "Concat(Concat(q, p, axis=0), r, q, axis=0)"},
    ),
    Case(
        "the_same_run_twice",
        "rewrite r: Sub(Sum(*xs), Sum(*xs)) => Mul(Sum(*xs), f32(0)) where 1 == 1",
        "(float[2] p, float[2] q) => (float[2] y) { a = Sum(p, q) b = Sum(p, q) y = Sub(a, b) }",
        "Mul(Sum(p, q), f32(0))",
        "Sub = 9",
    ),
    Case(
        "types_of_all_elements",
        "rewrite r: Concat(*xs: T[2], axis=0) => Reshape(Concat(*xs, axis=0), i64([-1])) "
        "where len(xs) == 2",
        "(float[2] p, float[2] q, float[3] s) => (float[4] y, float[5] z) "
        "{ y = Concat<axis=0>(p, q) z = Concat<axis=0>(p, s) }",
        {"y": "Concat(p, q, axis=0)", "z": "Concat(p, s, axis=0)"},
    ),
    Case(
        "weight_of_all_elements",
        "rewrite r: Relu(Concat(*xs, axis=0)) => Neg(Neg(Relu(Concat(*xs, axis=0)))) "
        "where weight(xs)",
        "(float[2] x) => (float[4] y) <float[2] w> { a = Concat<axis=0>(x, w) y = Relu(a) }",
        "Relu(Concat(x, w, axis=0))",
        "Relu = 1",
    ),
    Case(
        "one_tensor_becomes_a_run",
        "rewrite r: Sum(a) => Identity(a)",
        "(float[2] x) => (float[2] y) { a = Sum(x) y = Relu(a) }",
        "Relu(Identity(x))",
        "Sum = 9",
    ),
]

MAPPED = [
    Case(
        "on_the_left",
        POINTWISE,
        "(float[1] p, float[2] q, float[3] r) => (float[6] y) "
        "{ a = Relu(p) b = Relu(q) c = Relu(r) y = Concat<axis=0>(a, b, c) }",
        "Relu(Concat(p, q, r, axis=0))",
    ),
    Case(
        "on_the_right",
        POINTWISE,
        "(float[1] p, float[2] q, float[3] r) => (float[6] y) "
        "{ a = Concat<axis=0>(p, q, r) y = Sigmoid(a) }",
        "Concat(Sigmoid(p), Sigmoid(q), Sigmoid(r), axis=0)",
        "Sigmoid = numel(x) ** 3 / 100",
    ),
    Case(
        "all_elements_or_none",
        POINTWISE,
        "(float[1] p, float[2] q, float[3] r) => (float[6] y) "
        "{ a = Relu(p) b = Sigmoid(q) c = Relu(r) y = Concat<axis=0>(a, b, c) }",
        "Concat(Relu(p), Sigmoid(q), Relu(r), axis=0)",
    ),
    Case(
        "what_does_not_vary_is_the_same",
        SCALED,
        "(float[1] p, float[2] q, float k) => (float[3] y) "
        "{ a = Mul(p, k) b = Mul(q, k) y = Concat<axis=0>(a, b) }",
        "Mul(k, Concat(p, q, axis=0))",
    ),
    Case(
        "what_does_not_vary_is_not_the_same",
        SCALED,
        "(float[1] p, float[2] q, float k, float h) => (float[3] y) "
        "{ a = Mul(p, k) b = Mul(q, h) y = Concat<axis=0>(a, b) }",
        "Concat(Mul(p, k), Mul(q, h), axis=0)",
    ),
    Case(
        "commutative_elements_in_any_order",
        SCALED,
        "(float[1] p, float[2] q, float k) => (float[3] y) "
        "{ a = Mul(p, k) b = Mul(k, q) y = Concat<axis=0>(a, b) }",
        "Mul(k, Concat(p, q, axis=0))",
    ),
    Case(
        "attributes_are_shared",
        "rewrite r: Concat(*Softmax(xs, axis=j), axis=k) => Softmax(Concat(*xs, axis=k), axis=j) "
        "where j != k",
        "(float[1,3] p, float[2,3] q) => (float[3,3] y) "
        "{ a = Softmax<axis=1>(p) b = Softmax<axis=1>(q) y = Concat<axis=0>(a, b) }",
        "Softmax(Concat(p, q, axis=0))",
    ),
    Case(
        "attributes_that_differ",
        "rewrite r: Concat(*Softmax(xs, axis=j), axis=k) => Softmax(Concat(*xs, axis=k), axis=j) "
        "where j == 1",
        "(float[1,3] p, float[2,3] q) => (float[3,3] y) "
        "{ a = Softmax<axis=1>(p) b = Softmax<axis=0>(q) y = Concat<axis=0>(a, b) }",
        "Concat(Softmax(p, axis=1), Softmax(q, axis=0), axis=0)",
    ),
    Case(
        "a_prefix_before_a_mapped_run",
        "rewrite r: Concat(Neg(a), *Neg(xs), axis=k) => Neg(Concat(a, *xs, axis=k))",
        "(float[1] p, float[2] q, float[3] r) => (float[6] y) "
        "{ a = Neg(p) b = Neg(q) c = Neg(r) y = Concat<axis=0>(a, b, c) }",
        "Neg(Concat(p, q, r, axis=0))",
    ),
    Case(
        "a_class_of_two_with_the_list_in_the_second_place",
        "class Both = Sub | Div\n"
        "rewrite r for F in Both: Concat(*F(c, xs), axis=k) => F(c, Concat(*xs, axis=k)) "
        "where scalar(c)",
        "(float[1] p, float[2] q, float k) => (float[3] y) "
        "{ a = Sub(k, p) b = Sub(k, q) y = Concat<axis=0>(a, b) }",
        "Sub(k, Concat(p, q, axis=0))",
    ),
    Case(
        "maps_on_both_sides",
        "rewrite r: Concat(*Neg(xs), axis=k) => Neg(Concat(*Identity(xs), axis=k))",
        "(float[1] p, float[2] q) => (float[3] y) "
        "{ a = Neg(p) b = Neg(q) y = Concat<axis=0>(a, b) }",
        "Neg(Concat(Identity(p), Identity(q), axis=0))",
        "Neg = if numel(x) == 3 then 0 else 9",
    ),
]

OUTPUTS = [
    Case(
        "all_targets",
        """rule r {
          match { a, b = Split(x, s, axis=k)  y = Relu(a)  z = Relu(b) }
          emit { all = Relu(x)  y, z = Split(all, s, axis=k) }
        }""",
        "(float[4] x) => (float[1] y, float[3] z) <int64[2] s = {1, 3}> "
        "{ a, b = Split<axis=0>(x, s) y = Relu(a) z = Relu(b) }",
        {"y": "Split(Relu(x), s).0", "z": "Split(Relu(x), s).1"},
    ),
    Case(
        "an_output_that_does_not_matter",
        """rule r {
          match { _, b = Split(x, s, axis=0) }
          where value(s) == [1, 3]
          emit { b = Slice(x, i64([1]), i64([4])) }
        }""",
        "(float[4] x) => (float[3] y) <int64[2] s = {1, 3}> "
        "{ a, b = Split<axis=0>(x, s) y = Relu(b) }",
        "Relu(Slice(x, [1], [4]))",
        "Split = 9",
    ),
    Case(
        "two_targets_do_not_match_three_outputs",
        """rule r {
          match { _, b = Split(x, s, axis=0) }
          emit { b = Slice(x, i64([1]), i64([2])) }
        }""",
        "(float[4] x) => (float[1] y) <int64[3] s = {1, 1, 2}> "
        "{ a, b, c = Split<axis=0>(x, s) y = Relu(b) }",
        "Relu(Split(x, s, axis=0).1)",
        "Split = 9",
    ),
    Case(
        "a_term_of_an_operator_with_several_outputs",
        "rewrite r: Split(Relu(x), s, axis=0) => Relu(Split(x, s, axis=0)) where 1 == 2",
        "(float[4] x) => (float[1] y) <int64[2] s = {1, 3}> "
        "{ r = Relu(x) y, b = Split<axis=0>(r, s) }",
        "Split(Relu(x), s, axis=0).0",
    ),
    Case(
        "values_and_indices",
        """rule r {
          match { v, i = TopK(Relu(Relu(x)), k, **rest) }
          emit { v, i = TopK(Relu(x), k, **rest) }
        }""",
        "(float[4] x) => (float[2] v, int64[2] i) <int64[1] k = {2}> "
        "{ a = Relu(x) b = Relu(a) v, i = TopK<largest=0>(b, k) }",
        {"v": "TopK(Relu(x), [2], largest=0).0", "i": "TopK(Relu(x), [2], largest=0).1"},
    ),
    Case(
        "max_pool_with_indices",
        """rule r {
          match { y, i = MaxPool(Identity(x), kernel_shape=k, **rest) }
          emit { y, i = MaxPool(x, kernel_shape=k, **rest) }
        }""",
        "(float[1,1,4,4] x) => (float[1,1,3,3] y, int64[1,1,3,3] i) "
        "{ a = Identity(x) y, i = MaxPool<kernel_shape=[2,2]>(a) }",
        {"y": "MaxPool(x, kernel_shape=[2, 2]).0", "i": "MaxPool(x, kernel_shape=[2, 2]).1"},
    ),
    Case(
        "max_pool_alone",
        "rewrite r: MaxPool(Identity(x), kernel_shape=k, **rest) "
        "=> MaxPool(x, kernel_shape=k, **rest)",
        "(float[1,1,4,4] x) => (float[1,1,3,3] y) "
        "{ a = Identity(x) y = MaxPool<kernel_shape=[2,2]>(a) }",
        "MaxPool(x, kernel_shape=[2, 2])",
    ),
    Case(
        "batch_normalization",
        "rewrite r: BatchNormalization(Identity(x), s, b, m, v, **o) "
        "=> BatchNormalization(x, s, b, m, v, **o)",
        "(float[2,3] x) => (float[2,3] y) <float[3] s, float[3] b, float[3] m, "
        "float[3] v = {1.0, 2.0, 3.0}> "
        "{ a = Identity(x) y = BatchNormalization<epsilon=0.5>(a, s, b, m, v) }",
        "BatchNormalization(x, s, b, m, v, epsilon=0.5)",
    ),
    Case(
        "dropout_in_inference",
        "rewrite r: Dropout(x) => x",
        "(float[2,3] x) => (float[2,3] y) { a = Dropout(x) y = Relu(a) }",
        "Relu(x)",
    ),
    Case(
        "several_targets_of_which_one_is_used_further",
        """rule r {
          match { a, b = Split(Neg(x), s, axis=0) }
          emit { c, d = Split(x, s, axis=0)  a = Neg(c)  b = Neg(d) }
        }""",
        "(float[4] x) => (float[1] y, float[3] z) <int64[2] s = {1, 3}> "
        "{ n = Neg(x) y, b = Split<axis=0>(n, s) z = Relu(b) }",
        {"y": "Neg(Split(x, s).0)", "z": "Relu(Neg(Split(x, s).1))"},
        "Neg = if numel(x) == 4 then 9 else 1",
    ),
]


@pytest.mark.parametrize("case", [*RUNS, *MAPPED, *OUTPUTS], ids=str)
def test_variadic_inputs_and_several_outputs(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected
