# ruff: noqa: E501  (a line is a model)
"""Cases of rules for what broadcasts, or is computed for its shape alone, as exporters write it."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_WIDE = "c: bool[2, 3]; x: f32[2, 3]; z: f32[1, 3]; "
_MASK = "x: f32[2, 3, 3]; z: f32[3, 3]; b: bool[3]; m = Where(b, f32(0), {}); s = Softmax(Add(MatMul(x, z), {}), axis=-1); y = Where(IsNaN(s), f32(0), s)"
_STAYS = "x: f32[2, N]; s = Concat(i64([-1]), Shape(x, start=1, end=2), axis=0); "
_CODES = "i: u8[2, N]; x = DequantizeLinear(i, f32(0.5), u8(3)); "
_BORDER = "x: f32[N, 3, 5]; p = Pad(x, i64([0, 0, 2, 0, 0, 1])); "
_TURNED = "x: f32[2, 3, 4, 5]; t = Transpose(x, perm=[0, 2, 3, 1]); "

CASES: list[Case] = [
    *acts(
        "identity.and_true",
        "x: bool[2, N]; y = And(x, bool(True))",
        "x: bool[3]; y = And(bool([True, True, True]), x)",
    ),
    *rests(
        "identity.and_true",
        "x: bool[3]; y = And(x, bool(False))",
        "x: bool[1]; y = And(x, bool([True, True]))",
    ),
    *acts("identity.or_false", "x: bool[2, N]; y = Or(x, bool(False))"),
    *rests("identity.or_false", "x: bool[2, 3]; y = Or(x, bool(True))"),
    *acts(
        "reshape.filled",
        "x: f32[2, N]; y = Add(ConstantOfShape(Shape(x)), x)",
        "x: f32[2, N]; y = ConstantOfShape(Concat(i64([1]), Shape(x), axis=0))",
    ),
    *acts("reshape.expand_bound", _WIDE + "y = F(Expand(z, i64([2, 3])), x)"),
    *rests("reshape.expand_bound", _WIDE + "y = F(Expand(x, i64([4, 2, 3])), z)"),
    *acts("reshape.expand_condition", _WIDE + "y = Where(Expand(c, i64([2, 3])), x, z)"),
    *rests("reshape.expand_condition", _WIDE + "y = Where(Expand(c, i64([4, 2, 3])), x, z)"),
    *acts("reshape.expand_taken", _WIDE + "y = Where(c, Expand(z, i64([2, 3])), x)"),
    *rests("reshape.expand_taken", _WIDE + "y = Where(c, Expand(z, i64([4, 2, 3])), x)"),
    *acts("reshape.expand_otherwise", _WIDE + "y = Where(c, x, Expand(z, i64([2, 3])))"),
    *rests("reshape.expand_otherwise", _WIDE + "y = Where(c, x, Expand(z, i64([4, 2, 3])))"),
    *acts(
        "reshape.shape_stays",
        _STAYS + "y = Where(Equal(s, i64([-1, -1])), i64([1, 1]), s)",
        _STAYS + "y = Where(Equal(i64(-1), s), i64([1, 1]), s)",
    ),
    *rests(
        "reshape.shape_stays",
        _STAYS + "y = Where(Equal(s, i64([-1, 0])), i64([1, 1]), s)",
        _STAYS + "y = Where(Equal(s, i64([-2, -1])), i64([1, 1]), s)",
        _STAYS + "y = Where(Equal(s, i64([-1, -1])), i64([1, 2]), s)",
        _STAYS + "y = Where(Equal(s, i64([-1, -1])), i64([0, 1]), s)",
        "s: i64[2]; y = Where(Equal(s, i64([-1, -1])), i64([1, 1]), s)",
    ),
    *acts(
        "reshape.shape_of_elementwise",
        "x: f32[2, N]; y = Shape(F(x))",
        "x: f32[2, N, 4]; y = Shape(F(x), start=1, end=2)",
    ),
    *acts("reshape.shape_of_cast", "x: f32[2, N]; y = Shape(Cast(x, to=7), start=1)"),
    *acts("reshape.shape_of_dequantized", _CODES + "y = Shape(x)", _CODES + "y = Shape(x, start=1)"),
    *acts(
        "reshape.shape_of_gathered",
        "w: f32[9, 4] = weight; i: i64[B, L]; y = Shape(Gather(w, Clip(i, i64(0), i64(8))), end=2)",
        "w: f32[9, 4] = weight; i: i64[B, L]; y = Shape(Gather(w, Clip(i, i64(0), i64(8))), start=1, end=2)",
    ),
    *rests(
        "reshape.shape_of_gathered",
        "w: f32[9, 4] = weight; i: i64[B, L]; y = Shape(Gather(w, Clip(i, i64(0), i64(8))), end=3)",
        "w: f32[N, 9]; i: i64[L]; y = Shape(Gather(w, Clip(i, i64(0), i64(8)), axis=1), end=1)",
    ),
    *acts(
        "reshape.unsqueeze_sink_binary",
        "x: f32[2, N]; z: f32[2, N]; y = F(Unsqueeze(x, i64([1])), Unsqueeze(z, i64([1])))",
        "x: f32[2, N]; z: f32[1, N]; y = F(Unsqueeze(x, i64([-1])), Unsqueeze(z, i64([-1])))",
    ),
    *rests(
        "reshape.unsqueeze_sink_binary",
        "x: f32[2, 3]; z: f32[2, 3]; y = F(Unsqueeze(x, i64([1])), Unsqueeze(z, i64([0])))",
        "x: f32[2, 3]; z: f32[3]; y = F(Unsqueeze(x, i64([0])), Unsqueeze(z, i64([0])))",
    ),
    *acts(
        "arithmetic.softmax_guarded",
        _MASK.format("f32(-3.4028234663852886e38)", "m"),
        _MASK.format("f32(-10000)", "Expand(Unsqueeze(m, i64([0])), i64([3, 3]))"),
    ),
    *rests(
        "arithmetic.softmax_guarded",
        _MASK.format("f32(-1e39)", "m"),
        _MASK.format("f32(-1e39)", "Unsqueeze(m, i64([0]))"),
        _MASK.format("f32(-3.4028234663852886e38)", "Sqrt(m)"),
    ),
    *acts(
        "move.gather_of_repeated",
        "x: f32[3, 1, 2]; i: i64[L]; y = Gather(Expand(x, i64([1, 4, 1])), Clip(i, i64(0), i64(2)))",
    ),
    *rests(
        "move.gather_of_repeated",
        "x: f32[1, 1, 2]; i: i64[L]; y = Gather(Expand(x, i64([3, 4, 1])), Clip(i, i64(0), i64(2)))",
        "x: f32[3, 2]; i: i64[L]; y = Gather(Expand(x, i64([1, 3, 1])), Clip(i, i64(0), i64(0)))",
        "x: f32[3, 1]; i: i64[2, 1]; y = Gather(Expand(x, i64([1, 4])), Clip(i, i64(0), i64(2)))",
    ),
    *acts(
        "transpose.transpose_sink_sum_away",
        _TURNED + "y = F(t, i64([1]), keepdims=0)",
        _TURNED + "y = F(t, i64([-1]), keepdims=0)",
    ),
    *rests(
        "transpose.transpose_sink_sum_away",
        _TURNED + "y = F(t, i64([1]))",
        _TURNED + "y = F(t, i64([1, 2]), keepdims=0)",
    ),
    *acts(
        "reshape.unsqueeze_of_padded",
        _BORDER + "y = Unsqueeze(p, i64([2]))",
        _BORDER + "y = Unsqueeze(p, i64([-1]))",
        "x: f32[2, 3]; y = Unsqueeze(Pad(x, i64([0, 2, 0, 1]), mode='reflect'), i64([0]))",
    ),
    *rests(
        "reshape.unsqueeze_of_padded",
        _BORDER + "y = Unsqueeze(p, i64([0, 1]))",
        "x: f32[2, 3]; n: i64[4]; y = Unsqueeze(Pad(x, Clip(n, i64(0), i64(2))), i64([0]))",
    ),
    *acts(
        "reshape.reshape_of_padded",
        _BORDER + "y = Reshape(p, i64([-1, 3, 1, 8]))",
        "x: f32[2, 3, 5]; y = Reshape(Pad(x, i64([0, 0, 2, 0, 0, 1]), mode='reflect'), i64([2, 3, 1, 8]))",
    ),
    *rests(
        "reshape.reshape_of_padded",
        _BORDER + "y = Reshape(p, i64([-1, 1, 3, 8]))",
        _BORDER + "y = Reshape(p, i64([-1, 3, 1, 4, 2]))",
        _BORDER + "y = Reshape(p, i64([-1, 6, 1, 4]))",
    ),
    # an axis of size 1 that moves, between others that are not
    *acts(
        "reshape.reshape_of_reshaped",
        "x: f32[5, 1, N, 4]; y = Reshape(Transpose(x, perm=[0, 2, 1, 3]), i64([5, -1, 4]))",
        "x: f32[3, 4, 1]; y = Reshape(Transpose(x, perm=[2, 0, 1]), i64([4, 3]))",
        "x: f32[3, 4, 1, 1]; y = Reshape(Transpose(x, perm=[3, 0, 2, 1]), i64([12]))",
    ),
    *rests(
        "reshape.reshape_of_reshaped",
        "x: f32[5, 2, N, 4]; y = Reshape(Transpose(x, perm=[0, 2, 1, 3]), i64([5, -1, 8]))",
        "x: f32[3, 4, 1, 2]; y = Reshape(Transpose(x, perm=[0, 3, 2, 1]), i64([24]))",
        "x: f32[N, 4, M]; y = Reshape(Transpose(x, perm=[2, 0, 1]), i64([-1]))",
    ),
]  # fmt: skip
