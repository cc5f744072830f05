"""Cases of `weights`: weights behind one another in sums and products."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[2, 3]; c: f32[3] = weight; d: f32[2, 1] = weight; "
_N = "x: f32[N, C, H]; c: f32[1] = weight; d: f32[5] = weight; "
_I = "x: i32[2, 3]; c: i32[3] = weight; d: i32[2, 1] = weight; "
_COMPUTED = "x: f32[2, 3]; c: f32[3]; d: f32[3] = weight; "
_BOTH = "x: f32[2, 3]; z: f32[3]; c: f32[3] = weight; d: f32[1] = weight; "
_THREE = "x: f32[2, 3]; a: f32 = 3.0; b: f32[3] = weight; c: f32[2, 1] = weight; "

SUMS: list[Case] = [
    *acts(
        "weights.add_weights",
        _X + "y = Add(Add(x, c), d)",
        _X + "y = Add(d, Add(c, x))",
        _N + "y = Add(Add(x, c), d)",
        _I + "y = Add(Add(x, c), d)",
        "x: f16[2, 3]; c: f16[4, 2, 3] = weight; d: f16[3] = weight; y = Add(Add(x, c), d)",
        "x: f32[0, 3]; c: f32[3] = weight; d: f32[1] = weight; y = Add(Add(x, c), d)",
    ),
    *rests(
        "weights.add_weights",
        _COMPUTED + "y = Add(Add(x, c), d)",
        _X + "y = Sub(Add(x, c), d)",
        _X + "y = Mul(Add(x, c), d)",
    ),
    *acts("weights.add_both_weights", _BOTH + "y = Add(Add(x, c), Add(z, d))"),
    *rests("weights.add_both_weights", _BOTH + "y = Add(Add(x, z), Add(z, d))"),
    *acts(
        "weights.add_to_rest",
        _X + "y = Add(Sub(c, x), d)",
        _I + "y = Add(d, Sub(c, x))",
    ),
    *rests("weights.add_to_rest", _X + "y = Add(Sub(x, c), d)"),
    *acts(
        "weights.rest_of_sum",
        _X + "y = Sub(c, Add(x, d))",
        _I + "y = Sub(c, Add(d, x))",
    ),
    *rests("weights.rest_of_sum", _X + "y = Sub(Add(x, d), c)"),
    *acts(
        "weights.rest_of_rest",
        _X + "y = Sub(d, Sub(c, x))",
        _I + "y = Sub(d, Sub(c, x))",
    ),
    *rests("weights.rest_of_rest", _X + "y = Sub(d, Sub(x, c))"),
]

PRODUCTS: list[Case] = [
    *acts(
        "weights.mul_weights",
        _X + "y = Mul(Mul(x, c), d)",
        _N + "y = Mul(d, Mul(c, x))",
        _I + "y = Mul(Mul(x, c), d)",
    ),
    *rests("weights.mul_weights", _COMPUTED + "y = Mul(Mul(x, c), d)"),
    *acts("weights.mul_both_weights", _BOTH + "y = Mul(Mul(x, c), Mul(z, d))"),
    *rests("weights.mul_both_weights", _BOTH + "y = Mul(Mul(x, c), Add(z, d))"),
    *acts("weights.div_of_product", _X + "y = Div(Mul(F(x), c), d)"),
    *rests(
        "weights.div_of_product",
        _X + "y = Div(Mul(x, c), d)",
        _X + "y = Div(c, Mul(F(x), d))",
        _COMPUTED + "y = Div(Mul(F(x), c), d)",
    ),
    *acts("weights.mul_of_quotient", _X + "y = Mul(Div(F(x), c), d)"),
    *rests(
        "weights.mul_of_quotient",
        _X + "y = Mul(Div(x, c), d)",
        _X + "y = Mul(Div(c, F(x)), d)",
        _COMPUTED + "y = Mul(Div(F(x), c), d)",
    ),
    *acts("weights.div_weights", _X + "y = Div(Div(x, c), d)"),
    *rests(
        "weights.div_weights",
        _I + "y = Div(Div(x, c), d)",
        _X + "y = Div(c, Div(x, d))",
        _COMPUTED + "y = Div(Div(x, c), d)",
    ),
    *acts(
        "weights.mul_of_affine",
        _THREE + "y = Mul(Add(Mul(x, a), b), c)",
        "x: i32[2, 3]; a: i32 = 3; b: i32[3] = weight; c: i32[2, 1] = weight; "
        "y = Mul(Add(Mul(x, a), b), c)",
    ),
    *rests("weights.mul_of_affine", _THREE + "y = Mul(Add(x, b), c)"),
    *acts("weights.div_of_affine", _THREE + "y = Div(Add(Div(x, a), b), c)"),
    *acts("weights.mul_of_divided", _THREE + "y = Mul(Add(Div(x, a), b), c)"),
    *rests("weights.mul_of_divided", _THREE + "y = Mul(Add(Div(a, x), b), c)"),
    *acts("weights.div_of_scaled", _THREE + "y = Div(Add(Mul(x, a), b), c)"),
    *rests("weights.div_of_scaled", _THREE + "y = Div(c, Add(Mul(x, a), b))"),
    *rests(
        "weights.div_of_affine",
        _THREE + "y = Div(Add(x, b), c)",
        "x: i32[2, 3]; a: i32 = 3; b: i32[3] = weight; c: i32[2, 1] = weight; "
        "y = Div(Add(Div(x, a), b), c)",
    ),
]

CASES = [*SUMS, *PRODUCTS]
