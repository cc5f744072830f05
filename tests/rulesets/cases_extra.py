# ruff: noqa: E501  (a line is a model)
"""Cases of `extra`."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_TWO = "x: f32[2, 3]; z: f32[5, 3]; w: f32[3, 4] = weight; "

_GROUPS = (
    "x: f32[2, 6, 4, 4]; s: f32[6, 1, 1]; o: f32[1, 6, 1, 1]; h = InstanceNormalization(Reshape(x, i64([{}])), {}, epsilon=0.01); "
    "y = Add(Mul(Reshape(h, Shape(x)), s), o)"
)

CASES: list[Case] = [
    *acts(
        "pointwise_after_concat",
        "x: f32[2, 3]; z: f32[2, N]; y = Concat(F(x), F(z), F(x), axis=1)",
    ),
    *rests("pointwise_after_concat", "x: f32[2, 3]; z: f32[2, 3]; y = Concat(F(x), z, axis=1)"),
    *acts(
        "relu_after_max_pool",
        "x: f32[1, 2, 6, 6]; y = MaxPool(Relu(x), kernel_shape=[3, 3], pads=[1, 1, 1, 1], strides=[2, 2])",
        specials=False,
    ),
    *rests(
        "relu_after_max_pool",
        "x: f32[1, 2, 6, 6]; y = AveragePool(Relu(x), kernel_shape=[3, 3])",
    ),
    *acts(
        "matmul_of_scaled_all",
        "x: f32[2, 5, 3]; w: f32[3, 4] = weight; " + "c: f32 = 0.5; y = MatMul(Mul(x, c), w)",
    ),
    *rests(
        "matmul_of_scaled_all",
        "x: f32[2, 3]; w: f32[3, 4]; c: f32 = 0.5; y = MatMul(Mul(x, c), w)",
    ),
    *acts(
        "group_norm",
        _GROUPS.format("0, 2, -1", "f32([1, 1]), f32([0, 0])"),
        _GROUPS.format("0, 3, -1", "f32([1, 1, 1]), f32([0, 0, 0])").replace("4, 4]", "5, N]"),
        opset=21,
    ),
    *rests(
        "group_norm",
        _GROUPS.format("0, 2, -1", "f32([1, 2]), f32([0, 0])"),
        _GROUPS.format("0, 2, -1", "f32([1, 1]), f32([0, 1])"),
        _GROUPS.format("0, 2, -1", "f32([1, 1]), f32([0, 0])").replace(
            "s: f32[6, 1, 1]", "s: f32[1, 1, 1]"
        ),
        _GROUPS.format("0, 4, -1", "f32([1, 1, 1, 1]), f32([0, 0, 0, 0])"),
        _GROUPS.format("1, 4, -1", "f32([1, 1, 1, 1]), f32([0, 0, 0, 0])"),
    ),
    *acts("merge_rows", _TWO + "y = MatMul(x, w); t = MatMul(z, w)"),
    *rests(
        "merge_rows",
        _TWO + "v: f32[3, 4] = weight; y = MatMul(x, w); t = MatMul(z, v)",
        "x: f32[2, 2, 3]; z: f32[2, 5, 3]; w: f32[3, 4] = weight; y = MatMul(x, w); t = MatMul(z, w)",
        _TWO.replace(" = weight", "") + "y = MatMul(x, w); t = MatMul(z, w)",
    ),
    *acts(
        "sum_as_product",
        "x: f32[2, 3]; z: f32[2, 5]; v: f32[3, 4] = weight; w: f32[5, 4] = weight; "
        "y = Add(MatMul(x, v), MatMul(z, w))",
    ),
    *rests(
        "sum_as_product",
        "x: f32[2, 3]; z: f32[1, 5]; v: f32[3, 4] = weight; w: f32[5, 4] = weight; "
        "y = Add(MatMul(x, v), MatMul(z, w))",
    ),
    *acts(
        "sum_as_convolution",
        "x: f32[1, 3, 4, 4]; z: f32[1, 5, 4, 4]; v: f32[2, 3, 1, 1] = weight; w: f32[2, 5, 1, 1] = weight; "
        "y = Add(Conv(x, v), Conv(z, w))",
    ),
    *rests(
        "sum_as_convolution",
        "x: f32[1, 3, 4, 4]; z: f32[1, 5, 1, 1]; v: f32[2, 3, 1, 1] = weight; w: f32[2, 5, 1, 1] = weight; "
        "y = Add(Conv(x, v), Conv(z, w))",
        "x: f32[1, 4, 4, 4]; z: f32[1, 4, 4, 4]; v: f32[2, 2, 1, 1] = weight; w: f32[2, 2, 1, 1] = weight; "
        "y = Add(Conv(x, v, group=2), Conv(z, w, group=2))",
    ),
    *acts(
        "matmul_associative",
        "a: f32[2, 3]; b: f32[3, 4]; c: f32[4, 2]; y = MatMul(MatMul(a, b), c); z = MatMul(a, MatMul(b, c))",
    ),
    *rests(
        "matmul_associative",
        "a: f32[3]; b: f32[3, 4]; c: f32[4, 2]; y = MatMul(MatMul(a, b), c); z = MatMul(a, MatMul(b, c))",
    ),
]
