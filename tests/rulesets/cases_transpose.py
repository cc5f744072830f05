# ruff: noqa: E501  (a line is a model)
"""Cases of `transpose`."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[2, 3, 4, 5]; "

_JOINED = "x: f32[{}]; y = Reshape(Transpose(Reshape(x, i64([{}])), perm=[{}]), i64([{}]))"

CASES: list[Case] = [
    *acts("transpose.transpose_nothing", "x: f32[2, N]; y = Transpose(x, perm=[0, 1])"),
    *rests(
        "transpose.transpose_nothing",
        "x: f32[3, 3]; y = Transpose(x, perm=[1, 0])",
        "x: f32[3, 3]; y = Transpose(x)",
    ),
    *acts(
        "transpose.transpose_fuse",
        _X + "y = Transpose(Transpose(x, perm=[0, 2, 3, 1]), perm=[1, 0, 3, 2])",
        "x: f32[2, N, 4]; y = Transpose(Transpose(x, perm=[1, 2, 0]), perm=[2, 0, 1])",
        "x: f32[2, N, 4]; y = Transpose(Transpose(x))",
    ),
    *acts(
        "transpose.transpose_joined",
        _JOINED.format("1, 4, 2, 3", "4, 2, 3", "0, 2, 1", "1, 4, 3, 2"),
        _JOINED.format("2, 3, 2, 2", "3, 2, 2, 2", "0, 1, 3, 2", "2, 3, 2, 2"),
        _JOINED.format("2, 3", "1, 2, 3", "0, 2, 1", "3, 2"),
    ),
    *rests(
        "transpose.transpose_joined",
        _JOINED.format("4, 2, 3", "4, 2, 3", "2, 1, 0", "3, 2, 4"),
        _JOINED.format("2, 2, 4, 3", "4, 2, 6", "0, 2, 1", "2, 2, 6, 2"),
        _JOINED.format("2, 2, 4, 3", "4, 4, 3", "0, 2, 1", "2, 2, 4, 3"),
        _JOINED.format("2, 2, 2", "2, 2, 2", "1, 0, 2", "2, 2, 2"),
    ),
    *acts(
        "transpose.transpose_flattened",
        "x: f32[N, 3, 2, 4]; w: f32[24, 5] = weight; y = MatMul(Reshape(Transpose(x, perm=[0, 2, 3, 1]), i64([-1, 24])), w)",
        "x: f32[2, 3, 4]; w: f32[12, 5] = weight; y = MatMul(Reshape(Transpose(x, perm=[0, 2, 1]), i64([0, -1])), w)",
        "x: f32[1, 2, 3, 4]; w: f32[24, 5] = weight; y = MatMul(Reshape(Transpose(x, perm=[0, 3, 1, 2]), i64([1, 24])), w)",
    ),
    *rests(
        "transpose.transpose_flattened",
        "x: f32[2, 3, 2]; w: f32[6, 5] = weight; y = MatMul(Reshape(Transpose(x, perm=[2, 1, 0]), i64([2, 6])), w)",
        "x: f32[2, 3, 4]; w: f32[4, 5] = weight; y = MatMul(Reshape(Transpose(x, perm=[0, 2, 1]), i64([6, 4])), w)",
        "x: f32[2, 3, 4]; w: f32[12, 5]; y = MatMul(Reshape(Transpose(x, perm=[0, 2, 1]), i64([2, 12])), w)",
    ),
    *acts(
        "transpose.transpose_sink_split_2",
        "x: f32[2, 6, N]; t = Transpose(x, perm=[2, 0, 1]); a, b = Split(t, i64([2, 4]), axis=-1)",
        "x: f32[2, 6]; a, b = Split(Transpose(x, perm=[1, 0]), axis=0, num_outputs=2)",
    ),
    *rests(
        "transpose.transpose_sink_split_2",
        "x: f32[2, 6]; a, b, c = Split(Transpose(x, perm=[1, 0]), axis=0, num_outputs=3)",
    ),
    *acts(
        "transpose.transpose_sink_split_3",
        "x: f32[2, 6, N]; t = Transpose(x, perm=[2, 0, 1]); a, b, c = Split(t, i64([1, 2, 3]), axis=2)",
    ),
    *acts(
        "transpose.transpose_before_split_2",
        "x: f32[2, 6, N]; c, d = Split(x, i64([2, 4]), axis=1); a = Transpose(c, perm=[2, 0, 1]); b = Transpose(d, perm=[2, 0, 1])",
        "x: f32[5, 2]; c, d = Split(x, axis=0, num_outputs=2); a = Transpose(c, perm=[1, 0]); b = Transpose(d, perm=[1, 0])",
    ),
    *rests(
        "transpose.transpose_before_split_2",
        "x: f32[2, 6, 3]; c, d = Split(x, i64([2, 4]), axis=1); a = Transpose(c, perm=[2, 0, 1]); b = Transpose(d, perm=[0, 2, 1])",
        "x: f32[2, 6]; c, d = Split(x, i64([3, 3]), axis=1); a = Transpose(c, perm=[1, 0]); b = Relu(d)",
    ),
    *acts(
        "transpose.transpose_before_split_3",
        "x: f32[6, 2]; d, e, f = Split(x, i64([3, 1, 2]), axis=0); a = Transpose(d, perm=[1, 0]); b = Transpose(e, perm=[1, 0]); c = Transpose(f, perm=[1, 0])",
    ),
    *acts("transpose.transpose_sink", "x: f32[2, 3, 4]; y = F(Transpose(x, perm=[1, 2, 0]))"),
    *acts(
        "transpose.transpose_sink_activation",
        "x: f32[2, 3, 4]; y = F(Transpose(x, perm=[1, 2, 0]))",
    ),
    *acts(
        "transpose.transpose_sink_binary",
        "x: f32[2, N]; z: f32[2, N]; y = F(Transpose(x, perm=[1, 0]), Transpose(z, perm=[1, 0]))",
        "x: f32[2, 3]; z: f32[2, 1]; y = F(Transpose(x, perm=[1, 0]), Transpose(z, perm=[1, 0]))",
        "x: f32[3, 1, N]; z: f32[3, 2, 1]; y = F(Transpose(x, perm=[1, 2, 0]), Transpose(z, perm=[1, 2, 0]))",
    ),
    *rests(
        "transpose.transpose_sink_binary",
        "x: f32[3, 3]; z: f32[3, 3]; y = F(Transpose(x, perm=[1, 0]), Transpose(z, perm=[0, 1]))",
        "x: f32[3, 3]; z: f32[3, 3]; y = F(Transpose(x, perm=[1, 0]), z)",
        "x: f32[2, 3]; z: f32[1, 3]; y = F(Transpose(x, perm=[1, 0]), Transpose(z, perm=[1, 0]))",
    ),
    *acts(
        "transpose.transpose_sink_scalar",
        "x: f32[2, 3]; c: f32; y = F(Transpose(x, perm=[1, 0]), c)",
        "x: f32[2, 3]; y = F(Transpose(x, perm=[1, 0]), f32([[3.5]]))",
    ),
    *rests(
        "transpose.transpose_sink_scalar",
        "x: f32[3, 3]; y = F(Transpose(x, perm=[1, 0]), f32([1, 2, 3]))",
        "x: f32[2, 3]; y = F(Transpose(x, perm=[1, 0]), f32([[[3.5]]]))",
    ),
    *acts(
        "transpose.transpose_sink_bias",
        _X + "c: f32[3] = weight; y = F(Transpose(x, perm=[0, 2, 3, 1]), c)",
        _X + "c: f32[4, 1] = weight; y = F(Transpose(x, perm=[0, 1, 2, 3]), c)",
        "x: f32[2, 3, 3]; c: f32[3] = weight; y = F(Transpose(x, perm=[0, 2, 1]), c)",
        "x: f32[3, 2, N, 4]; c: f32[3] = weight; y = F(Transpose(x, perm=[3, 1, 2, 0]), c)",
    ),
    *rests(
        "transpose.transpose_sink_bias",
        _X + "c: f32[1] = weight; y = F(Transpose(x, perm=[0, 2, 3, 1]), c)",
        "x: f32[3, 3]; c: f32[1, 3, 3] = weight; y = F(Transpose(x, perm=[1, 0]), c)",
        _X + "c: f32[3]; y = F(Transpose(x, perm=[0, 2, 3, 1]), c)",
    ),
    *acts(
        "transpose.transpose_sink_clip",
        "x: f32[2, 3]; y = Clip(Transpose(x, perm=[1, 0]), f32(0), f32(1))",
        "x: f32[2, 3]; y = Clip(Transpose(x, perm=[1, 0]), None, f32(1))",
        "x: f32[2, 3]; y = Clip(Transpose(x, perm=[1, 0]))",
    ),
    *acts(
        "transpose.transpose_sink_softmax",
        _X + "y = F(Transpose(x, perm=[0, 2, 3, 1]), axis=-1)",
        _X + "y = F(Transpose(x, perm=[0, 2, 3, 1]), axis=1)",
    ),
    *rests("transpose.transpose_sink_softmax", _X + "y = Softmax(x, axis=1)"),
    *acts(
        "transpose.transpose_sink_mean",
        _X + "y = ReduceMean(Transpose(x, perm=[0, 2, 3, 1]), i64([1, -2]))",
        _X + "y = ReduceMean(Transpose(x, perm=[3, 2, 0, 1]), i64([-1]))",
    ),
    *rests(
        "transpose.transpose_sink_mean",
        _X + "y = ReduceMean(Transpose(x, perm=[0, 2, 3, 1]), i64([1]), keepdims=0)",
        _X + "y = ReduceMean(Transpose(x, perm=[0, 2, 3, 1]))",
        _X + "a: i64[1]; y = ReduceMean(Transpose(x, perm=[0, 2, 3, 1]), a)",
        _X
        + "a: i64[0] = []; y = ReduceMean(Transpose(x, perm=[0, 2, 3, 1]), a, noop_with_empty_axes=1)",
    ),
    *acts(
        "transpose.transpose_sink_concat",
        "a: f32[2, 3, 4]; b: f32[2, 3, N]; "
        "y = Concat(Transpose(a, perm=[2, 0, 1]), Transpose(b, perm=[2, 0, 1]), axis=0)",
    ),
    *rests(
        "transpose.transpose_sink_concat",
        "a: f32[3, 3]; b: f32[3, 3]; "
        "y = Concat(Transpose(a, perm=[1, 0]), Transpose(b, perm=[0, 1]), axis=0)",
        "a: f32[3, 3]; b: f32[3, 3]; y = Concat(Transpose(a, perm=[1, 0]), b, axis=0)",
    ),
    *acts(
        "transpose.gemm_transpose_a",
        "a: f32[4, 2]; b: f32[4, 3]; c: f32[3]; y = Gemm(Transpose(a, perm=[1, 0]), b, c)",
        "a: f32[2, 4]; b: f32[3, 4]; "
        "y = Gemm(Transpose(a, perm=[1, 0]), b, transA=1, transB=1, alpha=2.0)",
    ),
    *rests(
        "transpose.gemm_transpose_a",
        "a: f32[2, 4]; b: f32[4, 3]; y = Gemm(Transpose(a, perm=[0, 1]), b)",
    ),
    *acts(
        "transpose.gemm_transpose_b",
        "a: f32[2, 4]; b: f32[3, 4]; c: f32[2, 1]; y = Gemm(a, Transpose(b, perm=[1, 0]), c, beta=0.5)",
    ),
    *rests(
        "transpose.gemm_transpose_b",
        "a: f32[2, 4]; b: f32[4, 3]; y = Gemm(a, Transpose(b, perm=[0, 1]))",
    ),
]
