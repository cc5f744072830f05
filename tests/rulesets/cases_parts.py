# ruff: noqa: E501  (a line is a model)
"""Cases of what PyTorch's exporters write around shapes, and of weights beside transpositions."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_N = "x: f32[B, C, H, W]; "
_T = "x: f32[2, 3, 4, 5]; t = Transpose(x, perm=[0, 2, 3, 1]); "

SHAPES: list[Case] = [
    *acts(
        "reshape.shape_parts_first",
        _N + "y = Concat(Shape(x, start=0, end=2), Shape(x, start=2, end=3), i64([3]), axis=0)",
        _N + "y = Concat(Shape(x, start=1, end=2), Shape(x, start=2), axis=0)",
    ),
    *rests(
        "reshape.shape_parts_first",
        _N + "y = Concat(Shape(x, start=0, end=1), Shape(x, start=2, end=3), axis=0)",
        _N + "y = Concat(Shape(x, start=2), Shape(x, end=2), axis=0)",
        _N + "z: f32[B, C, H]; y = Concat(Shape(x, end=1), Shape(z, start=1), axis=0)",
        # nothing of the first, one of the second
        _N + "y = Concat(Shape(x, start=2, end=1), Shape(x, start=1, end=2), i64([3]), axis=0)",
    ),
    *acts(
        "reshape.shape_parts_last",
        _N + "y = Concat(i64([5]), Shape(x, start=1, end=2), Shape(x, start=2), axis=0)",
        _N + "y = Concat(Shape(x, end=2), Shape(x, start=2, end=-1), axis=0)",
    ),
    *rests(
        "reshape.shape_parts_last",
        _N + "y = Concat(Shape(x, end=2), Shape(x, start=2, end=3), i64([1]), axis=0)",
        _N + "y = Concat(i64([1]), Shape(x, start=2, end=3), Shape(x, start=1, end=2), axis=0)",
        _N + "y = Concat(i64([1]), Shape(x, start=3, end=2), Shape(x, start=2, end=3), axis=0)",
    ),
    *acts(
        "reshape.shape_again",
        "x: f32[B, 8, H, W]; y = Concat(Shape(x, end=1), i64([8]), Shape(x, start=2), axis=0)",
        _N + "y = Concat(Shape(x, end=2), Shape(x, start=2, end=3), Shape(x, start=-1), axis=0)",
    ),
    *rests(
        "reshape.shape_again",
        "x: f32[B, 8, H, W]; y = Concat(Shape(x, end=1), i64([4, 2]), Shape(x, start=2), axis=0)",
        "x: f32[B, 8, H, H]; y = Concat(Shape(x, end=1), Shape(x, start=2), axis=0)",
        _N + "y = Concat(Shape(x, end=1), Shape(x, start=3), Shape(x, start=1, end=3), axis=0)",
    ),
    *acts(
        "reshape.shape_entry_number",
        _N + "y = Gather(Shape(x), i64(2))",
        _N + "y = Gather(Shape(x), i64(-1))",
    ),
    *rests(
        "reshape.shape_entry_number",
        _N + "y = Gather(Shape(x), i64([2]))",
        _N + "y = Gather(Shape(x, start=1), i64(0))",
        _N + "i: i64; y = Gather(Shape(x), Clip(i, i64(0), i64(3)))",
    ),
    *acts(
        "reshape.shape_product",
        _N + "y = Mul(Squeeze(Shape(x, start=2, end=3), i64([0])), Squeeze(Shape(x, start=3)))",
        _N + "y = Mul(Squeeze(Shape(x, start=1, end=2)), Squeeze(Shape(x, start=0, end=1)))",
    ),
    *rests(
        "reshape.shape_product",
        _N + "y = Mul(Squeeze(Shape(x, start=0, end=1)), Squeeze(Shape(x, start=2, end=3)))",
        _N + "z: f32[B, C]; y = Mul(Squeeze(Shape(x, start=0, end=1)), Squeeze(Shape(z, start=1)))",
        _N + "y = Mul(Squeeze(Shape(x, start=1, end=2)), Squeeze(Shape(x, start=2)))",
    ),
    *acts(
        "reshape.shape_products",
        _N
        + "y = Mul(ReduceProd(Shape(x, start=1, end=3), keepdims=0), Squeeze(Shape(x, start=3)))",
    ),
    *rests(
        "reshape.shape_products",
        # the product of nothing
        _N + "y = Mul(ReduceProd(Shape(x, start=1, end=0), keepdims=0), Squeeze(Shape(x, end=1)))",
        _N
        + "y = Mul(ReduceProd(Shape(x, start=0, end=2), keepdims=0), Squeeze(Shape(x, start=3)))",
        _N
        + "y = Mul(ReduceProd(Shape(x, start=0, end=2), keepdims=0), Squeeze(Shape(x, start=2)))",
    ),
    *acts(
        "reshape.reshape_of_reshaped_computed",
        "x: f32[B, 8, H, W]; p = ReduceProd(Shape(x, start=2), keepdims=1); b = Shape(x, end=1); "
        "y = Reshape(Reshape(x, Concat(b, i64([8]), p, axis=0)), Concat(b, i64([4, 2]), p, axis=0))",
    ),
    *rests(
        "reshape.reshape_of_reshaped_computed",
        "x: f32[B, 8, H, W]; p = ReduceProd(Shape(x, start=2), keepdims=1); b = Shape(x, end=1); "
        "y = Reshape(Relu(Reshape(x, Concat(b, i64([8]), p, axis=0))), Concat(b, i64([4, 2]), p, axis=0))",
        "x: f32[B, 8]; y = Reshape(Reshape(x, i64([-1, 4, 2])), i64([0, -1]))",
    ),
    *acts(
        "cast.castlike_known",
        "x: f32[2, N]; i: i64[3]; y = CastLike(x, i)",
        "x: i32[2]; y = CastLike(f32([1, 2, 3]), x)",
    ),
    *acts(
        "move.gather_of_expanded",
        "w: f32[9, 4] = weight; i: i64[1, L]; z: f32[B, L, 4]; s = Shape(z, end=2); "
        "y = Add(Gather(w, Expand(Clip(i, i64(0), i64(8)), s)), z)",
        "w: f32[9, 4] = weight; z: f32[2, 3, 4]; y = Add(z, Gather(w, Expand(i64(3), i64([2, 3]))))",
    ),
    *rests(
        "move.gather_of_expanded",
        "w: f32[9, 4] = weight; z: f32[1, 3, 4]; y = Add(z, Gather(w, Expand(i64(3), i64([2, 3]))))",
        "w: f32[4, 4] = weight; z: f32[4, 2, 3]; y = Add(z, Gather(w, Expand(i64(3), i64([2, 3])), axis=1))",
    ),
    *acts(
        "concat.split_of_concat_4",
        "x: f32[2, 1]; z: f32[2, 2]; u: f32[2, 3]; v: f32[2, 4]; a, b, c, d = Split(Concat(x, z, u, v, axis=1), i64([1, 2, 3, 4]), axis=-1)",
    ),
    *rests(
        "concat.split_of_concat_4",
        "x: f32[2, 1]; z: f32[2, 2]; u: f32[2, 3]; v: f32[2, 4]; a, b, c, d = Split(Concat(x, z, u, v, axis=1), i64([4, 3, 2, 1]), axis=1)",
        "x: f32[2, 2]; a, b, c, d = Split(Concat(x, x, x, x, axis=1), i64([0, 1, 0, 1]), axis=0)",
    ),
]

TRANSPOSED: list[Case] = [
    *acts(
        "transpose.transpose_sink_behind",
        _T + "c: f32[3] = weight; y = F(c, t)",
        _T + "y = F(f32(2), t)",
        _T + "c: f32[2, 4, 1, 3] = weight; y = F(c, t)",
    ),
    *rests(
        "transpose.transpose_sink_behind",
        _T + "c: f32[3]; y = F(c, t)",
        _T + "c: f32[1, 2, 4, 1, 3] = weight; y = F(c, t)",
    ),
    *acts(
        "transpose.transpose_sink_bound",
        _T + "c: f32[5, 1] = weight; y = F(c, t)",
        _T + "y = F(t, f32(2))",
        "x: i32[2, N]; y = F(Transpose(x, perm=[1, 0]), i32([1, 2]))",
    ),
    *rests(
        "transpose.transpose_sink_bound",
        _T + "c: f32[3]; y = F(t, c)",
        _T + "c: f32[1, 1, 1, 1, 1] = weight; y = F(t, c)",
        _T + "c: f32[3] = weight; y = F(t, c, c)",
    ),
]

CASES = [*SHAPES, *TRANSPOSED]
