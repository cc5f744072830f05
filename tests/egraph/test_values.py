"""What rules say of values: literals, constants, types, conditions, lets, functions, classes."""

from __future__ import annotations

import pytest
from cases import Case, found_and_expected
from line import Line

LITERALS = [
    Case(
        "a_number_is_a_constant_of_that_value_throughout",
        "rewrite r: Div(x, 2.0) => Mul(x, f32(0.5)) where rank(x) == 1",
        "(float[2] x) => (float[2] y) <float two = {2.0}> { y = Div(x, two) }",
        "Mul(x, f32(0.5))",
        "Div = 9",
    ),
    Case(
        "of_any_shape",
        "rewrite r: Mul(x: f32[N], 1) => x",
        "(float[2] x) => (float[2] y) <float[2] ones = {1.0, 1.0}> "
        "{ a = Mul(ones, x) y = Relu(a) }",
        "Relu(x)",
    ),
    Case(
        "not_of_another_value",
        "rewrite r: Mul(x: f32[N], 1) => x",
        "(float[2] x) => (float[2] y) <float[2] k = {1.0, 2.0}> { a = Mul(x, k) y = Relu(a) }",
        "Relu(Mul(x, f32([1, 2])))",
    ),
    Case(
        "not_where_it_would_widen_the_shape",
        "rewrite r: Mul(x: f32[*B], 1) => x",
        "(float[2] x) => (float[2,2] y) <float[2,1] k = {1.0, 1.0}> { a = Mul(x, k) y = Relu(a) }",
        "Relu(Mul(x, <2x1>))",
    ),
    Case(
        "a_list_is_the_elements_in_order",
        "rewrite r: Expand(x: T[3], [3]) => x",
        "(float[3] x) => (float[3] y) <int64[1] k = {3}> { a = Expand(x, k) y = Relu(a) }",
        "Relu(x)",
    ),
    Case(
        "a_list_of_another_length",
        "rewrite r: Reshape(x, [4]) => Flatten(x) where 1 == 2",
        "(float[2,2] x) => (float[4] y) <int64[1] k = {4}> { y = Reshape(x, k) }",
        "Reshape(x, [4])",
        "Reshape = 9",
    ),
    Case(
        "what_is_computed_from_weights_has_no_value",
        "rewrite r: Mul(x: f32[N], 1) => x",
        "(float[2] x, float[2] ones) => (float[2] y) { a = Mul(x, ones) y = Relu(a) }",
        "Relu(Mul(x, ones))",
    ),
]

