# ruff: noqa: E501  (a line is a model)
"""Cases of `places`."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[1, 3, 6]; "
_W = "w: f32[5, 3, 3] = weight; "
_B = "b: f32[5] = weight; "

CASES: list[Case] = [
    *acts(
        "places.conv_few_places",
        _X + _W + _B + "y = Conv(x, w, b, pads=[1, 1])",
        _X + _W + "y = Conv(x, w, pads=[2, 0], strides=[2])",
        _X + _W + _B + "y = Conv(x, w, b, dilations=[2])",
        "x: f32[N, 3, 6]; " + _W + "y = Conv(x, w, auto_pad='SAME_LOWER')",
        "x: f64[4, 1, 9]; w: f64[2, 1, 2] = weight; b: f64[2] = weight; y = Conv(x, w, b, strides=[3])",
    ),
    *rests(
        "places.conv_few_places",
        "x: f32[1, 3, 20]; " + _W + "y = Conv(x, w)",
        "x: f32[1, 3, N]; " + _W + "y = Conv(x, w)",
        "x: f32[1, 3, N]; " + _W + "y = Conv(x, w, auto_pad='SAME_UPPER')",
        _X + _W + "y = Conv(x, w, strides=[4])",
        _X + "w: f32[6, 1, 3] = weight; y = Conv(x, w, group=3)",
        _X + "w: f32[5, 3, 3]; y = Conv(x, w)",
        "x: f32[1, 3, 6, 6]; w: f32[5, 3, 3, 3] = weight; y = Conv(x, w)",
        "x: f16[1, 3, 6]; w: f16[5, 3, 3] = weight; y = Conv(x, w)",
    ),
    *acts(
        "places.conv_of_blocks",
        "x: f32[1, 1, 20]; w: f32[6, 1, 8] = weight; y = Conv(x, w, strides=[4])",
        "x: f32[N, 1, 12]; w: f32[6, 1, 2] = weight; b: f32[6] = weight; y = Conv(x, w, b, strides=[2])",
        "x: f32[2, 1, 12]; w: f32[6, 1, 9] = weight; y = Conv(x, w, strides=[3])",
    ),
    *rests(
        "places.conv_of_blocks",
        "x: f32[1, 1, 21]; w: f32[6, 1, 8] = weight; y = Conv(x, w, strides=[4])",
        "x: f32[1, 1, 20]; w: f32[6, 1, 6] = weight; y = Conv(x, w, strides=[4])",
        "x: f32[1, 1, 20]; w: f32[6, 1, 8] = weight; y = Conv(x, w, strides=[4], pads=[4, 0])",
        "x: f32[1, 1, 20]; w: f32[6, 1, 4] = weight; y = Conv(x, w, strides=[4], dilations=[2])",
        "x: f32[1, 2, 20]; w: f32[6, 2, 8] = weight; y = Conv(x, w, strides=[4])",
        "x: f32[1, 1, 12]; w: f32[6, 1, 4] = weight; y = Conv(x, w)",
        "x: f32[1, 1, 80]; w: f32[6, 1, 8] = weight; y = Conv(x, w, strides=[4])",
        "x: f32[1, 1, N]; w: f32[6, 1, 8] = weight; y = Conv(x, w, strides=[4])",
        "x: f32[1, 1, 20]; w: f32[6, 1, 8]; y = Conv(x, w, strides=[4])",
    ),
    *acts(
        "places.conv_one_place",
        "x: f32[1, 3, 3]; " + _W + _B + "y = Conv(x, w, b)",
        "x: f32[N, 3, 1]; " + _W + _B + "y = Conv(x, w, b, pads=[1, 1])",
        "x: f32[2, 3, 2]; " + _W + "y = Conv(x, w, pads=[1, 1], strides=[2])",
        "x: f64[2, 3, 1]; w: f64[5, 3, 1] = weight; y = Conv(x, w)",
    ),
    *rests(
        "places.conv_one_place",
        "x: f32[1, 3, 4]; " + _W + "y = Conv(x, w, strides=[2])",
        "x: f32[1, 3, 3]; " + _W + "y = Conv(x, w, pads=[1, 1], strides=[3])",
        "x: f32[1, 3, 4]; " + _W + "y = Conv(x, w)",
        "x: f32[1, 3, N]; " + _W + "y = Conv(x, w)",
        "x: f32[1, 3, 3]; w: f32[6, 1, 3] = weight; y = Conv(x, w, group=3)",
        "x: f32[1, 3, 5]; " + _W + "y = Conv(x, w, dilations=[2])",
        "x: f32[1, 3, 3]; w: f32[5, 3, 3]; y = Conv(x, w)",
        "x: f16[1, 3, 3]; w: f16[5, 3, 3] = weight; y = Conv(x, w)",
    ),
]  # fmt: skip
