# ruff: noqa: E501  (a line is a model)
"""Cases of `linear` where something is subtracted, and of `move` where places are left out."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[2, 4, 6, 6]; "
_V = "w: f32[4, 4, 3, 3] = weight; "
_G = "w: f32[4, 2, 3, 3] = weight; "
_B = "b: f32[4] = weight; "
_R = "x: f32[N, 4]; w: f32[4, 4] = weight; "

DIFFERENCES: list[Case] = [
    *acts(
        "linear.minus_conv",
        _X + _V + "c: f32[4, 1, 1] = weight; y = Sub(c, F(x, w, pads=[1, 1, 1, 1]))",
        _X + _V + _B + "y = Sub(x, F(x, w, b, group=1, pads=[1, 1, 1, 1]))",
        "x: f32[2, 4, N]; w: f32[4, 4, 3] = weight; y = Sub(f32(1), F(x, w, strides=[2]))",
    ),
    *rests(
        "linear.minus_conv",
        _X + "w: f32[4, 4, 3, 3]; y = Sub(x, F(x, w, pads=[1, 1, 1, 1]))",
        _X + _V + "b: f32[4]; y = Sub(x, F(x, w, b, pads=[1, 1, 1, 1]))",
        _X + _V + "y = Sub(F(x, w, pads=[1, 1, 1, 1]), x)",
    ),
    *acts(
        "linear.neg_conv",
        _X + _V + "y = Neg(F(x, w, dilations=[2, 2]))",
        _X + _V + _B + "y = Neg(F(x, w, b))",
    ),
    *rests(
        "linear.neg_conv",
        _X + "w: f32[4, 4, 3, 3]; y = Neg(F(x, w))",
        _X + _V + "b: f32[4]; y = Neg(F(x, w, b))",
    ),
    *acts(
        "linear.minus_matmul",
        _R + "c: f32[4] = weight; y = Sub(c, MatMul(x, w))",
        _R + "z: f32[3, N, 4]; y = Sub(z, MatMul(x, w))",
        "x: i32[2, 3]; w: i32[3, 2] = weight; y = Sub(i32([1]), MatMul(x, w))",
    ),
    *rests(
        "linear.minus_matmul",
        "x: f32[N, 4]; w: f32[4, 4]; y = Sub(f32(1), MatMul(x, w))",
        _R + "y = Sub(MatMul(x, w), f32(1))",
        "x: u32[2, 3]; w: u32[3, 2] = weight; y = Sub(u32([1]), MatMul(x, w))",
    ),
    *acts(
        "linear.minus_matmul_bias",
        _R + _B + "z: f32[3, N, 4]; y = Sub(z, Add(MatMul(x, w), b))",
        _R + _B + "y = Sub(f32([[2]]), Add(b, MatMul(x, w)))",
    ),
    *rests(
        "linear.minus_matmul_bias",
        _R + "b: f32[4]; y = Sub(f32(1), Add(MatMul(x, w), b))",
        "x: f32[N, 4]; w: f32[4, 4]; " + _B + "y = Sub(f32(1), Add(MatMul(x, w), b))",
    ),
    *acts("linear.neg_matmul", _R + "y = Neg(MatMul(x, w))"),
    *rests("linear.neg_matmul", "x: f32[N, 4]; w: f32[4, 4]; y = Neg(MatMul(x, w))"),
    *acts(
        "linear.minus_gemm",
        _R + _B + "y = Sub(f32(1), Gemm(x, w, b, transB=1, beta=2.0))",
        _R + "y = Sub(x, Gemm(x, w, alpha=0.5))",
    ),
    *rests(
        "linear.minus_gemm",
        _R + "b: f32[4]; y = Sub(f32(1), Gemm(x, w, b))",
        "x: f32[N, 4]; w: f32[4, 4]; " + _B + "y = Sub(f32(1), Gemm(x, w, b))",
        _R + _B + "y = Sub(Gemm(x, w, b), f32(1))",
    ),
    *acts(
        "linear.neg_gemm",
        _R + _B + "y = Neg(Gemm(x, w, b, alpha=2.0))",
        _R + "y = Neg(Gemm(x, w))",
    ),
    *rests(
        "linear.neg_gemm",
        _R + "b: f32[4]; y = Neg(Gemm(x, w, b))",
        "x: f32[N, 4]; w: f32[4, 4]; y = Neg(Gemm(x, w))",
    ),
]

_P = "pads=[2, 2, 2, 2]"
CROPS: list[Case] = [
    *acts(
        "move.slice_padded_places",
        "x: f32[2, 4, N]; w: f32[4, 4, 3] = weight; b: f32[4]; y = Slice(Conv(x, w, b, pads=[4, 4], dilations=[2]), i64([0]), i64([-4]), i64([2]))",
        _X
        + _G
        + f"y = Slice(Conv(x, w, {_P}, group=2, strides=[2, 1]), i64([1]), i64([4]), i64([-2]))",
        _X + _V + f"y = Slice(Conv(x, w, {_P}), i64([2]), i64([9223372036854775807]), i64([3]))",
        "x: f32[1, 4, 3]; w: f32[4, 4, 3] = weight; y = Slice(Conv(x, w, pads=[0, 1]), i64([0]), i64([1]), i64([2]))",
    ),
    *rests(
        "move.slice_padded_places",
        _X + _V + f"y = Slice(Conv(x, w, {_P}, strides=[2, 2]), i64([2]), i64([4]), i64([2]))",
        _X + _V + f"y = Slice(Conv(x, w, {_P}), i64([-3]), i64([8]), i64([2]))",
        _X + _V + f"y = Slice(Conv(x, w, {_P}), i64([0]), i64([3]), i64([1]))",
        _X + _V + f"y = Slice(Conv(x, w, {_P}), i64([1, 1]), i64([7, 7]), i64([2, 3]))",
        # so few places that none is left
        "x: f32[2, 4, N]; w: f32[4, 4, 3] = weight; y = Slice(Conv(x, w, pads=[1, 1]), i64([0]), i64([-1]), i64([2]))",
        "x: f32[1, 4, 2]; w: f32[4, 4, 3] = weight; y = Slice(Conv(x, w, pads=[0, 1]), i64([0]), i64([-1]), i64([2]))",
    ),
    *acts(
        "move.slice_padded_image",
        _X + _V + _B + f"y = Slice(Conv(x, w, b, {_P}), i64([1, 0]), i64([-1, 7]), i64([2, 3]))",
        "x: f32[2, 4, H, W]; "
        + _G
        + f"y = Slice(Conv(x, w, {_P}, group=2), i64([0, 1]), i64([-2, -1]), i64([2, 3]))",
    ),
    *rests(
        "move.slice_padded_image",
        _X + _V + f"y = Slice(Conv(x, w, {_P}), i64([3, 0]), i64([8, 8]), i64([2, 3]))",
        _X + _V + f"y = Slice(Conv(x, w, {_P}), i64([0, 1]), i64([3, 7]), i64([1, 2]))",
        "x: f32[2, 4, H, 6]; "
        + _V
        + f"y = Slice(Conv(x, w, {_P}), i64([1, 0]), i64([-2, 7]), i64([2, 3]))",
        "x: f32[2, 4, 6, W]; "
        + _V
        + f"y = Slice(Conv(x, w, {_P}), i64([0, 1]), i64([7, -2]), i64([2, 3]))",
    ),
]

_END = "9223372036854775807"
STEPS: list[Case] = [
    *acts(
        "move.step_conv",
        f"x: f32[2, 4, N]; w: f32[4, 4, 3] = weight; y = Slice(Conv(x, w, pads=[2, 0]), i64([0]), i64([{_END}]), i64([2]), i64([2]))",
        _X
        + _G
        + _B
        + "y = Slice(Conv(x, w, b, group=2, strides=[1, 2], auto_pad='SAME_UPPER'), i64([0]), i64([6]), i64([2]), i64([4]))",
    ),
    *rests(
        "move.step_conv",
        _X + _V + "y = Slice(Conv(x, w), i64([1]), i64([4]), i64([2]), i64([2]))",
        _X + _V + "y = Slice(Conv(x, w), i64([0]), i64([3]), i64([2]), i64([2]))",
        _X + _V + f"y = Slice(Conv(x, w), i64([0]), i64([{_END}]), i64([1]), i64([2]))",
        f"x: f32[2, 4, N]; w: f32[4, 4, 3] = weight; y = Slice(Conv(x, w, strides=[2], auto_pad='SAME_UPPER'), i64([0]), i64([{_END}]), i64([2]), i64([2]))",
    ),
    *acts(
        "move.step_conv_image",
        _X
        + _V
        + "y = Slice(Conv(x, w, strides=[1, 2]), i64([0, 0]), i64([4, 2]), i64([2, 3]), i64([3, 2]))",
    ),
    *rests(
        "move.step_conv_image",
        _X + _V + "y = Slice(Conv(x, w), i64([0, 1]), i64([4, 4]), i64([2, 3]), i64([2, 2]))",
        _X + _V + "y = Slice(Conv(x, w), i64([0, 0]), i64([3, 4]), i64([2, 3]), i64([2, 2]))",
        "x: f32[2, 4, H, W]; "
        + _V
        + f"y = Slice(Conv(x, w, strides=[2, 2], auto_pad='SAME_LOWER'), i64([0, 0]), i64([{_END}, {_END}]), i64([2, 3]), i64([2, 2]))",
    ),
    *acts(
        "move.conv_of_steps",
        f"x: f32[2, 4, N]; w: f32[4, 2, 1] = weight; y = Conv(Slice(x, i64([0]), i64([{_END}]), i64([2]), i64([2])), w, group=2, strides=[3])",
        _X
        + "w: f32[3, 4, 1, 1]; b: f32[3]; y = Conv(Slice(x, i64([0]), i64([6]), i64([-1]), i64([2])), w, b)",
    ),
    *rests(
        "move.conv_of_steps",
        _X + "w: f32[3, 4, 2, 1]; y = Conv(Slice(x, i64([0]), i64([6]), i64([2]), i64([2])), w)",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(Slice(x, i64([0]), i64([6]), i64([2]), i64([2])), w, pads=[1, 0, 0, 0])",
        _X + "w: f32[3, 4, 1, 1]; y = Conv(Slice(x, i64([1]), i64([6]), i64([2]), i64([2])), w)",
        _X + "w: f32[3, 4, 1, 1]; y = Conv(Slice(x, i64([0]), i64([-1]), i64([2]), i64([2])), w)",
        _X + "w: f32[3, 2, 1, 1]; y = Conv(Slice(x, i64([0]), i64([4]), i64([1]), i64([2])), w)",
    ),
    *acts(
        "move.conv_of_steps_image",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(Slice(x, i64([0, 0]), i64([6, 9]), i64([2, 3]), i64([2, 3])), w, strides=[2, 1])",
    ),
    *rests(
        "move.conv_of_steps_image",
        _X
        + "w: f32[3, 4, 1, 2]; y = Conv(Slice(x, i64([0, 0]), i64([6, 6]), i64([2, 3]), i64([2, 2])), w)",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(Slice(x, i64([0, 0]), i64([5, 6]), i64([2, 3]), i64([2, 2])), w)",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(Slice(x, i64([0, 1]), i64([6, 6]), i64([2, 3]), i64([2, 2])), w)",
    ),
    *acts(
        "move.conv_of_single_largest",
        "x: f32[2, 4, H, W]; w: f32[3, 4, 1, 1]; b: f32[3]; y = Conv(MaxPool(x, kernel_shape=[1, 1], strides=[2, 3]), w, b, strides=[1, 2])",
        _X + "w: f32[4, 2, 1, 1]; y = Conv(MaxPool(x, kernel_shape=[1, 1]), w, group=2)",
    ),
    *rests(
        "move.conv_of_single_largest",
        _X + "w: f32[3, 4, 1, 1]; y = Conv(MaxPool(x, kernel_shape=[1, 2], strides=[2, 2]), w)",
        _X + "w: f32[3, 4, 3, 3]; y = Conv(MaxPool(x, kernel_shape=[1, 1], strides=[2, 2]), w)",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(MaxPool(x, kernel_shape=[1, 1], strides=[2, 2]), w, pads=[0, 0, 1, 0])",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(MaxPool(x, kernel_shape=[1, 1], strides=[4, 4], ceil_mode=1), w)",
    ),
    *acts(
        "move.conv_of_single_average",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(AveragePool(x, kernel_shape=[1, 1], strides=[2, 2], count_include_pad=1), w)",
    ),
    *rests(
        "move.conv_of_single_average",
        _X + "w: f32[3, 4, 1, 1]; y = Conv(AveragePool(x, kernel_shape=[2, 1], strides=[2, 2]), w)",
        _X
        + "w: f32[3, 4, 1, 1]; y = Conv(AveragePool(x, kernel_shape=[1, 1], strides=[4, 4], ceil_mode=1), w)",
    ),
]

CASES = [*DIFFERENCES, *CROPS, *STEPS]