CONSTANTS = [
    Case(
        "zeros_of_a_reshape_are_the_dims_that_they_copy",
        "rewrite r: Flatten(x) => Reshape(x, i64([0, 12]))",
        "(float[2,3,4] x) => (float[2,12] y) { y = Flatten(x) }",
        "Reshape(x, [2, 12])",
        "Flatten = 9",
    ),
    Case(
        "zeros_of_a_reshape_stay_where_they_copy_what_is_not_known",
        "rewrite r: Flatten(x) => Reshape(x, i64([0, 12]))",
        "(float[N,3,4] x) => (float[N,12] y) { y = Flatten(x) }",
        "Reshape(x, [0, 12])",
        "Flatten = 9",
    ),
    Case(
        "zeros_of_a_reshape_that_copies_nothing_are_zeros",
        "rewrite r: Flatten(x) => Reshape(x, i64([0, 12]), allowzero=1)",
        "(float[2,3,4] x) => (float[2,12] y) { y = Flatten(x) }",
        "Flatten(x)",
        "Flatten = 9",
    ),
    Case(
        "of_the_element_type_of_a_variable",
        "rewrite r: Add(x: T[*B], x) => Mul(x, T(2))",
        "(double[2] x) => (double[2] y) { y = Add(x, x) }",
        "Mul(x, 2)",
        "Add = 9",
    ),
    Case(
        "a_list_of_integers",
        "rewrite r: Flatten(x: T[A, B, C]) => Reshape(x, i64([A, B * C]))",
        "(float[2,3,4] x) => (float[2,12] y) { y = Flatten(x) }",
        "Reshape(x, [2, 12])",
        "Flatten = 9",
    ),
    Case(
        "one_symbol_becomes_minus_one",
        "rewrite r: Flatten(x: T[A, B, C]) => Reshape(x, i64([A, B * C]))",
        "(float[N,3,4] x) => (float[N,12] y) { y = Flatten(x) }",
        "Reshape(x, [-1, 12])",
        "Flatten = 9",
    ),
    Case(
        "two_symbols_do_not_fit",
        "rewrite r: Flatten(x: T[A, B, C]) => Reshape(x, i64([A, B * C]))",
        "(float[N,M,4] x) => (float[N,K] y) { y = Flatten(x) }",
        "Flatten(x)",
        "Flatten = 9",
    ),
    Case(
        "a_symbol_beside_zero_does_not_fit",
        "rewrite r: Flatten(x: T[A, B, C]) => Reshape(x, i64([A, B * C]))",
        "(float[N,0,4] x) => (float[N,0] y) { y = Flatten(x) }",
        "Flatten(x)",
        "Flatten = 9",
        settings={"dims": {}},
    ),
    Case(
        "a_symbol_that_is_fixed_is_a_number",
        "rewrite r: Flatten(x: T[A, B, C]) => Reshape(x, i64([A, B * C]))",
        "(float[N,M,4] x) => (float[N,K] y) { y = Flatten(x) }",
        "Reshape(x, [-1, 12])",
        "Flatten = 9",
        settings={"dims": {"M": 3}},
    ),
    Case(
        "a_symbol_elsewhere_than_in_a_shape_does_not_fit",
        "rewrite r: Relu(x: T[N]) => Slice(Relu(x), i64([0]), i64([N])) where dim(x, 0) == N",
        "(float[K] x) => (float[K] y) { y = Relu(x) }",
        "Relu(x)",
        "Relu = 9 Slice = 0",
    ),
    Case(
        "equal_constants_are_one",
        "rewrite r: Div(x: f32[*B], 2.0) => Mul(x, f32(0.5))",
        "(float[2] x) => (float[2] y, float[2] z) <float two = {2.0}, float half = {0.5}> "
        "{ y = Div(x, two) a = Mul(x, half) z = Relu(a) }",
        {"y": "Mul(x, f32(0.5))", "z": "Relu(Mul(x, f32(0.5)))"},
        "Div = 1.5",
    ),
    Case(
        "a_whole_number_that_the_type_cannot_hold_does_not_fit",
        "rewrite r: Add(x: T[*B], x) => Mul(x, T(300))",
        "(uint8[2] x) => (uint8[2] y) { y = Add(x, x) }",
        "Add(x, x)",
        "Add = 9",
    ),
]

TYPES = [
    Case(
        "equal_names_are_equal_dims",
        "rewrite r: Transpose(x: T[N, N], perm=[1, 0]) => Transpose(x, perm=[1, 0]) where 1 == 2",
        "(float[2,3] x) => (float[3,2] y) { y = Transpose<perm=[1,0]>(x) }",
        "Transpose(x, perm=[1, 0])",
    ),
    Case(
        "a_dim_is_a_number_in_conditions_and_attributes",
        "rewrite r: Softmax(x: T[A, B], axis=k) => Softmax(x, axis=B - 2) where A == 2, k == 1",
        "(float[2,3] x) => (float[2,3] y) { y = Softmax<axis=-1>(x) }",
        "Softmax(x, axis=-1)",
    ),
    Case(
        "any_number_of_dims",
        "rewrite r: Add(a: T[*B], Neg(b: T[*B])) => Sub(a, b)",
        "(float[2,3] p, float[2,3] q) => (float[2,3] y) { a = Neg(q) y = Add(p, a) }",
        "Sub(p, q)",
    ),
    Case(
        "any_number_of_dims_but_the_same",
        "rewrite r: Add(a: T[*B], Neg(b: T[*B])) => Sub(a, b)",
        "(float[2,3] p, float[3] q) => (float[2,3] y) { a = Neg(q) y = Add(p, a) }",
        "Add(p, Neg(q))",
    ),
    Case(
        "leading_dims_as_a_list",
        """rewrite fold_batch: MatMul(x: T[*B, M, K], w: T[K, N])
        => Reshape(MatMul(Reshape(x, i64([prod(B) * M, K]), allowzero=1), w),
                   i64([*B, M, N]), allowzero=1) where len(B) >= 1""",
        "(float[2,3,4,5] x) => (float[2,3,4,6] y) <float[5,6] w> { y = MatMul(x, w) }",
        "Reshape(MatMul(Reshape(x, [24, 5]), w), [2, 3, 4, 6])",
        "MatMul = rank(y)**9 Reshape = 1",
    ),
    Case(
        "another_element_type",
        "rewrite r: Add(a: f32[*B], Neg(b)) => Sub(a, b)",
        "(double[2] p, double[2] q) => (double[2] y) { a = Neg(q) y = Add(p, a) }",
        "Add(p, Neg(q))",
    ),
    Case(
        "the_same_element_type_at_each_use",
        "rewrite r: Cast(Cast(x: T, to=S), to=T) => x where S == f64",
        "(float[2] x) => (float16[2] y) { a = Cast<to=11>(x) y = Cast<to=10>(a) }",
        "Cast(Cast(x, to=11), to=10)",
    ),
    Case(
        "computed_dims",
        "rewrite r: Concat(a: T[N], b: T[2 * N], axis=0) => Concat(a, b, axis=0) where 1 == 2",
        "(float[2] p, float[4] q) => (float[6] y) { y = Concat<axis=0>(p, q) }",
        "Concat(p, q, axis=0)",
    ),
    Case(
        "a_type_on_the_root_of_a_pattern",
        "rewrite r: (Relu(Neg(x)): T[3]) => Relu(Relu(Neg(x)))",
        "(float[3] p, float[4] q) => (float[3] y, float[4] z) "
        "{ a = Neg(p) y = Relu(a) b = Neg(q) z = Relu(b) }",
        {"y": "Relu(Neg(p))", "z": "Relu(Neg(q))"},
    ),
    Case(
        "symbolic_dims_that_are_equal",
        "rewrite r: Add(a: T[*B], Neg(b: T[*B])) => Sub(a, b)",
        "(float[N,3] p, float[N,3] q) => (float[N,3] y) { a = Neg(q) y = Add(p, a) }",
        "Sub(p, q)",
    ),
    Case(
        "symbolic_dims_that_may_differ",
        "rewrite r: Add(a: T[*B], Neg(b: T[*B])) => Sub(a, b)",
        "(float[N,3] p, float[M,3] q) => (float[K,3] y) { a = Neg(q) y = Add(p, a) }",
        "Add(p, Neg(q))",
    ),
]

