# ruff: noqa: E501  (a line is a model)
"""More cases of `fold` and `linear`: groups, pads, branches that are added, Gemm."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[2, 4, 6, 6]; "
_V = "w: f32[4, 4, 3, 3] = weight; "
_G = "w: f32[4, 2, 3, 3] = weight; "
_D = "w: f32[4, 1, 3, 3] = weight; "
_B = "b: f32[4] = weight; "
_C = "c: f32[4, 1, 1] = weight; "
_P = "pads=[1, 1, 1, 1]"
_ONE = "u: f32[4, 4, 1, 1] = weight; "
_A = "a: f32[4] = weight; "
_BN = "s: f32[4] = weight; o: f32[4] = weight; m: f32[4] = weight; v: f32[4] = weight; "
_ID = "BatchNormalization(x, s, o, m, v, epsilon=0.1)"

GROUPS: list[Case] = [
    *acts(
        "fold.conv_transpose_scale_grouped",
        _X + _G + _C + "y = Mul(ConvTranspose(x, w, group=2), c)",
        _X + _D + _B + _C + "y = Mul(ConvTranspose(x, w, b, group=4, strides=[2, 2]), c)",
    ),
    *rests(
        "fold.conv_transpose_scale_grouped",
        _X + _V + _C + "y = Mul(ConvTranspose(x, w), c)",
        _X + _G + "c: f32[4, 1, 1]; y = Mul(ConvTranspose(x, w, group=2), c)",
    ),
    *acts(
        "fold.conv_transpose_scale_all",
        _X + _G + "b: f32[4] = weight; y = Mul(ConvTranspose(x, w, b, group=2), f32(3))",
        "x: f32[2, 4, N]; w: f32[4, 3, 2] = weight; y = Mul(f32([[2]]), ConvTranspose(x, w))",
    ),
    *rests(
        "fold.conv_transpose_scale_all",
        _X + _G + "c: f32; y = Mul(ConvTranspose(x, w), c)",
        _X + "w: f32[4, 2, 3, 3]; y = Mul(ConvTranspose(x, w), f32(2))",
        _X + _G + "y = Mul(ConvTranspose(x, w), f32([[[[[2]]]]]))",
    ),
    *acts(
        "fold.conv_transpose_of_scaled",
        _X + _V + _C + "y = ConvTranspose(Mul(x, c), w, strides=[2, 2])",
        _X + _G + _B + _C + "y = ConvTranspose(Mul(c, x), w, b, group=2)",
        "x: f32[2, 4, N]; w: f32[4, 3, 2] = weight; c: f32[4, 1] = weight; y = ConvTranspose(Mul(x, c), w)",
    ),
    *rests(
        "fold.conv_transpose_of_scaled",
        _X
        + _V
        + "c: f32[4, 1] = weight; y = ConvTranspose(Mul(Concat(x, x, axis=2), Expand(c, i64([12, 1]))), w)".replace(
            "[4, 1] =", "[1, 1] ="
        ),
        _X + _V + "c: f32[4, 1, 1]; y = ConvTranspose(Mul(x, c), w)",
        _X + "w: f32[4, 4, 3, 3]; " + _C + "y = ConvTranspose(Mul(x, c), w)",
    ),
    *acts(
        "fold.conv_of_scaled_grouped",
        _X + _G + _C + f"y = Conv(Mul(x, c), w, group=2, {_P})",
        _X + _D + _B + _C + "y = Conv(Mul(x, c), w, b, group=4)",
    ),
    *rests(
        "fold.conv_of_scaled_grouped",
        _X + _V + _C + "y = Conv(Mul(x, c), w)",
        _X + _D + "c: f32[4, 1, 1]; y = Conv(Mul(x, c), w, group=4)",
        _X + "w: f32[4, 1, 3, 3]; " + _C + "y = Conv(Mul(x, c), w, group=4)",
        "x: f32[2, 4, 6, 4]; " + _D + "c: f32[4] = weight; y = Conv(Mul(x, c), w, group=4)",
    ),
    *acts(
        "fold.conv_of_shifted_grouped",
        _X + _G + _C + "y = Conv(Add(x, c), w, group=2)",
        _X + _D + _C + "y = Conv(Add(c, x), w, group=4, strides=[2, 2])",
    ),
    *rests(
        "fold.conv_of_shifted_grouped",
        _X + _D + _C + f"y = Conv(Add(x, c), w, group=4, {_P})",
        _X + _D + _B + _C + "y = Conv(Add(x, c), w, b, group=4)",
        _X + _V + _C + "y = Conv(Add(x, c), w)",
        _X + _D + "c: f32[4, 1, 1]; y = Conv(Add(x, c), w, group=4)",
        "x: f32[2, 4, N, N]; " + _D + _C + "y = Conv(Add(x, c), w, group=4, auto_pad='SAME_UPPER')",
    ),
]

_PAD = "Pad({}, i64([0, 0, 1, 0, 0, 0, 1, 2]))"
PADS: list[Case] = [
    *acts(
        "fold.conv_of_padded_any",
        "x: f32[2, 4, N]; w: f32[4, 4, 2] = weight; y = Conv(Pad(x, i64([0, 0, 1, 0, 0, 3])), w)",
        _X + _V + f"y = Conv({_PAD.format('x')}, w, strides=[2, 2])",
        "x: f32[1, 2, 3, 3, 3]; w: f32[4, 2, 2, 2, 2] = weight; b: f32[4]; y = Conv(Pad(x, i64([0, 0, 1, 0, 2, 0, 0, 0, 1, 0])), w, b)",
    ),
    *rests(
        "fold.conv_of_padded_any",
        _X + _V + f"y = Conv({_PAD.format('x')}, w, pads=[1, 0, 0, 0])",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, -1, 0, 0, 0, 1, 2])), w)",
        _X + "w: f32[4, 5, 3, 3] = weight; y = Conv(Pad(x, i64([0, 1, 0, 0, 0, 0, 0, 0])), w)",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 0, 1, 0, 1, 2])), w)",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 0, 0, 0, 1, 2]), mode='edge'), w)",
        _X + _V + "y = Conv(Pad(x, i64([0, 0, 1, 0, 0, 0, 1, 2]), f32(1)), w)",
    ),
    *acts(
        "fold.average_of_padded",
        _X + f"y = AveragePool({_PAD.format('x')}, kernel_shape=[3, 3], strides=[2, 2])",
        _X + f"y = AveragePool({_PAD.format('x')}, kernel_shape=[3, 3], count_include_pad=1)",
        "x: f32[2, 4, N]; y = AveragePool(Pad(x, i64([0, 0, 1, 0, 0, 1])), kernel_shape=[2])",
    ),
    *rests(
        "fold.average_of_padded",
        _X + f"y = AveragePool({_PAD.format('x')}, kernel_shape=[3, 3], {_P})",
        _X + f"y = AveragePool({_PAD.format('x')}, kernel_shape=[3, 2])",
        _X + f"y = AveragePool({_PAD.format('x')}, kernel_shape=[3, 3], ceil_mode=1)",
        _X + "y = AveragePool(Pad(x, i64([0, 1, 1, 0, 0, 0, 1, 2])), kernel_shape=[3, 3])",
        _X + "y = AveragePool(Pad(x, i64([0, 0, 1, 0, 0, 0, 1, -1])), kernel_shape=[3, 3])",
    ),
    *acts(
        "fold.maximum_of_padded_relu",
        _X + f"y = MaxPool({_PAD.format('Relu(x)')}, kernel_shape=[3, 3], strides=[2, 2])",
        specials=False,
    ),
    *rests(
        "fold.maximum_of_padded_relu",
        _X + f"y = MaxPool({_PAD.format('x')}, kernel_shape=[3, 3])",
        _X + f"y = MaxPool({_PAD.format('Relu(x)')}, kernel_shape=[3, 3], {_P})",
        _X + f"y = MaxPool({_PAD.format('Relu(x)')}, kernel_shape=[3, 2])",
        _X + "y = MaxPool(Pad(Relu(x), i64([0, 1, 1, 0, 0, 0, 1, 2])), kernel_shape=[3, 3])",
    ),
]

GEMMS: list[Case] = [
    *acts("fold.gemm_spelt", "x: f32[N, 3]; w: f32[3, 4]; b: f32[4]; y = Gemm(x, w, b)"),
    *rests(
        "fold.gemm_spelt",
        "x: f32[2, 3]; w: f32[3, 4]; y = Gemm(x, w)",
        "x: f32[2, 3]; w: f32[3, 4]; b: f32[4]; y = Gemm(x, w, b, alpha=2.0)",
        "x: f32[2, 3]; w: f32[3, 4]; b: f32[4]; y = Gemm(x, w, b, beta=2.0)",
        "x: f32[3, 3]; w: f32[3, 3]; b: f32[3]; y = Gemm(x, w, b, transA=1)",
    ),
    *acts("fold.gemm_spelt_bare", "x: f32[N, 3]; w: f32[3, 4]; y = Gemm(x, w, beta=0.5)"),
    *rests(
        "fold.gemm_spelt_bare",
        "x: f32[2, 3]; w: f32[3, 4]; y = Gemm(x, w, alpha=0.5)",
        "x: f32[2, 3]; w: f32[3, 3]; y = Gemm(x, w, transB=1)",
    ),
    *acts(
        "fold.gemm_spelt_transposed",
        "x: f32[N, 3]; w: f32[4, 3] = weight; b: f32[4]; y = Gemm(x, w, b, transB=1)",
    ),
    *rests(
        "fold.gemm_spelt_transposed",
        "x: f32[2, 3]; w: f32[4, 3]; b: f32[4]; y = Gemm(x, w, b, transB=1)",
        "x: f32[2, 3]; w: f32[3, 3] = weight; b: f32[3]; y = Gemm(x, w, b)",
    ),
    *acts(
        "fold.gemm_spelt_transposed_bare",
        "x: f32[N, 3]; w: f32[4, 3] = weight; y = Gemm(x, w, transB=1)",
    ),
    *rests(
        "fold.gemm_spelt_transposed_bare",
        "x: f32[2, 3]; w: f32[4, 3]; y = Gemm(x, w, transB=1)",
        "x: f32[2, 3]; w: f32[4, 3] = weight; b: f32[4]; y = Gemm(x, w, b, transB=1)",
    ),
    *acts(
        "linear.matmul_sum_biases",
        "x: f32[2, N, 3]; w: f32[3, 4] = weight; u: f32[3, 4] = weight; c: f32[4] = weight; d: f32 = 2.0; y = Add(Add(MatMul(x, w), c), Add(d, MatMul(x, u)))",
    ),
    *rests(
        "linear.matmul_sum_biases",
        "x: f32[2, 3]; w: f32[3, 4] = weight; u: f32[3, 4] = weight; c: f32[4] = weight; d: f32[2, 4] = weight; y = Add(Add(MatMul(x, w), c), Add(d, MatMul(x, u)))",
        "x: f32[2, 3]; w: f32[3, 4] = weight; u: f32[3, 1] = weight; c: f32[4] = weight; d: f32[4] = weight; y = Add(Add(MatMul(x, w), c), Add(d, MatMul(x, u)))",
        "x: f32[2, 3]; z: f32[2, 3]; w: f32[3, 4] = weight; u: f32[3, 4] = weight; c: f32[4] = weight; d: f32[4] = weight; y = Add(Add(MatMul(x, w), c), Add(d, MatMul(z, u)))",
    ),
]


def _sums(name: str, first: str, second: str) -> list[Case]:
    large, small = f"Conv(x, w{first}, {{}})", f"Conv(x, u{second}{{}})"
    head = _X + _V + _A + _B
    return [
        *acts(
            name,
            head + _ONE + f"y = Add({large.format(_P)}, {small.format('')})",
            head + _ONE + f"y = Add({small.format(', strides=[2, 2]')}, {large.format(_P + ', strides=[2, 2]')})",
            head + "u: f32[4, 4, 1, 3] = weight; " + f"y = Add({large.format(_P)}, {small.format(', pads=[0, 1, 0, 1]')})",
            _X + _G + _A + _B + "u: f32[4, 2, 1, 1] = weight; " + f"y = Add({large.format(_P + ', group=2')}, {small.format(', group=2')})",
        ),
        *rests(
            name,
            head + _ONE + f"y = Add({large.format('pads=[2, 2, 2, 2], dilations=[2, 2]')}, {small.format('')})",
            head + "u: f32[4, 4, 5, 1] = weight; " + f"y = Add({large.format(_P)}, {small.format(', pads=[2, 0, 2, 0]')})",
            "x: f32[2, 4, 1, 1]; " + _V + _A + _B + _ONE + f"y = Add({large.format(_P)}, {small.format(', ' + _P)})",
            _X + _G + _A + _B + _ONE + f"y = Add({large.format(_P + ', group=2')}, {small.format('')})",
            head + "u: f32[4, 4, 1, 1]; " + f"y = Add({large.format(_P)}, {small.format('')})",
            head + _ONE + "z: f32[2, 4, 6, 6]; " + f"y = Add({large.format(_P)}, {small.format('')})".replace("Conv(x, u", "Conv(z, u"),
        ),
    ]  # fmt: skip


BRANCHES: list[Case] = [
    *_sums("linear.conv_sum_inner", "", ""),
    *_sums("linear.conv_sum_inner_bias", ", a", ", b"),
    *_sums("linear.conv_sum_inner_outer_bias", ", a", ""),
    *_sums("linear.conv_sum_inner_inner_bias", "", ", b"),
    *acts(
        "linear.conv_plus_input",
        _X + _V + _B + f"y = Add(x, Conv(x, w, b, {_P}))",
        "x: f32[N, 4, 6, 6]; " + _ONE + "y = Add(Conv(x, u), x)",
        _X + "w: f32[4, 4, 1, 3] = weight; y = Add(Conv(x, w, pads=[0, 2, 0, 0]), x)",
    ),
    *rests(
        "linear.conv_plus_input",
        "x: f32[2, 4, 1, 1]; " + _V + "y = Add(Conv(x, w, pads=[2, 2, 2, 2]), x)",
        _X + "w: f32[4, 4, 3, 3]; " + f"y = Add(x, Conv(x, w, {_P}))",
        _X + _V + f"z: f32[2, 4, 6, 6]; y = Add(z, Conv(x, w, {_P}))",
        _X + "w: f32[4, 2, 3, 3] = weight; " + f"y = Add(x, Conv(x, w, {_P}, group=2))",
        "x: f32[2, 4, 1, 1]; " + _V + f"y = Add(x, Conv(x, w, {_P}, strides=[2, 2]))",
        _X + _V + "y = Add(x, Conv(x, w, pads=[2, 2, 2, 2], dilations=[2, 2]))",
    ),
    *acts(
        "linear.grouped_plus_input",
        _X + _D + _B + f"y = Add(x, Conv(x, w, b, {_P}, group=4))",
        _X + _G + f"y = Add(Conv(x, w, {_P}, group=2), x)",
    ),
    *rests(
        "linear.grouped_plus_input",
        _X + "w: f32[8, 2, 3, 3] = weight; " + f"y = Add(Split(Conv(x, w, {_P}, group=2), axis=1, num_outputs=2), x)",
        "x: f32[2, 4, 1, 1]; " + _D + "y = Add(Conv(x, w, pads=[2, 2, 2, 2], group=4), x)",
        _X + "w: f32[4, 1, 3, 3]; " + f"y = Add(x, Conv(x, w, {_P}, group=4))",
        "x: f32[2, 1, 6, 6]; " + _D + f"y = Add(x, Conv(x, w, {_P}))",
    ),
    *acts(
        "linear.conv_plus_batchnorm",
        _BN + _X + _V + _B + f"y = Add(Conv(x, w, b, {_P}), {_ID})",
        _BN + _X + "w: f32[4, 4, 1, 1] = weight; " + _B + f"y = Add({_ID}, Conv(x, w, b))",
    ),
    *rests(
        "linear.conv_plus_batchnorm",
        _BN + _X + _D + _B + f"y = Add(Conv(x, w, b, {_P}, group=4), {_ID})",
        _BN + "x: f32[2, 4, 1, 1]; " + _V + _B + f"y = Add(Conv(x, w, b, pads=[2, 2, 2, 2]), {_ID})",
        _BN + "x: f32[2, 4, 1, 1]; " + _V + _B + f"y = Add(Conv(x, w, b, {_P}, strides=[2, 2]), {_ID})",
        _BN + _X + _V + _B + f"y = Add(Conv(Abs(x), w, b, {_P}), {_ID})",
        _BN + _X + _V + "b: f32[4]; " + f"y = Add(Conv(x, w, b, {_P}), {_ID})",
        (_BN + _X + _V + _B + f"y = Add(Conv(x, w, b, {_P}), {_ID})").replace("f32", "f16"),
    ),
    *acts(
        "linear.grouped_plus_batchnorm",
        _BN + _X + _D + _B + f"y = Add(Conv(x, w, b, {_P}, group=4), {_ID})",
        _BN + _X + _G + _B + f"y = Add(Conv(x, w, b, {_P}, group=2), {_ID})",
    ),
    *rests(
        "linear.grouped_plus_batchnorm",
        _BN + _X + _V + _B + f"y = Add(Conv(x, w, b, {_P}), {_ID})",
        _BN + _X + _D + "b: f32[4]; " + f"y = Add(Conv(x, w, b, {_P}, group=4), {_ID})",
        _BN + _X + _D + _B + f"y = Add(Conv(Abs(x), w, b, {_P}, group=4), {_ID})",
    ),
    *acts(
        "linear.conv_1x1_then",
        _X + _ONE + _V + f"y = Conv(Conv(x, u), w, {_P}, strides=[2, 2])",
        _X + _ONE + _V + _B + "y = Conv(Conv(x, u), w, b, auto_pad='SAME_UPPER')",
    ),
    *rests(
        "linear.conv_1x1_then",
        _X + _ONE + _V + _B + "y = Conv(Conv(x, u, b), w)",
        _X + _ONE + _D + "y = Conv(Conv(x, u), w, group=4)",
        _X + _ONE + _V + "y = Conv(Conv(x, u, strides=[2, 2]), w)",
        _X + _V + "u: f32[4, 4, 2, 2] = weight; y = Conv(Conv(x, u), w)",
    ),
    *acts(
        "linear.conv_1x1_bias_then_bias",
        _X + _ONE + _V + _A + _B + "y = Conv(Conv(x, u, a), w, b, dilations=[2, 2])",
    ),
    *rests(
        "linear.conv_1x1_bias_then_bias",
        _X + _ONE + _V + _A + _B + f"y = Conv(Conv(x, u, a), w, b, {_P})",
        _X + _ONE + _V + _A + "y = Conv(Conv(x, u, a), w)",
        "x: f32[2, 4, N, N]; " + _ONE + _V + _A + _B + "y = Conv(Conv(x, u, a), w, b, auto_pad='SAME_UPPER')",
        _X + _ONE + _D + _A + _B + "y = Conv(Conv(x, u, a), w, b, group=4)",
    ),
]  # fmt: skip

CASES = [*GROUPS, *PADS, *GEMMS, *BRANCHES]
