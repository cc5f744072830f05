"""Cases of `reduce`: chains of reductions, and axes that are kept or not."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[2, 3, 4, 5]; "
_N = "x: f32[N, C, H, W]; "

CHAINS: list[Case] = [
    *acts(
        "reduce.reduce_reduced",
        _N + "y = F(F(x, i64([3]), keepdims=1), i64([2]), keepdims=1)",
        _X + "y = F(F(x, i64([1, -1]), keepdims=1), i64([-2]), keepdims=1)",
        "x: f64[2, 1, 0, 3]; y = F(F(x, i64([0]), keepdims=1), i64([3, 1]), keepdims=1)",
    ),
    *rests(
        "reduce.reduce_reduced",
        _X + "y = F(F(x, i64([3]), keepdims=1), i64([3]), keepdims=1)",
        _X + "y = F(F(x, i64([2, 3]), keepdims=1), i64([0, 1]), keepdims=1)",
        _X + "y = F(F(x, i64([3]), keepdims=0), i64([2]), keepdims=0)",
        _X + "y = F(F(x, keepdims=1), i64([2]), keepdims=1)",
        "x: i32[2, 3]; y = F(F(x, i64([0]), keepdims=1), i64([1]), keepdims=1)",
        _X + "j: i64[1]; y = F(F(x, i64([3]), keepdims=1), Clip(j, i64(0), i64(2)), keepdims=1)",
    ),
    *acts(
        "reduce.reduce_reduced_away",
        _N + "y = F(F(x, i64([2]), keepdims=0), i64([2]), keepdims=0)",
        _N + "y = F(F(x, i64([2]), keepdims=0), i64([1, 0]), keepdims=0)",
        _X + "y = F(F(x, i64([1, 2]), keepdims=0), i64([1, 0]), keepdims=0)",
    ),
    *rests(
        "reduce.reduce_reduced_away",
        _X + "y = F(F(x, i64([1, 3]), keepdims=0), i64([1]), keepdims=0)",
        _X + "y = F(F(x, i64([3]), keepdims=1), i64([2]), keepdims=1)",
        _X + "y = F(F(x, i64([3]), keepdims=1), i64([2]), keepdims=0)",
        "x: i32[2, 3]; y = F(F(x, i64([0]), keepdims=0), i64([0]), keepdims=0)",
    ),
    *acts(
        "reduce.extreme_of_extremes",
        _N + "y = F(F(x, i64([3]), keepdims=1), i64([2]), keepdims=1)",
        "x: i32[2, 3, 4]; y = F(F(x, i64([0, 1]), keepdims=1), i64([2]), keepdims=1)",
    ),
    *rests(
        "reduce.extreme_of_extremes",
        _X + "y = F(F(x, i64([3]), keepdims=1), i64([3]), keepdims=1)",
        _X + "y = F(F(x, i64([2, 3]), keepdims=1), i64([0, 1]), keepdims=1)",
        _X + "y = F(F(x, i64([3]), keepdims=1), i64([2]), keepdims=0)",
    ),
    *acts(
        "reduce.extreme_of_extremes_away",
        _N + "y = F(F(x, i64([1]), keepdims=0), i64([-1]), keepdims=0)",
        "x: i32[2, 3, 4]; y = F(F(x, i64([1, 2]), keepdims=0), i64([0]), keepdims=0)",
    ),
    *rests(
        "reduce.extreme_of_extremes_away",
        _X + "y = F(F(x, i64([3, 1]), keepdims=0), i64([1]), keepdims=0)",
        _X + "y = F(F(x, i64([3]), keepdims=1), i64([2]), keepdims=1)",
    ),
]

KEPT: list[Case] = [
    *acts(
        "reduce.reduce_reshape",
        "x: f32[N, 4, 3, 3]; y = Reshape(F(x, i64([2, 3]), keepdims=1), i64([0, -1]))",
        "x: f32[N, 4, 3]; y = Reshape(F(x, i64([1]), keepdims=0), i64([-1, 1, 3]))",
        "x: f32[3]; y = Reshape(F(x, keepdims=1), i64([]))",
    ),
    *rests(
        "reduce.reduce_reshape",
        "x: f32[N, 4, 3, 3]; y = Reshape(F(x, i64([2, 3]), keepdims=1), i64([0, 2, 2]))",
        "x: f32[N, 4, 3, 3]; y = Reshape(F(x, i64([2]), keepdims=1), i64([0, 4, 3, 1]))",
    ),
    *acts(
        "reduce.reduce_squeeze",
        _N + "y = Squeeze(F(x, i64([3, 2]), keepdims=1), i64([2, 3]))",
        "x: f32[2, 3]; y = Squeeze(F(x, i64([-1]), keepdims=1), i64([1]))",
    ),
    *rests(
        "reduce.reduce_squeeze",
        "x: f32[2, 3, 4]; y = Squeeze(F(x, i64([0, 2]), keepdims=1), i64([0]))",
        _N + "y = Squeeze(F(x, i64([2, 3]), keepdims=1), i64([2]))",
    ),
    *acts(
        "reduce.reduce_unsqueeze",
        _N + "y = Unsqueeze(F(x, i64([3, 2]), keepdims=0), i64([2, 3]))",
    ),
    *rests(
        "reduce.reduce_unsqueeze",
        "x: f32[N, 3, 4]; y = Unsqueeze(F(x, i64([2]), keepdims=0), i64([1]))",
    ),
    *acts(
        "reduce.reduce_flatten",
        _N + "y = Flatten(F(x, i64([2, 3]), keepdims=1))",
        "x: f32[2, 3, 4]; y = Flatten(F(x, i64([1]), keepdims=1))",
    ),
    *rests(
        "reduce.reduce_flatten",
        "x: f32[2, 3, 4]; y = Flatten(F(x, i64([2]), keepdims=1), axis=0)",
        "x: f32[2, 3, 4]; y = Flatten(F(x, i64([1]), keepdims=0))",
    ),
]

CASES = [*CHAINS, *KEPT]