#: The graph of conditions: the rule turns Neg(Neg(x)) into x where the condition holds.
NEGS = "(float[N,3] x, float[2,3] z) => ({}) {{ a = Neg({}) b = Neg(a) y = Relu(b) }}"


def condition(name: str, text: str, fires: bool, tensor: str = "x") -> Case:
    output = "float[N,3] y" if tensor == "x" else "float[2,3] y"
    return Case(
        name,
        f"rewrite r: Neg(Neg(x)) => x where {text}\n"
        "fn half(n: int) -> int = n // 2\nfn twice(n: int) -> int = half(4 * n)",
        NEGS.format(output, tensor),
        f"Relu({tensor})" if fires else f"Relu(Neg(Neg({tensor})))",
    )


CONDITIONS = [
    condition("true", "rank(x) == 2, dim(x, 1) == 3", True),
    condition("false", "rank(x) == 3", False),
    condition("unknown_does_not_hold", "dim(x, 0) == 2", False),
    condition("nor_does_its_opposite", "dim(x, 0) != 2", False),
    condition("nor_does_not_of_it", "not dim(x, 0) == 2", False),
    condition("true_or_unknown", "dim(x, 0) == 2 or rank(x) == 2", True),
    condition("unknown_or_true", "rank(x) == 2 or dim(x, 0) == 2", True),
    condition("true_and_unknown", "rank(x) == 2 and dim(x, 0) == 2", False),
    condition("not_false_and_unknown", "not (rank(x) == 1 and dim(x, 0) == 2)", True),
    condition("a_symbol_equals_itself", "dim(x, 0) == shape(x)[0]", True),
    condition("a_symbol_may_become_known", "not known(dim(x, 0))", False),
    condition("a_number_instead", "dim(x, 0) == 2", True, "z"),
    condition("chained", "1 < dim(x, 0) < 3 <= dim(x, 1)", True, "z"),
    condition("out_of_range_is_unknown", "shape(x)[7] == 1 or rank(x) == 2", True),
    condition("division_by_zero_is_unknown", "not 1 // (rank(x) - 2) == 1", False),
    condition("lists", "shape(x) == [2, 3], 3 in shape(x), 4 not in shape(x)", True, "z"),
    condition(
        "functions", "twice(3) == 6, half(7) == 3, (if rank(x) == 2 then 1 else 0) == 1", True
    ),
    condition(
        "built_in_functions",
        "numel(x) == 6, bytes(x) == 24, dtype(x) == f32, sum(range(4)) == 6, max([1, 5, 2]) == 5, "
        "abs(-2) == 2, compose([1, 2, 0], [1, 2, 0]) == [2, 0, 1], inverse([1, 2, 0]) == [2, 0, 1],"
        "normal_axis(-1, x) == 1, broadcast(x, [4, 1, 3]) == [4, 2, 3], prod(shape(x)[1:]) == 3",
        True,
        "z",
    ),
    condition("not_a_constant", "const(x) or scalar(x)", False, "z"),
]

