# ruff: noqa: E501  (a line is a model)
"""Cases of `fold` and `linear`: convolutions and products with weights."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_BN = "s: f32[4] = weight; o: f32[4] = weight; m: f32[4] = weight; v: f32[4] = weight; "
_X = "x: f32[2, 4, 6, 6]; "
_V = "w: f32[4, 4, 3, 3] = weight; "
_G = "w: f32[4, 2, 3, 3] = weight; "
_D = "w: f32[4, 1, 3, 3] = weight; "
_B = "b: f32[4] = weight; "
_C = "c: f32[4, 1, 1] = weight; "
_D4 = "d: f32[4, 1, 1] = weight; "
_S = "s: f32[1] = weight; c: f32 = weight; "
_CONV = "k = Conv(x, w, pads=[1, 1, 1, 1]); "
_BIASED = "k = Conv(x, w, b, pads=[1, 1, 1, 1]); "
_GROUPED = "k = Conv(x, w, b, group=2, pads=[1, 1, 1, 1]); "
_T = "k = ConvTranspose(x, w); "
_TB = "k = ConvTranspose(x, w, b, strides=[2, 2], output_padding=[1, 1]); "

SPELLING: list[Case] = [
    *acts("fold.sub_weight", "x: f32[2, 3]; c: f32[3] = weight; y = Sub(x, c)"),
    *rests(
        "fold.sub_weight",
        "x: f32[2, 3]; c: f32[3]; y = Sub(x, c)",
        "x: f32[2, 3]; c: f32[3] = weight; y = Sub(c, x)",
        "x: u32[2, 3]; c: u32[3] = [1, 2, 3]; y = Sub(x, c)",
    ),
    *acts("fold.div_weight", "x: f32[2, 3]; c: f32[3] = weight; y = Div(x, c)"),
    *rests(
        "fold.div_weight",
        "x: i32[2, 3]; c: i32[3] = [1, 2, 3]; y = Div(x, c)",
        "x: f32[2, 3]; c: f32[3] = weight; y = Div(c, x)",
    ),
    *acts(
        "fold.batchnorm_affine",
        _BN + _X + "y = BatchNormalization(x, s, o, m, v, epsilon=0.1)",
        _BN + "x: f32[2, 4, N]; y = BatchNormalization(x, s, o, m, v)",
    ),
    *rests(
        "fold.batchnorm_affine",
        _BN + "x: f32[2, 4]; y = BatchNormalization(x, s, o, m, v)",
        _BN + _X + "y, p, q = BatchNormalization(x, s, o, m, v, training_mode=1)",
        _BN.replace("v: f32[4] = weight", "v: f32[4]")
        + _X
        + "y = BatchNormalization(x, s, o, m, v)",
    ),
    *acts(
        "fold.batchnorm_affine_rows",
        _BN + "x: f32[N, 4]; y = BatchNormalization(x, s, o, m, v, epsilon=0.1)",
    ),
    *rests("fold.batchnorm_affine_rows", _BN + _X + "y = BatchNormalization(x, s, o, m, v)"),
    *acts(
        "fold.batchnorm_scale",
        _BN + _X + _C + "y = Mul(BatchNormalization(x, s, o, m, v, epsilon=0.1), c)",
        _BN + "x: f32[N, 4]; c: f32[4] = weight; y = Mul(c, BatchNormalization(x, s, o, m, v))",
    ),
    *rests(
        "fold.batchnorm_scale",
        _BN + _X + "c: f32[6] = weight; y = Mul(BatchNormalization(x, s, o, m, v), c)",
        _BN + _X + "c: f32[4, 1, 1]; y = Mul(BatchNormalization(x, s, o, m, v), c)",
        _BN
        + _X
        + _C
        + "y, p, q = BatchNormalization(x, s, o, m, v, training_mode=1); z = Mul(y, c)",
    ),
    *acts(
        "fold.batchnorm_shift",
        _BN + _X + _C + "y = Add(BatchNormalization(x, s, o, m, v, epsilon=0.1), c)",
    ),
    *rests(
        "fold.batchnorm_shift",
        _BN + "x: f32[2, 4, 4]; c: f32[4] = weight; y = Add(BatchNormalization(x, s, o, m, v), c)",
    ),
]

BEHIND: list[Case] = [
    *acts(
        "fold.conv_scale",
        _X + _V + _C + _CONV + "y = Mul(k, c)",
        _X + _V + _B + "c: f32[1, 4, 1, 1] = weight; " + _BIASED + "y = Mul(c, k)",
        _X + _G + _B + _C + _GROUPED + "y = Mul(k, c)",
        _X + _D + _C + "y = Mul(Conv(x, w, group=4), c)",
        "x: f32[2, 4, N]; w: f32[3, 4, 2] = weight; c: f32[3, 1] = weight; y = Mul(Conv(x, w), c)",
    ),
    *rests(
        "fold.conv_scale",
        _X + _V + "c: f32[4] = weight; y = Mul(Conv(x, w), c)",
        _X + _V + "c: f32[4, 4] = weight; y = Mul(Conv(x, w), c)",
        _X + _V + "c: f32[1, 1, 4, 1] = weight; y = Mul(Conv(x, w), c)",
        _X + _V + "c: f32[2, 1, 1, 1] = weight; y = Mul(Conv(x, w), c)",
        _X + _V + "c: f32[4, 1, 1]; y = Mul(Conv(x, w), c)",
        _X + "w: f32[1, 4, 3, 3] = weight; c: f32[4, 1, 1] = weight; y = Mul(Conv(x, w), c)",
    ),
    *acts(
        "fold.conv_scale_all",
        _X + _V + _B + "c: f32 = 2.5; " + _BIASED + "y = Mul(k, c)",
        _X + _G + "c: f32[1, 1] = weight; y = Mul(Conv(x, w, group=2), c)",
    ),
    *rests(
        "fold.conv_scale_all",
        _X + _V + "c: f32[1, 1, 1, 1, 1] = weight; y = Mul(Conv(x, w), c)",
        _X + _V + "c: f32; y = Mul(Conv(x, w), c)",
    ),
    *acts(
        "fold.conv_shift",
        _X + _V + _C + _CONV + "y = Add(k, c)",
        _X + _D + _C + "y = Add(c, Conv(x, w, group=4))",
    ),
    *rests(
        "fold.conv_shift",
        _X + _V + "c: f32[4, 4] = weight; y = Add(Conv(x, w), c)",
        _X + _V + _B + _C + _BIASED + "y = Add(k, c)",
        _X + _V + "c: f32[4, 1, 1]; y = Add(Conv(x, w), c)",
    ),
    *acts("fold.conv_shift_bias", _X + _V + _B + _C + _BIASED + "y = Add(k, c)"),
    *rests("fold.conv_shift_bias", _X + _V + _C + _CONV + "y = Add(k, c)"),
    *acts("fold.conv_shift_all", _X + _V + "c: f32[1] = weight; y = Add(Conv(x, w), c)"),
    *rests("fold.conv_shift_all", _X + _V + "c: f32[4] = weight; y = Add(Conv(x, w), c)"),
    *acts("fold.conv_shift_all_bias", _X + _G + _B + "c: f32 = 0.5; " + _GROUPED + "y = Add(k, c)"),
    *rests("fold.conv_shift_all_bias", _X + _G + _B + _C + _GROUPED + "y = Add(k, c)"),
    *acts(
        "fold.conv_transpose_scale",
        _X + _G + "c: f32[2, 1, 1] = weight; " + _T + "y = Mul(k, c)",
        _X + _G + "b: f32[2] = weight; c: f32[2, 1, 1] = weight; " + _TB + "y = Mul(k, c)",
    ),
    *rests(
        "fold.conv_transpose_scale",
        _X + _G + "c: f32[4, 1, 1] = weight; y = Mul(ConvTranspose(x, w, group=2), c)",
        _X + "w: f32[4, 4, 3, 3] = weight; c: f32[8] = weight; y = Mul(ConvTranspose(x, w), c)",
    ),
    *acts(
        "fold.conv_transpose_shift",
        _X
        + _G
        + "c: f32[2, 1, 1] = weight; k = ConvTranspose(x, w, strides=[2, 2], output_padding=[1, 1]); y = Add(k, c)",
        _X + _G + "c: f32[4, 1, 1] = weight; y = Add(ConvTranspose(x, w, group=2), c)",
    ),
    *rests(
        "fold.conv_transpose_shift",
        _X + _G + "c: f32[4, 1, 1]; y = Add(ConvTranspose(x, w, group=2), c)",
        _X + _G + "c: f32[2, 1] = weight; y = Add(ConvTranspose(x, w), c)",
        _X + _G + "c: f32[1, 1, 1] = weight; y = Add(ConvTranspose(x, w, group=2), c)",
    ),
    *acts(
        "fold.conv_transpose_shift_all",
        _X + _G + "c: f32 = weight; y = Add(ConvTranspose(x, w, strides=[2, 2]), c)",
        _X + _G + "c: f32[1, 1] = weight; y = Add(c, ConvTranspose(x, w, group=2))",
    ),
    *rests(
        "fold.conv_transpose_shift_all",
        _X + _G + "c: f32; y = Add(ConvTranspose(x, w), c)",
        _X + _G + "c: f32[2, 1, 1] = weight; y = Add(ConvTranspose(x, w), c)",
        _X + _G + "b: f32[2] = weight; c: f32 = weight; y = Add(ConvTranspose(x, w, b), c)",
    ),
    *acts(
        "fold.conv_transpose_shift_all_bias",
        _X + _G + "b: f32[2] = weight; c: f32[1] = weight; y = Add(ConvTranspose(x, w, b), c)",
    ),
    *rests(
        "fold.conv_transpose_shift_all_bias",
        _X + _G + "b: f32[2] = weight; c: f32; y = Add(ConvTranspose(x, w, b), c)",
        _X + _G + "b: f32[2]; c: f32 = weight; y = Add(ConvTranspose(x, w, b), c)",
        _X
        + _G
        + "b: f32[2] = weight; c: f32[2, 1, 1] = weight; y = Add(ConvTranspose(x, w, b), c)",
    ),
    *acts(
        "fold.conv_transpose_shift_bias",
        _X + _G + "b: f32[2] = weight; c: f32[2, 1, 1] = weight; " + _TB + "y = Add(k, c)",
    ),
    *rests(
        "fold.conv_transpose_shift_bias",
        _X + _G + "c: f32[2, 1, 1] = weight; " + _T + "y = Add(k, c)",
    ),
]

BEFORE: list[Case] = [
    *acts(
        "fold.conv_of_scaled",
        _X + _V + _B + _C + "y = Conv(Mul(x, c), w, b, pads=[1, 1, 1, 1])",
        _X + _V + _C + "y = Conv(Mul(x, c), w, strides=[2, 2])",
    ),
    *rests(
        "fold.conv_of_scaled",
        _X + _G + _C + "y = Conv(Mul(x, c), w, group=2)",
        _X + _D + _C + "y = Conv(Mul(x, c), w, group=4)",
        _X + _V + "c: f32[6] = weight; y = Conv(Mul(x, c), w)",
        "x: f32[2, 1, 6, 6]; " + _V + _C + "y = Conv(Mul(x, c), w)",
    ),
    *acts(
        "fold.conv_of_scaled_all",
        _X + _G + _B + "c: f32[1] = weight; y = Conv(Mul(x, c), w, b, group=2, pads=[1, 1, 1, 1])",
    ),
    *rests("fold.conv_of_scaled_all", _X + _V + _C + "y = Conv(Mul(x, c), w)"),
    *acts("fold.conv_of_shifted", _X + _V + _C + "y = Conv(Add(x, c), w, strides=[2, 2])"),
    *rests(
        "fold.conv_of_shifted",
        _X + _V + _C + "y = Conv(Add(x, c), w, pads=[0, 0, 1, 0])",
        "x: f32[2, 4, N, N]; "
        + _V
        + _C
        + "y = Conv(Add(x, c), w, strides=[2, 2], auto_pad='SAME_UPPER')",
        _X + _D + _C + "y = Conv(Add(x, c), w, group=4)",
        _X + _V + "c: f32[6] = weight; y = Conv(Add(x, c), w)",
        _X + _V + _B + _C + "y = Conv(Add(x, c), w, b)",
    ),
    *acts("fold.conv_bias_of_shifted", _X + _V + _B + _C + "y = Conv(Add(x, c), w, b)"),
    *rests(
        "fold.conv_bias_of_shifted",
        _X + _V + _B + _C + "y = Conv(Add(x, c), w, b, pads=[1, 1, 1, 1])",
        "x: f32[2, 4, N, N]; "
        + _V
        + _B
        + _C
        + "y = Conv(Add(x, c), w, b, strides=[2, 2], auto_pad='SAME_LOWER')",
    ),
    *acts(
        "fold.conv_of_affine",
        _X + _G + _S + "y = Conv(Add(Mul(x, s), c), w, group=2, strides=[2, 2])",
        "x: f32[2, 4, N]; w: f32[5, 4, 3] = weight; s: f32[1] = weight; y = Conv(Add(f32(-2), Mul(s, x)), w)",
    ),
    *rests(
        "fold.conv_of_affine",
        _X + _V + _S + "y = Conv(Add(Mul(x, s), c), w, pads=[0, 0, 0, 1])",
        _X + _V + _S + _D4 + "y = Conv(Add(Mul(x, s), d), w)",
        _X + _V + _S + _D4 + "y = Conv(Add(Mul(x, d), c), w)",
        _X + _V + "s: f32; y = Conv(Add(Mul(x, s), f32(1)), w)",
        _X + _V + "c: f32; y = Conv(Add(Mul(x, f32(2)), c), w)",
        "x: f32[2, 4, N, N]; "
        + _V
        + _S
        + "y = Conv(Add(Mul(x, s), c), w, strides=[2, 2], auto_pad='SAME_UPPER')",
    ),
    *acts(
        "fold.conv_bias_of_affine",
        _X + _G + _B + _S + "y = Conv(Add(Mul(x, s), c), w, b, group=2)",
        _X + _V + _B + "y = Conv(Add(Mul(f32([[3]]), x), f32([0.5])), w, b, dilations=[2, 2])",
    ),
    *rests(
        "fold.conv_bias_of_affine",
        _X + _V + _B + _S + "y = Conv(Add(Mul(x, s), c), w, b, pads=[0, 0, 0, 1])",
        _X + _V + "b: f32[5]; " + _S + "y = Conv(Add(Mul(x, s), c), w, b)",
        _X + _V + _B + _S + _D4 + "y = Conv(Add(Mul(x, s), d), w, b)",
    ),
    *acts(
        "fold.conv_of_affine_padded",
        _X + _V + _B + _S + "y = Conv(Add(Mul(x, s), c), w, b, pads=[1, 1, 1, 1])",
        _X + _G + _S + _D4 + "y = Conv(Add(Mul(x, s), d), w, group=2, pads=[0, 0, 0, 1])",
        "x: f32[2, 4, N]; w: f32[5, 4, 3] = weight; y = Conv(Add(Mul(x, f32(-4)), f32(1)), w, auto_pad='SAME_UPPER')",
    ),
    *rests(
        "fold.conv_of_affine_padded",
        _X + _V + _S + "y = Conv(Add(Mul(x, s), c), w)",
        _X + _V + "y = Conv(Add(Mul(x, f32(0)), f32(1)), w, pads=[1, 1, 1, 1])",
        _X + _V + "y = Conv(Add(Mul(x, f32(1e-7)), f32(1)), w, pads=[1, 1, 1, 1])",
        _X + _V + _S + _D4 + "y = Conv(Add(Mul(x, d), c), w, pads=[1, 1, 1, 1])",
        _X + _V + "c: f32; y = Conv(Add(Mul(x, f32(2)), c), w, pads=[1, 1, 1, 1])",
        "x: f32[2, 4, N, N]; "
        + _V
        + _S
        + "y = Conv(Add(Mul(x, s), c), w, strides=[2, 2], auto_pad='SAME_UPPER')",
    ),
    *acts(
        "fold.conv_of_padded",
        _X + _V + _B + "y = Conv(Pad(x, i64([0, 0, 1, 2, 0, 0, 0, 1])), w, b, pads=[1, 0, 0, 1])",
        _X + _G + "y = Conv(Pad(x, i64([0, 0, 1, 1, 0, 0, 1, 1])), w, group=2, strides=[2, 2])",
        specials=False,
    ),
    *rests(
        "fold.conv_of_padded",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, -1, 0, 0, 0, 1])), w)",
        _X + _V + "y = Conv(Pad(x, i64([1, 0, 1, 1, 0, 0, 1, 1])), w)",
        _X + "w: f32[4, 5, 3, 3] = weight; y = Conv(Pad(x, i64([0, 1, 1, 1, 0, 0, 1, 1])), w)",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 1, 0, 0, 1, 1]), mode='edge'), w)",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 1, 0, 0, 1, 1]), f32(1)), w)",
        _X + _V + "y = Conv(Pad(x, i64([1, 1, 1, 1]), None, i64([2, 3])), w)",
        "x: f32[2, 4, N, N]; "
        + _V
        + "y = Conv(Pad(x, i64([0, 0, 1, 1, 0, 0, 1, 1])), w, strides=[2, 2], auto_pad='SAME_UPPER')",
        "x: f32[2, 4, 5]; w: f32[3, 4, 2] = weight; y = Conv(Pad(x, i64([0, 0, 1, 0, 0, 1])), w)",
    ),
    *acts(
        "fold.conv_of_padded_zero",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 2, 0, 0, 0, 1]), f32(0)), w)",
        specials=False,
    ),
    *rests(
        "fold.conv_of_padded_zero",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 1, 0, 0, 1, 1]), f32(1)), w)",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 1, 0, 0, 1, 1]), f32(0), mode='edge'), w)",
    ),
]

_M = "x: f32[2, 5, 3]; w: f32[3, 4] = weight; "

PRODUCTS: list[Case] = [
    *acts(
        "fold.matmul_scale",
        _M + "c: f32[4] = weight; y = Mul(MatMul(x, w), c)",
        _M + "c: f32[1, 1, 4] = weight; y = Mul(c, MatMul(x, w))",
        "x: f32[2, 5, 3]; w: f32[2, 3, 4] = weight; c: f32[4] = weight; y = Mul(MatMul(x, w), c)",
        "x: f32[3]; w: f32[3, 4] = weight; c: f32[4] = weight; y = Mul(MatMul(x, w), c)",
    ),
    *rests(
        "fold.matmul_scale",
        _M + "c: f32[5, 1] = weight; y = Mul(MatMul(x, w), c)",
        _M + "c: f32[5, 4] = weight; y = Mul(MatMul(x, w), c)",
        _M + "c: f32[4]; y = Mul(MatMul(x, w), c)",
        _M + "c: f32[1, 1, 1, 4] = weight; y = Mul(MatMul(x, w), c)",
        "x: f32[3, 4]; w: f32[4] = weight; c: f32[3] = weight; y = Mul(MatMul(x, w), c)",
        "x: f32[2, 3]; w: f32[3, 1] = weight; c: f32[4] = weight; y = Mul(MatMul(x, w), c)",
    ),
    *acts("fold.matmul_scale_all", _M + "c: f32[1] = weight; y = Mul(MatMul(x, w), c)"),
    *rests(
        "fold.matmul_scale_all",
        "x: f32[2, 3]; w: f32[3, 4]; c: f32 = 2.0; y = Mul(MatMul(x, w), c)",
    ),
    *acts(
        "fold.matmul_of_scaled",
        _M + "c: f32[3] = weight; y = MatMul(Mul(x, c), w)",
        "x: f32[3]; w: f32[3, 4] = weight; c: f32[3] = weight; y = MatMul(Mul(x, c), w)",
    ),
    *rests(
        "fold.matmul_of_scaled",
        _M + "c: f32[5, 1] = weight; y = MatMul(Mul(x, c), w)",
        "x: f32[3]; w: f32[3, 4] = weight; c: f32[1, 3] = weight; y = MatMul(Mul(x, c), w)",
        "x: f32[2, 1]; w: f32[3, 4] = weight; c: f32[3] = weight; y = MatMul(Mul(x, c), w)",
    ),
    *acts("fold.matmul_of_shifted", _M + "c: f32[3] = weight; y = MatMul(Add(x, c), w)"),
    *rests(
        "fold.matmul_of_shifted",
        _M + "c: f32[5, 1] = weight; y = MatMul(Add(x, c), w)",
        "x: f32[2, 1]; w: f32[3, 4] = weight; c: f32[3] = weight; y = MatMul(Add(x, c), w)",
        "x: f32[5, 3]; w: f32[2, 3, 4] = weight; c: f32[3] = weight; y = MatMul(Add(x, c), w)",
    ),
    *acts(
        "fold.matmul_two_biases",
        _M + "c: f32[4] = weight; d: f32[4] = weight; y = Add(d, Add(MatMul(x, w), c))",
        "x: f32[5, 3]; w: f32[3, 1]; c: f32[4] = weight; d: f32 = 2.0; "
        "y = Add(Add(MatMul(x, w), c), d)",
        "x: f32[N, L, 3]; w: f32[3, 4] = weight; c: f32[4] = weight; d: f32[1, 1, 4] = weight; y = Add(Add(MatMul(x, w), c), d)",
    ),
    *rests(
        "fold.matmul_two_biases",
        _M + "c: f32[4] = weight; d: f32[5, 1] = weight; y = Add(Add(MatMul(x, w), c), d)",
        _M + "c: f32[4] = weight; d: f32[4]; y = Add(Add(MatMul(x, w), c), d)",
    ),
    *acts(
        "fold.matmul_add_gemm",
        "x: f32[N, 3]; w: f32[3, 4]; c: f32[4] = weight; y = Add(MatMul(x, w), c)",
        "x: f32[2, 3]; w: f32[3, 4]; c: f32[2, 1] = weight; y = Add(MatMul(x, w), c)",
    ),
    *rests(
        "fold.matmul_add_gemm",
        _M + "c: f32[4] = weight; y = Add(MatMul(x, w), c)",
        "x: f32[2, 3]; w: f32[3, 4]; c: f32[1, 1, 4] = weight; y = Add(MatMul(x, w), c)",
        "x: f32[1, 3]; w: f32[3, 4]; c: f32[2, 4] = weight; y = Add(MatMul(x, w), c)",
        "x: i32[2, 3]; w: i32[3, 4]; c: i32[4] = weight; y = Add(MatMul(x, w), c)",
    ),
    *acts(
        "fold.gemm_scale",
        "x: f32[2, 3]; w: f32[3, 4] = weight; b: f32[4] = weight; c: f32[4] = weight; "
        "y = Mul(Gemm(x, w, b, alpha=0.5, beta=2.0), c)",
        "x: f32[2, 3]; w: f32[4, 3] = weight; b: f32[2, 1] = weight; c: f32[1, 4] = weight; "
        "y = Mul(Gemm(x, w, b, transB=1), c)",
        "x: f32[3, N]; w: f32[3, 4] = weight; c: f32[4] = weight; y = Mul(Gemm(x, w, transA=1), c)",
    ),
    *rests(
        "fold.gemm_scale",
        "x: f32[2, 3]; w: f32[3, 4] = weight; c: f32[2, 1] = weight; y = Mul(Gemm(x, w), c)",
        "x: f32[2, 3]; w: f32[3, 1] = weight; c: f32[4] = weight; y = Mul(Gemm(x, w), c)",
        "x: f32[2, 3]; w: f32[3, 4] = weight; b: f32[4]; c: f32[4] = weight; "
        "y = Mul(Gemm(x, w, b), c)",
    ),
    *acts(
        "fold.gemm_shift",
        "x: f32[2, 3]; w: f32[4, 3]; c: f32[4] = weight; y = Add(Gemm(x, w, transB=1), c)",
        "x: f32[2, 3]; w: f32[3, 4]; c: f32[2, 1] = weight; y = Add(c, Gemm(x, w, beta=0.5))",
    ),
    *rests(
        "fold.gemm_shift",
        "x: f32[2, 3]; w: f32[3, 4]; b: f32[4]; c: f32[4] = weight; y = Add(Gemm(x, w, b), c)",
        "x: f32[1, 3]; w: f32[3, 4]; c: f32[2, 4] = weight; y = Add(Gemm(x, w), c)",
    ),
    *acts(
        "fold.gemm_shift_bias",
        "x: f32[2, 3]; w: f32[3, 4]; b: f32[4] = weight; c: f32[4] = weight; "
        "y = Add(Gemm(x, w, b, alpha=2.0), c)",
    ),
    *rests(
        "fold.gemm_shift_bias",
        "x: f32[2, 3]; w: f32[3, 4]; b: f32[4] = weight; c: f32[4] = weight; "
        "y = Add(Gemm(x, w, b, beta=2.0), c)",
        "x: f32[1, 3]; w: f32[3, 4]; b: f32[4] = weight; c: f32[2, 4] = weight; "
        "y = Add(Gemm(x, w, b), c)",
    ),
]

_P = "pads=[1, 1, 1, 1]"
_ID = "BatchNormalization(x, s, o, m, v, epsilon=0.1)"

LINEAR: list[Case] = [
    *acts(
        "linear.matmul_chain",
        "x: f32[2, 5, 3]; a: f32[3, 2] = weight; b: f32[2, 4] = weight; "
        "y = MatMul(MatMul(x, a), b)",
        "x: f32[3]; a: f32[3, 2] = weight; b: f32[2, 4] = weight; y = MatMul(MatMul(x, a), b)",
    ),
    *rests(
        "linear.matmul_chain",
        "x: f32[2, 3]; a: f32[3, 2]; b: f32[2, 4] = weight; y = MatMul(MatMul(x, a), b)",
        "x: f32[2, 3]; a: f32[3, 2] = weight; b: f32[2] = weight; y = MatMul(MatMul(x, a), b)",
    ),
    *acts(
        "linear.matmul_sum",
        "x: f32[2, 5, 3]; a: f32[3, 4] = weight; b: f32[3, 4] = weight; "
        "y = Add(MatMul(x, a), MatMul(x, b))",
    ),
    *rests(
        "linear.matmul_sum",
        "x: f32[2, 3]; z: f32[2, 3]; a: f32[3, 4] = weight; b: f32[3, 4] = weight; "
        "y = Add(MatMul(x, a), MatMul(z, b))",
        "x: f32[2, 3]; a: f32[3, 4] = weight; b: f32[3, 1] = weight; "
        "y = Add(MatMul(x, a), MatMul(x, b))",
    ),
    *acts(
        "linear.matmul_sum_bias",
        "x: f32[2, 3]; a: f32[3, 4] = weight; b: f32[3, 4] = weight; c: f32[4] = weight; "
        "y = Add(Add(MatMul(x, a), c), MatMul(x, b))",
    ),
    *rests(
        "linear.matmul_sum_bias",
        "x: f32[2, 3]; a: f32[3, 4] = weight; b: f32[3, 4] = weight; c: f32[4]; "
        "y = Add(Add(MatMul(x, a), c), MatMul(x, b))",
    ),
    *acts(
        "linear.linear_scale",
        _M + "b: f32[4] = weight; c: f32 = 0.5; y = Mul(Add(MatMul(x, w), b), c)",
        _M + "b: f32[5, 4] = weight; c: f32[1] = weight; y = Mul(c, Add(b, MatMul(x, w)))",
    ),
    *rests(
        "linear.linear_scale",
        _M + "b: f32[4]; c: f32 = 0.5; y = Mul(Add(MatMul(x, w), b), c)",
        _M + "b: f32[4] = weight; c: f32[4] = weight; y = Mul(Add(MatMul(x, w), b), c)",
    ),
    *acts(
        "linear.matmul_factor_left",
        "a: f32[2, N, 3]; b: f32[2, 3, 4]; c: f32 = 0.125; y = Mul(MatMul(a, b), c)",
        "a: f32[3]; b: f32[3, 4]; c: f32[1] = weight; y = Mul(MatMul(a, b), c)",
    ),
    *rests(
        "linear.matmul_factor_left",
        "a: f32[2, 3]; b: f32[3, 4]; c: f32[4] = weight; y = Mul(MatMul(a, b), c)",
        "a: f32[3]; b: f32[2, 3, 4]; c: f32[1, 1] = weight; y = Mul(MatMul(a, b), c)",
    ),
    *acts(
        "linear.reshape_factor",
        "x: f32[2, 6]; c: f32 = 0.5; y = Mul(Reshape(x, i64([0, 2, 3])), c)",
        "x: f32[N, 6]; s: i64[2]; c: f32[1] = weight; y = Mul(Reshape(x, i64([3, -1])), c)",
    ),
    *rests(
        "linear.reshape_factor",
        "x: f32[2, 6]; c: f32[3] = weight; y = Mul(Reshape(x, i64([4, 3])), c)",
        "x: f32[6]; c: f32[1, 1] = weight; y = Mul(Reshape(x, i64([2, 3])), c)",
    ),
    *acts(
        "linear.embedding_sum",
        "w: f32[9, 3] = weight; i: i64[1, 5]; c: f32[1, 5, 3] = weight; d: f32[1, 5, 3] = weight; "
        "y = Add(d, Add(Gather(w, Clip(i, i64(0), i64(8))), c))",
    ),
    *rests(
        "linear.embedding_sum",
        "w: f32[9, 3] = weight; i: i64[5]; c: f32[5, 3] = weight; d: f32[3] = weight; "
        "y = Add(Add(Gather(w, Clip(i, i64(0), i64(8))), c), d)",
        "w: f32[9, 3] = weight; i: i64[5]; c: f32[5, 3]; d: f32[5, 3] = weight; "
        "y = Add(Add(Gather(w, Clip(i, i64(0), i64(8))), c), d)",
    ),
    *acts(
        "linear.conv_sum",
        _X + _V + f"u: f32[4, 4, 3, 3] = weight; y = Add(Conv(x, w, {_P}), Conv(x, u, {_P}))",
        _X + _G + "u: f32[4, 2, 3, 3] = weight; y = Add(Conv(x, w, group=2), Conv(x, u, group=2))",
    ),
    *rests(
        "linear.conv_sum",
        _X
        + _V
        + f"u: f32[4, 4, 3, 3] = weight; y = Add(Conv(x, w, {_P}), Conv(x, u, pads=[2, 0, 0, 2]))",
        _X + _V + "u: f32[1, 4, 3, 3] = weight; y = Add(Conv(x, w), Conv(x, u))",
        _X + _V + "z: f32[2, 4, 6, 6]; y = Add(Conv(x, w), Conv(z, w))",
        _X + _V + _B + "u: f32[4, 4, 3, 3] = weight; y = Add(Conv(x, w), Conv(x, u, b))",
    ),
    *acts(
        "linear.conv_sum_bias",
        _X + _V + _B + "u: f32[4, 4, 3, 3] = weight; a: f32[4] = weight; "
        "y = Add(Conv(x, w, a), Conv(x, u, b))",
    ),
    *rests(
        "linear.conv_sum_bias",
        _X
        + _V
        + _B
        + "u: f32[4, 4, 3, 3] = weight; a: f32[4]; y = Add(Conv(x, w, a), Conv(x, u, b))",
    ),
    *acts(
        "linear.conv_then_1x1",
        _X + _V + _CONV + "u: f32[5, 4, 1, 1] = weight; y = Conv(k, u)",
        _X
        + _V
        + "u: f32[5, 4, 1, 1] = weight; b: f32[5] = weight; y = Conv(Conv(x, w, strides=[2, 2]), u, b)",
    ),
    *rests(
        "linear.conv_then_1x1",
        _X + _D + "u: f32[5, 4, 1, 1] = weight; y = Conv(Conv(x, w, group=4), u)",
        _X + _V + "u: f32[4, 1, 1, 1] = weight; y = Conv(Conv(x, w), u, group=4)",
        _X + _V + "u: f32[5, 4, 1, 1] = weight; y = Conv(Conv(x, w), u, pads=[1, 1, 1, 1])",
        _X + _V + "u: f32[5, 4, 1, 1] = weight; y = Conv(Conv(x, w), u, strides=[2, 2])",
        _X + _V + "u: f32[5, 4, 2, 2] = weight; y = Conv(Conv(x, w), u)",
    ),
    *acts(
        "linear.conv_bias_then_1x1_bias",
        _X
        + _V
        + _B
        + "u: f32[5, 4, 1, 1] = weight; a: f32[5] = weight; y = Conv(Conv(x, w, b), u, a)",
    ),
    *rests(
        "linear.conv_bias_then_1x1_bias",
        _X + _V + _B + "u: f32[5, 4, 1, 1] = weight; a: f32[5] = weight; "
        "y = Conv(Conv(x, w, b), u, a, pads=[1, 1, 1, 1])",
    ),
    *acts(
        "linear.conv_bias_then_1x1",
        _X + _V + _B + "u: f32[5, 4, 1, 1] = weight; y = Conv(Conv(x, w, b, dilations=[2, 2]), u)",
    ),
    *rests(
        "linear.conv_bias_then_1x1",
        _X + _V + _B + "u: f32[5, 4, 1, 1] = weight; y = Conv(Relu(Conv(x, w, b)), u)",
    ),
]

CASES = [*SPELLING, *BEHIND, *BEFORE, *PRODUCTS, *LINEAR]
