# ruff: noqa: E501  (a line is a model)
"""Cases of `move` and `merge`."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[2, 4, 6, 6]; "
_W = "w: f32[5, 4, 1, 1] = weight; "
_B = "b: f32[5] = weight; "
_POOL = "kernel_shape=[2, 2], strides=[2, 2]"

POOLING: list[Case] = [
    *acts(
        "move.pool_before_conv_bias",
        _X + _W + _B + f"y = AveragePool(Conv(x, w, b), {_POOL})",
        _X + _W + _B + f"y = AveragePool(Conv(x, w, b), {_POOL}, count_include_pad=1)",
        _X + _W + _B + "y = AveragePool(Conv(x, w, b), kernel_shape=[3, 3], pads=[1, 1, 1, 1])",
        "x: f32[1, 4, 5, 5]; " + _W + _B + f"y = AveragePool(Conv(x, w, b), {_POOL}, ceil_mode=1)",
        _X + "w: f32[6, 2, 1, 1] = weight; b: f32[6] = weight; "
        f"y = AveragePool(Conv(x, w, b, group=2), {_POOL})",
    ),
    *rests(
        "move.pool_before_conv_bias",
        _X
        + _W
        + _B
        + "y = AveragePool(Conv(x, w, b), kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)",
        "x: f32[1, 4, N, N]; "
        + _W
        + _B
        + f"y = AveragePool(Conv(x, w, b), {_POOL}, auto_pad='SAME_UPPER', count_include_pad=1)",
        "x: f32[1, 4, 5, 5]; "
        + _W
        + _B
        + f"y = AveragePool(Conv(x, w, b), {_POOL}, ceil_mode=1, count_include_pad=1)",
        _X + _W + _B + f"y = AveragePool(Conv(x, w, b, pads=[1, 1, 1, 1]), {_POOL})",
        _X + _W + _B + f"y = AveragePool(Conv(x, w, b, strides=[2, 2]), {_POOL})",
        _X + "w: f32[5, 4, 2, 2] = weight; " + _B + f"y = AveragePool(Conv(x, w, b), {_POOL})",
    ),
    *acts(
        "move.pool_before_conv",
        _X + _W + f"y = AveragePool(Conv(x, w), {_POOL})",
        _X
        + _W
        + "y = AveragePool(Conv(x, w), kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)",
        _X + "w: f32[4, 1, 1, 1] = weight; " + f"y = AveragePool(Conv(x, w, group=4), {_POOL})",
    ),
    *rests(
        "move.pool_before_conv",
        _X + _W + f"y = AveragePool(Conv(x, w, pads=[1, 1, 1, 1]), {_POOL})",
        _X + _W + f"y = MaxPool(Conv(x, w), {_POOL})",
        _X + _W + f"y = AveragePool(Relu(Conv(x, w)), {_POOL})",
        _X + _W + _B + f"y = AveragePool(Conv(x, w, b), {_POOL})",
    ),
    *acts(
        "move.global_pool_before_conv",
        _X + _W + _B + "y = GlobalAveragePool(Conv(x, w, b))",
        "x: f32[N, 4, 3, 3]; w: f32[4, 2, 1, 1] = weight; y = GlobalAveragePool(Conv(x, w, group=2))",
    ),
    *rests(
        "move.global_pool_before_conv",
        _X + _W + _B + "y = GlobalAveragePool(Conv(x, w, b, pads=[1, 1, 1, 1]))",
        _X + _W + _B + "y = GlobalMaxPool(Conv(x, w, b))",
    ),
    *acts("move.mean_before_conv", _X + _W + _B + "y = ReduceMean(Conv(x, w, b), i64([2, -1]))"),
    *rests(
        "move.mean_before_conv",
        _X + _W + _B + "y = ReduceMean(Conv(x, w, b), i64([2, 3]), keepdims=0)",
        _X + _W + _B + "y = ReduceMean(Conv(x, w, b), i64([1, 2]))",
        _X + _W + _B + "y = ReduceMean(Conv(x, w, b))",
    ),
]

_M = "x: f32[2, 5, 3]; w: f32[3, 4] = weight; "
_L = "x: f32[2, 5, 3]; s: f32[3] = weight; b: f32[3] = weight; "

GATHERING: list[Case] = [
    *acts(
        "move.gather_rows",
        _M + "y = Gather(MatMul(x, w), i64(-1), axis=1)",
        _M + "y = Gather(MatMul(x, w), i64([0, 2]), axis=1)",
        "x: f32[B, S, 3]; w: f32[3, 4]; i: i64[1]; y = Gather(MatMul(x, w), i, axis=1)",
        "x: f32[5, 3]; w: f32[3, 4]; y = Gather(MatMul(x, w), i64(2), axis=0)",
        "x: f32[5, 3]; w: f32[3, 4]; y = Gather(MatMul(x, w), i64([[2, 0]]), axis=0)",
    ),
    *rests(
        "move.gather_rows",
        _M + "y = Gather(MatMul(x, w), i64(0), axis=2)",
        _M + "y = Gather(MatMul(x, w), i64([0, 1, 2, 3, 4, 0]), axis=1)",
        "x: f32[3]; w: f32[3, 4]; y = Gather(MatMul(x, w), i64(0), axis=0)",
        "x: f32[2, 5, 3]; w: f32[2, 3, 4]; y = Gather(MatMul(x, w), i64(0), axis=0)",
        "x: f32[5, 3]; w: f32[2, 3, 4]; y = Gather(MatMul(x, w), i64(0), axis=0)",
    ),
    *acts(
        "move.gather_columns",
        _M + "y = Gather(MatMul(x, w), i64(1), axis=2)",
        _M + "y = Gather(MatMul(x, w), i64([1, 3, 0]), axis=-1)",
    ),
    *rests(
        "move.gather_columns",
        _M + "y = Gather(MatMul(x, w), i64(1), axis=1)",
        _M + "i: i64[1]; y = Gather(MatMul(x, w), i, axis=2)",
        "x: f32[3]; w: f32[3, 4] = weight; y = Gather(MatMul(x, w), i64(0), axis=0)",
        _M + "y = Gather(MatMul(x, w), i64([[1, 3]]), axis=2)",
    ),
    *acts(
        "move.gather_gemm_rows",
        "x: f32[5, 3]; w: f32[4, 3]; b: f32[4]; y = Gather(Gemm(x, w, b, transB=1), i64([3]))",
        "x: f32[5, 3]; w: f32[3, 4]; b: f32[1]; y = Gather(Gemm(x, w, b, alpha=2.0), i64([3, 1]))",
        "x: f32[N, 3]; w: f32[3, 4]; y = Gather(Gemm(x, w), i64([-1]))",
    ),
    *rests(
        "move.gather_gemm_rows",
        "x: f32[5, 3]; w: f32[3, 4]; y = Gather(Gemm(x, w), i64(3))",
        "x: f32[3, 5]; w: f32[3, 4]; y = Gather(Gemm(x, w, transA=1), i64([3]))",
        "x: f32[5, 3]; w: f32[3, 4]; b: f32[5, 1]; y = Gather(Gemm(x, w, b), i64([3]))",
        "x: f32[5, 3]; w: f32[3, 4]; y = Gather(Gemm(x, w), i64([3]), axis=1)",
    ),
    *acts(
        "move.gather_elementwise",
        "x: f32[2, N]; y = Gather(F(x), i64(-1), axis=1)",
        "x: f32[2, 5]; i: i64[3]; y = Gather(F(x), i, axis=1)",
    ),
    *rests("move.gather_elementwise", "x: f32[2, 5]; i: i64[9]; y = Gather(F(x), i, axis=1)"),
    *acts(
        "move.gather_arithmetic",
        "x: f32[2, N, 3]; c: f32[3]; y = Gather(F(x, c), i64(0), axis=1)",
        "x: f32[7, 5, 1]; c: f32[5, 3]; y = Gather(F(x, c), i64([[0, 1]]), axis=0)",
    ),
    *rests(
        "move.gather_arithmetic",
        "x: f32[2, 5, 3]; c: f32[5, 3]; y = Gather(F(x, c), i64(0), axis=1)",
        "x: f32[2, 5, 3]; c: f32[3]; y = Gather(F(x, c), i64(0), axis=2)",
        "x: f32[1, 5, 3]; c: f32[2, 5, 3]; y = Gather(F(x, c), i64(0), axis=0)",
    ),
    *acts(
        "move.gather_both",
        "x: f32[2, N, 3]; z: f32[2, N, 3]; y = Gather(F(x, z), i64(0), axis=1)",
    ),
    *rests(
        "move.gather_both",
        "x: f32[2, 5, 3]; z: f32[2, 1, 3]; y = Gather(F(x, z), i64(0), axis=1)",
        "x: f32[5, 3]; z: f32[2, 5, 3]; y = Gather(F(x, z), i64(0), axis=1)",
    ),
    *acts(
        "move.gather_layer_norm",
        _L + "y = Gather(LayerNormalization(x, s, b, epsilon=0.1), i64(0), axis=1)",
        _L + "y = Gather(LayerNormalization(x, s), i64([[0, 1]]), axis=1)",
        "x: f32[7, 5, 3]; s: f32[5, 3] = weight; "
        "y = Gather(LayerNormalization(x, s, axis=1), i64(0), axis=0)",
    ),
    *rests(
        "move.gather_layer_norm",
        _L + "y = Gather(LayerNormalization(x, s, b), i64(0), axis=2)",
        "x: f32[7, 5, 3]; s: f32[5, 3] = weight; "
        "y = Gather(LayerNormalization(x, s, axis=1), i64(0), axis=1)",
        "x: f32[2, 5, 3]; s: f32[1, 1, 3] = weight; "
        "y = Gather(LayerNormalization(x, s), i64(0), axis=1)",
    ),
    *acts(
        "move.gather_softmax",
        "x: f32[2, 5, 3]; y = Gather(Softmax(x), i64(0), axis=1)",
        "x: f32[7, 5, 3]; y = Gather(Softmax(x, axis=1), i64([[0, 1]]), axis=0)",
    ),
    *rests(
        "move.gather_softmax",
        "x: f32[2, 5, 3]; y = Gather(Softmax(x), i64(0), axis=2)",
        "x: f32[2, 5, 3]; y = Gather(Softmax(x, axis=1), i64(0), axis=2)",
    ),
    *acts(
        "move.gather_reshape",
        "x: f32[2, 5, 6]; y = Gather(Reshape(x, i64([2, 5, 2, 3])), i64(0), axis=1)",
        "x: f32[B, S, 6]; y = Gather(Reshape(x, i64([0, 0, 2, 3])), i64([1]), axis=0)",
    ),
    *rests(
        "move.gather_reshape",
        "x: f32[2, 5, 6]; y = Gather(Reshape(x, i64([10, 6])), i64(0), axis=0)",
        "x: f32[2, 6, 5]; y = Gather(Reshape(x, i64([2, 5, 6])), i64(0), axis=1)",
        "x: f32[2, 6]; y = Gather(Reshape(x, i64([2, 6, 1])), i64(0), axis=2)",
    ),
    *acts(
        "move.gather_transpose",
        "x: f32[2, 3, 5, 4]; y = Gather(Transpose(x, perm=[0, 2, 1, 3]), i64([0]), axis=1)",
    ),
    *rests(
        "move.gather_transpose",
        "x: f32[2, 3, 5, 4]; y = Gather(Transpose(x, perm=[0, 2, 1, 3]), i64(0), axis=1)",
    ),
    *acts(
        "move.gather_moved_axis",
        "x: f32[2, 3, 5, 4]; y = Gather(Transpose(x, perm=[0, 2, 1, 3]), i64(0), axis=1)",
        "x: f32[2, 3, 5, 4]; y = Gather(Transpose(x, perm=[3, 0, 1, 2]), i64(0), axis=0)",
    ),
    *rests(
        "move.gather_moved_axis",
        "x: f32[2, 3, 5, 4]; y = Gather(Transpose(x, perm=[0, 3, 2, 1]), i64(0), axis=0)",
        "x: f32[2, 3, 5, 4]; y = Gather(Transpose(x, perm=[0, 2, 1, 3]), i64([0]), axis=1)",
    ),
]

_A = "a: f32[2, 3, 5, 4]; "
GATHERING += [
    *acts(
        "move.gather_one",
        "x: f32[2, N, 3]; y = Gather(x, i64(-1), axis=1)",
        "x: f16[2, 4, 3]; y = Gather(x, i64(1), axis=2)",
    ),
    *rests(
        "move.gather_one",
        "x: f32[2, 3]; y = Gather(x, i64(1), axis=1)",
        "x: i64[2, 3, 4]; y = Gather(x, i64(1), axis=1)",
        "x: f32[2, 3, 4]; i: i64; y = Gather(x, i, axis=1)",
        "x: f32[2, 3, 4]; y = Gather(x, i64([1]), axis=1)",
    ),
    *acts(
        "move.gather_batched_rows",
        _A + "b: f32[2, 3, 4, 6]; y = Gather(MatMul(a, b), i64([0]), axis=2)",
        _A + "b: f32[3, 4, N]; i: i64[2]; y = Gather(MatMul(a, b), i, axis=2)",
        "a: f32[2, 1, 5, 4]; b: f32[2, 3, 4, 6]; y = Gather(MatMul(a, b), i64([-1]), axis=-2)",
    ),
    *rests(
        "move.gather_batched_rows",
        _A + "b: f32[2, 3, 4, 6]; y = Gather(MatMul(a, b), i64([0]), axis=3)",
        _A + "b: f32[2, 3, 4, 6]; y = Gather(MatMul(a, b), i64([0]), axis=1)",
        _A + "b: f32[7, 2, 3, 4, 6]; y = Gather(MatMul(a, b), i64([0]), axis=3)",
        _A + "b: f32[4]; y = Gather(MatMul(a, b), i64([0]), axis=2)",
        _A + "b: f32[2, 3, 4, 6]; i: i64[5]; y = Gather(MatMul(a, b), i, axis=2)",
    ),
    *acts(
        "move.gather_broadcast",
        _A + "m: f32[2, 1, 1, 4]; y = Gather(F(a, m), i64([0]), axis=2)",
        _A + "m: f32[1, 4]; y = Gather(F(a, m), i64([-1]), axis=2)",
    ),
    *rests(
        "move.gather_broadcast",
        _A + "m: f32[2, 1, 1, 4]; y = Gather(F(a, m), i64([0]), axis=3)",
        "x: f32[5]; m: f32[1, 5]; y = Gather(F(x, m), i64([0]), axis=0)",
        _A + "m: f32[4]; y = Gather(F(a, m), i64([0]), axis=2)",
        _A + "m: f32[5, 1]; y = Gather(F(a, m), i64(0), axis=3)",
    ),
    *acts(
        "move.gather_bias",
        "x: f32[2, N, 3]; c: f32[3] = weight; y = Gather(F(x, c), i64([0, 2]), axis=2)",
    ),
    *rests(
        "move.gather_bias",
        "x: f32[2, 3]; c: f32[3]; y = Gather(F(x, c), i64([0, 2]), axis=1)",
        "x: f32[2, 3]; c: f32[3] = weight; i: i64[1]; y = Gather(F(x, c), i, axis=1)",
        "x: f32[2, 3]; c: f32[3] = weight; y = Gather(F(x, c), i64([0]), axis=0)",
        "x: f32[2, 3]; c: f32[3] = weight; y = Gather(F(x, c), i64([0, 1, 1]), axis=1)",
        "x: f32[2, 1]; c: f32[3] = weight; y = Gather(F(x, c), i64([0, 2]), axis=1)",
    ),
    *acts(
        "move.gather_channels",
        _X + _W + "y = Gather(Conv(x, w, strides=[2, 2]), i64([3, 0]), axis=1)",
        "x: f32[2, 4, N]; w: f32[5, 4, 2] = weight; "
        + _B
        + "y = Gather(Conv(x, w, b), i64([3]), axis=1)",
    ),
    *rests(
        "move.gather_channels",
        _X + "w: f32[6, 2, 1, 1] = weight; y = Gather(Conv(x, w, group=2), i64([3]), axis=1)",
        _X + _W + "y = Gather(Conv(x, w), i64([0]), axis=2)",
        _X + _W + "i: i64[1]; y = Gather(Conv(x, w), i, axis=1)",
        _X + "w: f32[5, 4, 1, 1]; y = Gather(Conv(x, w), i64([0]), axis=1)",
        _X + _W + "b: f32[5]; y = Gather(Conv(x, w, b), i64([0]), axis=1)",
    ),
    *acts(
        "move.gather_concat",
        "x: f32[2, 1, 3]; z: f32[2, 4, 3]; y = Gather(Concat(x, z, axis=1), i64([-1]), axis=2)",
    ),
    *rests(
        "move.gather_concat",
        "x: f32[2, 1]; z: f32[2, 4]; y = Gather(Concat(x, z, axis=1), i64([0]), axis=1)",
        "x: f32[2, 1]; z: f32[2, 4]; y = Gather(Concat(x, z, axis=1), i64([0, 1]), axis=0)",
    ),
]

_S1 = "i64([1]), i64([3]), i64([1])"

SLICING: list[Case] = [
    *acts(
        "move.slice_rows",
        _M + f"y = Slice(MatMul(x, w), {_S1})",
        _M + "y = Slice(MatMul(x, w), i64([-1]), i64([-9]), i64([-2]), i64([-2]))",
        "x: f32[B, S, 3]; w: f32[3, 4]; y = Slice(MatMul(x, w), i64([0, -1]), i64([1, 99]), i64([0, 1]))",
    ),
    *rests(
        "move.slice_rows",
        _M + "y = Slice(MatMul(x, w), i64([1]), i64([3]), i64([2]))",
        _M + "y = Slice(MatMul(x, w), i64([1, 1]), i64([3, 3]), i64([1, 2]))",
        _M + "y = Slice(MatMul(x, w), i64([1]), i64([3]))",
        "x: f32[3]; w: f32[3, 4]; y = Slice(MatMul(x, w), i64([1]), i64([3]), i64([0]))",
        "x: f32[2, 5, 3]; w: f32[2, 3, 4]; y = Slice(MatMul(x, w), i64([1]), i64([2]), i64([0]))",
    ),
    *acts(
        "move.slice_columns",
        _M + "y = Slice(MatMul(x, w), i64([1]), i64([3]), i64([-1]))",
        _M + "y = Slice(MatMul(x, w), i64([3]), i64([0]), i64([2]), i64([-2]))",
    ),
    *rests(
        "move.slice_columns",
        _M + f"y = Slice(MatMul(x, w), {_S1})",
        "x: f32[2, 5, 3]; w: f32[3, 4]; y = Slice(MatMul(x, w), i64([1]), i64([3]), i64([2]))",
        _M + "y = Slice(MatMul(x, w), i32([1]), i32([3]), i32([2]))",
        "x: f32[3]; w: f32[3, 4] = weight; y = Slice(MatMul(x, w), i64([1]), i64([3]), i64([0]))",
    ),
    *acts(
        "move.slice_elementwise",
        f"x: f32[2, N]; y = Slice(F(x), {_S1})",
        "x: f32[2, 5]; s: i64[1]; y = Slice(F(x), i64([0]), i64([2]))",
    ),
    *acts(
        "move.slice_arithmetic",
        f"x: f32[2, N, 3]; c: f32[3]; y = Slice(F(x, c), {_S1})",
        "x: f32[2, 5, 3]; c: f32[3]; y = Slice(F(x, c), i64([0, 1]), i64([1, 3]), i64([-3, -2]))",
    ),
    *rests(
        "move.slice_arithmetic",
        f"x: f32[2, 5, 3]; c: f32[5, 1]; y = Slice(F(x, c), {_S1})",
        f"x: f32[2, 1, 3]; c: f32[5, 1]; y = Slice(F(x, c), {_S1})",
        "x: f32[2, 5, 3]; c: f32[3]; y = Slice(F(x, c), i64([0]), i64([1]))",
    ),
    *acts(
        "move.slice_both",
        f"x: f32[2, 5]; z: f32[2, 5]; y = Slice(F(x, z), {_S1})",
        "x: f32[5, 2]; z: f32[5, 2]; y = Slice(F(x, z), i64([0]), i64([2]))",
    ),
    *rests(
        "move.slice_both",
        f"x: f32[2, 5]; z: f32[2, 1]; y = Slice(F(x, z), {_S1})",
        f"x: f32[2, 5]; z: f32[5]; y = Slice(F(x, z), {_S1})",
    ),
    *acts(
        "move.slice_layer_norm",
        _L + f"y = Slice(LayerNormalization(x, s, b), {_S1})",
        _L + f"y = Slice(LayerNormalization(x, s, epsilon=0.1), {_S1})",
    ),
    *rests(
        "move.slice_layer_norm",
        _L + "y = Slice(LayerNormalization(x, s, b), i64([0]), i64([1]), i64([2]))",
        "x: f32[2, 5, 3]; s: f32[5, 3] = weight; "
        f"y = Slice(LayerNormalization(x, s, axis=1), {_S1})",
    ),
    *acts("move.slice_softmax", f"x: f32[2, 5, 3]; y = Slice(Softmax(x), {_S1})"),
    *rests(
        "move.slice_softmax",
        "x: f32[2, 5, 3]; y = Slice(Softmax(x), i64([0]), i64([1]), i64([-1]))",
        "x: f32[2, 5, 3]; y = Slice(Softmax(x, axis=1), i64([0]), i64([1]), i64([-1]))",
    ),
]

_S2 = "i64([1]), i64([3]), i64([2])"
SLICING += [
    *acts(
        "move.slice_batched_rows",
        _A + f"b: f32[2, 3, 4, 6]; y = Slice(MatMul(a, b), {_S2})",
        _A + "b: f32[3, 4, N]; y = Slice(MatMul(a, b), i64([-1]), i64([-9]), i64([-2]), i64([-2]))",
    ),
    *rests(
        "move.slice_batched_rows",
        _A + f"b: f32[2, 3, 4, 6]; y = Slice(MatMul(a, b), {_S1})",
        "a: f32[2, 3, 4]; b: f32[5, 2, 4, 3]; y = Slice(MatMul(a, b), i64([0]), i64([1]), i64([2]))",
    ),
    *acts("move.slice_broadcast", _A + f"m: f32[2, 1, 1, 4]; y = Slice(F(a, m), {_S2})"),
    *rests(
        "move.slice_broadcast",
        _A + f"m: f32[5, 1]; y = Slice(F(a, m), {_S2})",
        _A + f"m: f32[4]; y = Slice(F(a, m), {_S2})",
        _A + "m: f32[1, 1]; y = Slice(F(a, m), i64([1, 1]), i64([2, 2]), i64([2, 3]))",
    ),
    *acts(
        "move.slice_bias",
        "x: f32[2, N, 3]; c: f32[3] = weight; y = Slice(F(x, c), i64([0]), i64([2]), i64([-1]))",
        "x: f32[5, 3]; c: f32[3] = weight; "
        "y = Slice(F(x, c), i64([2]), i64([-9]), i64([1]), i64([-2]))",
    ),
    *rests(
        "move.slice_bias",
        "x: f32[2, 3]; c: f32[3]; y = Slice(F(x, c), i64([0]), i64([2]), i64([1]))",
        "x: f32[2, 3]; c: f32[3] = weight; y = Slice(F(x, c), i32([0]), i32([2]), i32([1]))",
        "x: f32[2, 3]; c: f32[3] = weight; y = Slice(F(x, c), i64([0]), i64([1]), i64([0]))",
        "x: f32[2, 1]; c: f32[3] = weight; y = Slice(F(x, c), i64([0]), i64([2]), i64([1]))",
    ),
    *acts(
        "move.slice_channels",
        _X + _W + f"y = Slice(Conv(x, w, strides=[2, 2]), {_S1})",
        "x: f32[2, 4, N]; w: f32[5, 4, 2] = weight; "
        + _B
        + "y = Slice(Conv(x, w, b), i64([-1]), i64([9]), i64([-2]))",
    ),
    *rests(
        "move.slice_channels",
        _X + f"w: f32[6, 2, 1, 1] = weight; y = Slice(Conv(x, w, group=2), {_S1})",
        _X + _W + f"y = Slice(Conv(x, w), {_S2})",
        _X + f"w: f32[5, 4, 1, 1]; y = Slice(Conv(x, w), {_S1})",
        _X + _W + f"b: f32[5]; y = Slice(Conv(x, w, b), {_S1})",
        _X + _W + "y = Slice(Conv(x, w), i32([0]), i32([2]), i32([1]))",
    ),
    *acts(
        "move.slice_transpose",
        f"x: f32[2, 3, N]; y = Slice(Transpose(x, perm=[0, 2, 1]), {_S2})",
        "x: f32[2, 3, 5]; "
        "y = Slice(Transpose(x, perm=[2, 0, 1]), i64([1, 0]), i64([3, 1]), i64([0, -1]))",
    ),
    *rests(
        "move.slice_transpose",
        "x: f32[2, 3, 5]; y = Slice(Transpose(x, perm=[2, 0, 1]), i32([1]), i32([3]), i32([0]))",
    ),
    *acts(
        "move.slice_reshape",
        f"x: f32[2, 5, 6]; y = Slice(Reshape(x, i64([2, 5, 2, 3])), {_S1})",
        "x: f32[2, S, 6]; y = Slice(Reshape(x, i64([0, 0, 2, 3])), i64([0]), i64([1]), i64([0]))",
    ),
    *rests(
        "move.slice_reshape",
        "x: f32[2, 5, 6]; y = Slice(Reshape(x, i64([10, 6])), i64([1]), i64([3]), i64([0]))",
        f"x: f32[2, 6, 5]; y = Slice(Reshape(x, i64([2, 5, 6])), {_S1})",
        f"x: f32[2, 6]; y = Slice(Reshape(x, i64([2, 6, 3])), {_S2})".replace("[2, 6]", "[2, 18]"),
    ),
    *acts(
        "move.slice_concat",
        f"x: f32[2, N, 1]; z: f32[2, N, 3]; y = Slice(Concat(x, z, axis=2), {_S1})",
    ),
    *rests(
        "move.slice_concat",
        f"x: f32[2, 1]; z: f32[2, 4]; y = Slice(Concat(x, z, axis=1), {_S1})",
    ),
]
POOLING += [
    *acts(
        "move.mean_before_matmul",
        "x: f32[2, 5, 3]; w: f32[3, 4]; y = ReduceMean(MatMul(x, w), i64([1]), keepdims=0)",
        "x: f32[N, 5, 3]; w: f32[3, 4]; y = ReduceMean(MatMul(x, w), i64([0, -2]))",
    ),
    *rests(
        "move.mean_before_matmul",
        "x: f32[2, 5, 3]; w: f32[3, 4]; y = ReduceMean(MatMul(x, w), i64([2]))",
        "x: f32[2, 5, 3]; w: f32[2, 3, 4]; y = ReduceMean(MatMul(x, w), i64([1]))",
        "x: f32[3]; w: f32[3, 4]; y = ReduceMean(MatMul(x, w), i64([0]))",
        "x: i32[2, 3]; w: i32[3, 4]; y = ReduceMean(MatMul(x, w), i64([0]))",
    ),
    *acts(
        "move.mean_before_arithmetic",
        "x: f32[2, 5, 3]; c: f32[3]; y = ReduceMean(F(x, c), i64([1]))",
        "x: f32[2, 5, 3]; c: f32[3]; y = ReduceMean(F(x, c), i64([0, 1]), keepdims=0)",
    ),
    *rests(
        "move.mean_before_arithmetic",
        "x: f32[2, 5, 3]; c: f32[5, 3]; y = ReduceMean(F(x, c), i64([1]))",
        "x: f32[2, 5, 3]; c: f32[5, 3]; y = ReduceMean(F(x, c), i64([1]), keepdims=0)",
        "x: i32[2, 5, 3]; c: i32[3]; y = ReduceMean(F(x, c), i64([1]))",
    ),
    *acts(
        "move.global_pool_before_arithmetic",
        "x: f32[N, 4, 5, 3]; c: f32[4, 1, 1]; y = GlobalAveragePool(F(x, c))",
        "x: f32[1, 4, 5, 3]; c: f32[2, 4, 1, 1]; y = GlobalAveragePool(F(x, c))",
    ),
    *rests(
        "move.global_pool_before_arithmetic",
        "x: f32[2, 4, 5, 3]; c: f32[5, 1]; y = GlobalAveragePool(F(x, c))",
        "x: f32[2, 4, 5, 3]; c: f32[1, 3]; y = GlobalAveragePool(F(x, c))",
        "x: f32[1, 4, 5, 3]; c: f32[1, 1, 4, 1, 1]; y = GlobalAveragePool(F(x, c))",
    ),
]

_XM = "x: f32[2, 5, 3]; u: f32[3, 4] = weight; v: f32[3, 2] = weight; w: f32[3, 1] = weight; "
_AB = "a: f32[4] = weight; b: f32[2] = weight; "
_XG = "x: f32[N, 3]; u: f32[3, 4] = weight; v: f32[3, 2] = weight; "
_XT = "x: f32[N, 3]; u: f32[4, 3] = weight; v: f32[2, 3] = weight; "
_XC = "x: f32[2, 4, 6, 6]; u: f32[3, 4, 3, 3] = weight; v: f32[5, 4, 3, 3] = weight; "
_CB = "a: f32[3] = weight; b: f32[5] = weight; "
_P = "pads=[1, 1, 1, 1]"

MERGES: list[Case] = [
    *acts(
        "merge.merge_two_matmuls",
        _XM + "y = MatMul(x, u); z = MatMul(x, v)",
        _XM + "y = Relu(MatMul(x, u)); z = MatMul(x, v); t = MatMul(x, w)",
        "x: f32[3]; u: f32[3, 4] = weight; v: f32[3, 2] = weight; y = MatMul(x, u); z = MatMul(x, v)",
        "x: f32[N, 3]; u: f32[3, 4] = weight; v: f32[3, 4] = weight; y = MatMul(x, u); z = MatMul(x, v)",
    ),
    *rests(
        "merge.merge_two_matmuls",
        "x: f32[2, 3]; u: f32[3, 4]; v: f32[3, 2] = weight; y = MatMul(x, u); z = MatMul(x, v)",
        "x: f32[2, 3]; t: f32[2, 3]; u: f32[3, 4] = weight; v: f32[3, 2] = weight; "
        "y = MatMul(x, u); z = MatMul(t, v)",
        "x: f32[2, 3]; u: f32[3, 4] = weight; v: f32[3] = weight; y = MatMul(x, u); z = MatMul(x, v)",
        "x: f32[2, 3]; u: f32[3, 4] = weight; y = MatMul(x, u)",
    ),
    *acts(
        "merge.merge_matmuls",
        _XM + "y = MatMul(x, u); z = MatMul(x, v); t = MatMul(x, w)",
        "x: f32[3]; u: f32[3, 4] = weight; v: f32[3, 4] = weight; y = MatMul(x, u); z = MatMul(x, v)",
    ),
    *rests(
        "merge.merge_matmuls",
        "x: f32[2, 3]; u: f32[3, 4]; v: f32[3, 2]; y = MatMul(x, u); z = MatMul(x, v)",
        "x: f32[2, 3]; u: f32[3, 4] = weight; y = MatMul(x, u); z = MatMul(Relu(x), u)",
    ),
    *acts(
        "merge.merge_linears",
        _XM + _AB + "y = Add(MatMul(x, u), a); z = Add(b, MatMul(x, v))",
    ),
    *rests(
        "merge.merge_linears",
        _XM + "a: f32[5, 4] = weight; b: f32[2] = weight; "
        "y = Add(MatMul(x, u), a); z = Add(MatMul(x, v), b)",
        _XM + "a: f32[1] = weight; b: f32[2] = weight; "
        "y = Add(MatMul(x, u), a); z = Add(MatMul(x, v), b)",
    ),
    *acts("merge.merge_gemms", _XG + _AB + "y = Gemm(x, u, a); z = Gemm(x, v, b)"),
    *rests(
        "merge.merge_gemms",
        _XG + _AB + "y = Gemm(x, u, a, alpha=2.0); z = Gemm(x, v, b)",
        _XG + _AB + "y = Gemm(x, u, a, beta=2.0); z = Gemm(x, v, b)",
        _XG + "a: f32[1] = weight; b: f32[2] = weight; y = Gemm(x, u, a); z = Gemm(x, v, b)",
        "x: f32[3, 3]; u: f32[3, 4] = weight; v: f32[3, 2] = weight; "
        + _AB
        + "y = Gemm(x, u, a, transA=1); z = Gemm(x, v, b)",
        _XT + _AB + "y = Gemm(x, u, a, transB=1); z = Gemm(x, v, b, transB=1)",
    ),
    *acts(
        "merge.merge_gemms_transposed",
        _XT + _AB + "y = Gemm(x, u, a, transB=1); z = Gemm(x, v, b, transB=1)",
    ),
    *rests(
        "merge.merge_gemms_transposed",
        _XG + _AB + "y = Gemm(x, u, a); z = Gemm(x, v, b)",
        "x: f32[2, 3]; u: f32[3, 3] = weight; v: f32[3, 3] = weight; a: f32[3] = weight; "
        "y = Gemm(x, u, a, transB=1); z = Gemm(x, v, a)",
    ),
    *acts(
        "merge.merge_two_convs",
        _XC + _CB + f"y = Conv(x, u, a, {_P}); z = Conv(x, v, b, {_P})",
        "x: f32[2, 4, N]; u: f32[3, 4, 2] = weight; v: f32[5, 4, 2] = weight; "
        + _CB
        + "y = Conv(x, u, a); z = Conv(x, v, b)",
    ),
    *rests(
        "merge.merge_two_convs",
        _XC + _CB + f"y = Conv(x, u, a, {_P}); z = Conv(x, v, b)",
        _XC + _CB + "y = Conv(x, u, a); z = Conv(x, v, b, strides=[2, 2])",
        _XC + _CB + "y = Conv(x, u, a); z = Conv(x, v)",
        "x: f32[2, 4, 6, 6]; u: f32[4, 1, 3, 3] = weight; v: f32[4, 1, 3, 3] = weight; "
        "a: f32[4] = weight; y = Conv(x, u, a, group=4); z = Conv(x, v, a, group=4)",
        "x: f32[2, 4, 6, 6]; u: f32[3, 4, 3, 3] = weight; v: f32[5, 4, 1, 1] = weight; "
        + _CB
        + "y = Conv(x, u, a); z = Conv(x, v, b)",
    ),
    *acts("merge.merge_convs", _XC + f"y = Conv(x, u, {_P}); z = Conv(x, v, {_P})"),
    *rests(
        "merge.merge_convs",
        "x: f32[2, 4, 6, 6]; u: f32[4, 2, 3, 3] = weight; v: f32[4, 2, 3, 3] = weight; "
        "y = Conv(x, u, group=2); z = Conv(x, v, group=2)",
        _XC + f"y = Conv(x, u, {_P}); z = Conv(x, v)",
        _XC + _CB + "y = Conv(x, u, a); z = Conv(x, v, b)",
    ),
    *acts(
        "merge.merge_convs_bias",
        _XC + _CB + f"y = Conv(x, u, a, {_P}); z = Conv(x, v, b, {_P})",
    ),
    *rests(
        "merge.merge_convs_bias",
        _XC + _CB + "y = Conv(x, u, a); z = Conv(x, v, b, dilations=[2, 2])",
        "x: f32[2, 4, 6, 6]; u: f32[4, 2, 3, 3] = weight; v: f32[6, 2, 3, 3] = weight; "
        "a: f32[4] = weight; b: f32[6] = weight; "
        "y = Conv(x, u, a, group=2); z = Conv(x, v, b, group=2)",
    ),
    *acts(
        "merge.concat_of_convs",
        _XC + f"y = Concat(Conv(x, u, {_P}), Conv(x, v, {_P}), axis=1)",
        _XC + "y = Concat(Conv(x, u), Conv(x, u), Conv(x, v), axis=-3)",
    ),
    *rests(
        "merge.concat_of_convs",
        _XC + "y = Concat(Conv(x, u), Conv(x, u), axis=0)",
        _XC + f"y = Concat(Conv(x, u, {_P}), Conv(x, v, pads=[2, 2, 0, 0]), axis=1)",
        _XC + _CB + "y = Concat(Conv(x, u, a), Conv(x, v, b), axis=1)",
        "x: f32[2, 4, 6, 6]; u: f32[4, 2, 3, 3] = weight; v: f32[6, 2, 3, 3] = weight; "
        "y = Concat(Conv(x, u, group=2), Conv(x, v, group=2), axis=1)",
        "x: f32[2, 4, 6, 6]; u: f32[4, 4, 3, 3] = weight; v: f32[6, 4, 1, 1] = weight; "
        f"y = Concat(Conv(x, u, {_P}), Conv(x, v), axis=1)",
    ),
    *acts(
        "merge.split_squares",
        "x: f32[2, 5]; a, b = Split(x, i64([2, 3]), axis=1); y = Mul(a, a); z = Mul(b, b)",
        "x: f32[N, 4]; a, b = Split(x, axis=-1, num_outputs=2); y = Mul(a, a); z = Mul(b, b)",
    ),
    *rests(
        "merge.split_squares",
        "x: f32[2, 6]; a, b = Split(x, i64([3, 3]), axis=1); y = Mul(a, b); z = Mul(b, b)",
        "x: f32[2, 5]; a, b = Split(x, i64([2, 3]), axis=1); y = Add(a, a); z = Mul(b, b)",
    ),
]

CASES = [*POOLING, *GATHERING, *SLICING, *MERGES]