LETS = [
    Case(
        "a_let_on_the_right",
        """rewrite r: Softmax(Transpose(x, perm=p), axis=k)
        => Transpose(Softmax(x, axis=inner), perm=p)
        let inner = p[k]""",
        "(float[2,3,4] x) => (float[4,2,3] y) "
        "{ a = Transpose<perm=[2,0,1]>(x) y = Softmax<axis=0>(a) }",
        # Axis 0 of the transposed tensor is axis 2 of x, the last, which is the default.
        "Transpose(Softmax(x), perm=[2, 0, 1])",
        "Softmax = dim(input, 0)",
    ),
    Case(
        "a_let_of_a_let_and_in_a_condition",
        """rewrite r: Neg(Neg(x)) => x let a = rank(x) let b = a * 3 where b == 6""",
        "(float[2,3] x) => (float[2,3] y) { a = Neg(x) b = Neg(a) y = Relu(b) }",
        "Relu(x)",
    ),
    Case(
        "a_function_in_an_attribute",
        "fn other(k: int) -> int = 1 - k\n"
        "rewrite r: Softmax(Transpose(x: T[A, B], perm=[1, 0]), axis=k) "
        "=> Transpose(Softmax(x, axis=other(k)), perm=[1, 0])",
        "(float[2,3] x) => (float[3,2] y) { a = Transpose<perm=[1,0]>(x) y = Softmax<axis=0>(a) }",
        "Transpose(Softmax(x))",
        "Softmax = dim(input, 0)",
    ),
    Case(
        "a_value_of_a_small_constant",
        "rewrite r: Reshape(Reshape(x, s), t) => Reshape(x, t) where known(t), 0 not in value(t)",
        "(float[4,3] x) => (float[3,4] y) <int64[1] s = {12}, int64[2] c = {3, -1}> "
        "{ a = Reshape(x, s) y = Reshape(a, c) }",
        "Reshape(x, c)",
    ),
    Case(
        "a_value_that_fails_the_condition",
        "rewrite r: Reshape(Reshape(x, s), t) => Reshape(x, t) where known(t), 0 not in value(t)",
        "(float[3,4] x) => (float[3,4] y) <int64[2] s = {3, 4}, int64[2] c = {0, -1}> "
        "{ a = Reshape(x, s) y = Reshape(a, c) }",
        "Reshape(Reshape(x, s), c)",
    ),
    Case(
        "a_value_that_is_computed_in_the_graph",
        "rewrite r: Reshape(x: T[N], s) => x where value(s) == [N]",
        "(float[6] x) => (float[6] y) { a = Shape(x) b = Reshape(x, a) y = Relu(b) }",
        "Relu(x)",
    ),
]

CLASSES = [
    Case(
        "one_rule_for_each_member",
        "class Unary = Relu | Neg\nrewrite r for F in Unary: F(Transpose(x, perm=p)) "
        "=> Transpose(F(x), perm=p)",
        "(float[2,3] x) => (float[3,2] y) { a = Transpose<perm=[1,0]>(x) b = Neg(a) y = Relu(b) }",
        "Transpose(Relu(Neg(x)))",
        "Neg = dim(x, 0) Relu = dim(x, 0)",
    ),
    Case(
        "not_for_others",
        "class Unary = Relu | Neg\nrewrite r for F in Unary: F(Transpose(x, perm=p)) "
        "=> Transpose(F(x), perm=p)",
        "(float[2,3] x) => (float[3,2] y) { a = Transpose<perm=[1,0]>(x) y = Abs(a) }",
        "Abs(Transpose(x, perm=[1, 0]))",
        "Abs = dim(x, 0)",
    ),
    Case(
        "the_same_member_at_each_use",
        "class Idem = Relu | Abs\nrewrite r for F in Idem: F(F(x)) => F(x)",
        "(float[2] x) => (float[2] y) { a = Relu(x) b = Abs(a) c = Abs(b) y = Relu(c) }",
        "Relu(Abs(Relu(x)))",
    ),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "case", [*LITERALS, *CONSTANTS, *TYPES, *CONDITIONS, *LETS, *CLASSES], ids=str
)
def test_values(line: Line, case: Case) -> None:
    found, expected = found_and_expected(line, case)
    assert found == expected
