# ruff: noqa: E501  (a line is a model)
"""Cases of `arithmetic` and `fused`."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_C = "c: f32[3] = weight; "

ELEMENTARY: list[Case] = [
    *acts(
        "arithmetic.one_over",
        "x: f32[2, N]; y = Div(f32(1), x)",
        "x: f64[2]; y = Div(f64([1, 1]), x)",
    ),
    *rests(
        "arithmetic.one_over",
        "x: f32[2]; y = Div(x, f32(1))",
        "x: f32[1]; y = Div(f32([1, 1]), x)",
        "x: i32[2]; y = Div(i32(1), x)",
        "x: f32[2]; y = Div(f32([1, 2]), x)",
    ),
    *acts("arithmetic.mul_reciprocal", "x: f32[2, 3]; z: f32[2, 3]; y = Mul(Reciprocal(z), x)"),
    *rests("arithmetic.mul_reciprocal", "x: f32[2, 3]; z: f32[2, 1]; y = Mul(Reciprocal(z), x)"),
    *acts("arithmetic.div_reciprocal", "x: f32[2, 3]; z: f32[2, 1]; y = Div(x, Reciprocal(z))"),
    *rests("arithmetic.div_reciprocal", "x: f32[2, 3]; z: f32[2, 1]; y = Div(Reciprocal(z), x)"),
    *acts(
        "arithmetic.pow_minus_one",
        "x: f32[2]; y = Pow(x, f32(-1))",
        "x: f64[2]; y = Pow(x, i64([-1]))",
    ),
    *rests(
        "arithmetic.pow_minus_one",
        "x: f32[2]; y = Pow(x, f32(1))",
        "x: f32; y = Pow(x, f32([-1]))",
        "x: i32[2]; y = Pow(x, i32(-1))",
    ),
    *acts("arithmetic.pow_minus_half", "x: f32[2, 1]; y = Pow(x, f32(-0.5))"),
    *rests(
        "arithmetic.pow_minus_half",
        "x: f32[2]; y = Pow(x, f32(0.5))",
        "x: f32[2]; y = Pow(x, f32([-0.5, -1]))",
        "x: i32[2]; y = Pow(x, f32(-0.5))",
    ),
    *acts(
        "arithmetic.add_neg",
        "x: f32[2, 3]; z: f32[3]; y = Add(Neg(z), x)",
        "x: i32[2, 3]; z: i32[3]; y = Add(x, Neg(z))",
    ),
    *rests("arithmetic.add_neg", "x: f32[3]; z: f32[3]; y = Add(x, Abs(z))"),
    *acts("arithmetic.sub_neg", "x: f32[2, N]; z: f32[2, 1]; y = Sub(x, Neg(z))"),
    *rests("arithmetic.sub_neg", "x: f32[2]; z: f32[2]; y = Sub(Neg(z), x)"),
    *acts("arithmetic.zero_minus", "x: f32[2]; y = Sub(f32(0), x)"),
    *rests(
        "arithmetic.zero_minus",
        "x: f32[2]; y = Sub(x, f32(0))",
        "x: f32[1]; y = Sub(f32([0, 0]), x)",
        "x: u32[2]; y = Sub(u32(0), x)",
    ),
    *acts(
        "arithmetic.mul_minus_one",
        "x: f32[2]; y = Mul(f32(-1), x)",
        "x: f64[2]; y = Mul(x, f64([-1]))",
    ),
    *rests(
        "arithmetic.mul_minus_one",
        "x: f32[2]; y = Mul(x, f32([[-1]]))",
        "x: f32[2]; y = Mul(x, f32([-1, -2]))",
        "x: i32[2]; y = Mul(x, i32(-1))",
        "x: f32[2]; y = Mul(x, f32(1))",
    ),
]

_SIX = "Clip(Add(x, f32(3)), f32(0), f32(6))"
ACTIVATIONS: list[Case] = [
    *acts(
        "arithmetic.relu_as_max", "x: f32[2, N]; y = Max(f32([0, 0]), Transpose(x, perm=[1, 0]))"
    ),
    *rests(
        "arithmetic.relu_as_max",
        "x: f32[2]; y = Max(x, f32(1))",
        "x: f32[2]; y = Max(x, f32([[0]]))",
        "x: i64[2]; y = Max(x, i64(0))",
        "x: f32[2]; z: f32[2]; y = Max(x, f32(0), z)",
    ),
    *acts("arithmetic.relu_as_clip", "x: f32[2]; y = Clip(x, f32(0))"),
    *rests(
        "arithmetic.relu_as_clip",
        "x: f32[2]; y = Clip(x, f32(0), f32(6))",
        "x: f32[2]; y = Clip(x, None, f32(0))",
        "x: i64[2]; y = Clip(x, i64(0))",
    ),
    *acts("arithmetic.sigmoid_spelt", "x: f32[2, 3]; y = Reciprocal(Add(f32(1), Exp(Neg(x))))"),
    *rests(
        "arithmetic.sigmoid_spelt",
        "x: f32[2]; y = Reciprocal(Add(f32(1), Exp(x)))",
        "x: f32[2]; y = Reciprocal(Add(f32(2), Exp(Neg(x))))",
        "x: f32[1]; y = Reciprocal(Add(f32([1, 1]), Exp(Neg(x))))",
    ),
    *acts("arithmetic.softplus_spelt", "x: f32[2, 3]; y = Log(Add(Exp(x), f32(1)))"),
    *rests(
        "arithmetic.softplus_spelt",
        "x: f32[2]; y = Log(Add(Exp(x), f32(2)))",
        "x: f64[2]; y = Log(Add(Exp(x), f64(1)))",
    ),
    *acts(
        "arithmetic.hard_sigmoid_spelt",
        f"x: f32[2, N]; y = Div({_SIX}, f32(6))",
        f"x: f32[2, N]; y = Div({_SIX}, f32([6]))",
        "x: f32[2, 3]; y = Div(Clip(Add(x, f32([1])), f32(0), f32(2)), f32(2))",
    ),
    *rests(
        "arithmetic.hard_sigmoid_spelt",
        f"x: f32[2]; y = Div({_SIX}, f32(5))",
        f"x: f64[2]; y = Div({_SIX}, f64(6))".replace("f32", "f64"),
        f"x: f32[2]; y = Div({_SIX}, f32(6))".replace("f32(0)", "f32(1)"),
        f"x: f32[2]; c: f32[2] = weight; y = Div({_SIX}, f32(6))".replace("f32(3)", "c"),
        f"x: f32[2]; y = Div({_SIX}, f32(-6))".replace("f32(6)", "f32(-6)"),
    ),
    *acts(
        "arithmetic.hard_swish_spelt",
        f"x: f32[2, N]; y = Div(Mul(x, {_SIX}), f32(6))",
        f"x: f32[2, N]; y = Div(Mul(x, {_SIX}), f32([6]))",
    ),
    *rests(
        "arithmetic.hard_swish_spelt",
        f"x: f32[2]; z: f32[2]; y = Div(Mul(z, {_SIX}), f32(6))",
        f"x: f32[2]; y = Div(Mul(x, {_SIX}), f32(3))",
        f"x: f64[2]; y = Div(Mul(x, {_SIX}), f64(6))".replace("f32", "f64"),
    ),
]

_GUARDED = "x: f32[2, 3, 3]; z: f32[3, 3]; m: f32[3]; s = Softmax({}, axis=-1); y = Where(IsNaN(s), f32(0), s)"
_SOFT = "x: f32[2, 3, 4]; e = Exp(Sub(x, ReduceMax(x, i64([1])))); "
SUMS: list[Case] = [
    *acts(
        "arithmetic.softmax_spelt",
        _SOFT + "y = Div(e, ReduceSum(e, i64([-2])))",
        _SOFT.replace("4]", "N]") + "y = Div(e, ReduceSum(e, i64([1])))",
    ),
    *rests(
        "arithmetic.softmax_spelt",
        _SOFT + "y = Div(e, ReduceSum(e, i64([2])))",
        _SOFT.replace("[1]", "[1, 2]") + "y = Div(e, ReduceSum(e, i64([1, 2])))",
        "x: f32[3, 3, 3]; e = Exp(Sub(x, ReduceMax(x, i64([1]), keepdims=0))); y = Div(e, ReduceSum(e, i64([1])))",
        "x: f32[3, 3, 3]; e = Exp(Sub(x, ReduceMax(x, i64([1])))); y = Div(e, ReduceSum(e, i64([1]), keepdims=0))",
    ),
    *acts(
        "arithmetic.softmax_guarded",
        _GUARDED.format("MatMul(x, z)"),
        _GUARDED.format("Mul(MatMul(x, z), f32(0.5))"),
    ),
    *rests(
        "arithmetic.softmax_guarded",
        _GUARDED.format("Add(MatMul(x, z), m)"),
        _GUARDED.format("Mul(MatMul(x, z), m)"),
        _GUARDED.format("x"),
        _GUARDED.format("MatMul(x, z)").replace("f32(0), s)", "f32(1), s)"),
        _GUARDED.format("MatMul(x, z)").replace("f32(0), s)", "f32(0), x)"),
    ),
    *acts("arithmetic.log_softmax", "x: f32[2, N, 4]; y = Log(Softmax(x, axis=1))"),
    *rests("arithmetic.log_softmax", "x: f32[2, 4]; y = Exp(Softmax(x, axis=1))"),
    *acts(
        "arithmetic.mean_as_sum",
        "x: f32[2, 3, 4]; y = Div(ReduceSum(x, i64([0, -1])), f32([8]))",
        "x: f32[2, N, 4]; y = Div(ReduceSum(x, i64([2]), keepdims=0), f32(4))",
    ),
    *rests(
        "arithmetic.mean_as_sum",
        "x: f32[2, 3]; y = Div(ReduceSum(x, i64([1])), f32(2))",
        "x: f32[2, N]; y = Div(ReduceSum(x, i64([1])), f32(2))",
        "x: i32[2, 3]; y = Div(ReduceSum(x, i64([1])), i32(3))",
        "x: f32[2, 3]; y = Div(ReduceSum(x, i64([1])), f32([[[3]]]))",
        "x: f32[3, 0]; y = Div(ReduceSum(x, i64([1])), f32(0))",
    ),
]

_N = "x: f32[2, N, 16]; "
_S, _O = "s: f32[16] = weight; ", "o: f32[16] = weight; "
_MEAN = "c = Sub(x, ReduceMean(x, i64([-1]))); "
_ROOT = "r = Sqrt(Add(ReduceMean(Mul(c, c), i64([2])), f32(1e-3))); "
_LN = "h = LayerNormalization(x, s, epsilon=0.01); "
_RMS = "r = Sqrt(Add(ReduceMean(Mul(x, x), i64([-1])), f32(1e-3))); "
NORMS: list[Case] = [
    *acts("fused.layer_norm", _N + _MEAN + _ROOT + "y = Div(c, r)"),
    *rests(
        "fused.layer_norm",
        _N + _MEAN.replace("-1", "1") + _ROOT + "y = Div(c, r)",
        _N + _MEAN + _ROOT.replace("[2]", "[1]") + "y = Div(c, r)",
        _N + _MEAN + _ROOT + "y = Div(x, r)",
        _N + _MEAN + _ROOT.replace("[2]", "[1, 2]") + "y = Div(c, r)",
        (_N + _MEAN + _ROOT + "y = Div(c, r)").replace("f32", "f64"),
        _N + "e: f32[16] = weight; " + _MEAN + _ROOT.replace("f32(1e-3)", "e") + "y = Div(c, r)",
        "x: f32[16, 16]; c = Sub(x, ReduceMean(x, i64([-1]), keepdims=0)); "
        + _ROOT.replace("[2]", "[1]")
        + "y = Div(c, r)",
    ),
    *acts("fused.layer_norm_reciprocal", _N + _MEAN + _ROOT + "y = Mul(Reciprocal(r), c)"),
    *rests(
        "fused.layer_norm_reciprocal",
        _N + _MEAN.replace("-1", "1") + _ROOT + "y = Mul(Reciprocal(r), c)",
        _N + _MEAN + _ROOT.replace("[2]", "[1]") + "y = Mul(Reciprocal(r), c)",
        _N + _MEAN + _ROOT + "y = Mul(Reciprocal(r), x)",
        (_N + _MEAN + _ROOT + "y = Mul(Reciprocal(r), c)").replace("f32", "f64"),
    ),
    *acts(
        "fused.layer_norm_scale",
        _N + _S + "k: f32[1, 16] = weight; " + _LN + "y = Mul(k, h)",
        "x: f32[2, 16]; " + _S + _O + "y = Mul(LayerNormalization(x, s), o)",
    ),
    *rests(
        "fused.layer_norm_scale",
        _N + _S + "k: f32[2, 1, 16] = weight; " + _LN + "y = Mul(k, h)",
        _N + _S + "k: f32[16]; " + _LN + "y = Mul(k, h)",
        _N + "s: f32[16]; " + _O + _LN + "y = Mul(h, o)",
        _N + _S + "k: f32[1] = weight; " + _LN + "y = Mul(k, h)",
        _N + _S + _O + "y = Mul(LayerNormalization(x, s, o), o)",
        _N + _S + "k: f32[1, 1, 1, 16] = weight; " + _LN + "y = Mul(k, h)",
    ),
    *acts("fused.layer_norm_shift", _N + _S + _O + _LN + "y = Add(o, h)"),
    *rests(
        "fused.layer_norm_shift",
        _N + _S + "k: f32[2, 1, 16] = weight; " + _LN + "y = Add(k, h)",
        _N + _S + "k: f32[16]; " + _LN + "y = Add(k, h)",
        _N + _S + _O + "y = Add(LayerNormalization(x, s, o), o)",
    ),
    *acts("fused.layer_norm_spelt", _N + _S + _O + "y = LayerNormalization(x, s, o, epsilon=0.01)"),
    *rests(
        "fused.layer_norm_spelt",
        _N + _S + "y = LayerNormalization(x, s)",
        "x: f32[2, 3, 4]; s: f32[3, 4] = weight; o: f32[3, 4] = weight; y = LayerNormalization(x, s, o, axis=1)",
        (_N + _S + _O + "y = LayerNormalization(x, s, o)").replace("f32", "f64"),
    ),
    *acts("fused.rms_norm", _N + _S + _RMS + "y = Mul(s, Div(x, r))"),
    *rests(
        "fused.rms_norm",
        _N + _S + _RMS.replace("-1", "1") + "y = Mul(s, Div(x, r))",
        _N + _S.replace("= weight", "").strip() + " " + _RMS + "y = Mul(s, Div(x, r))",
        _N + "s: f32[1] = weight; " + _RMS + "y = Mul(s, Div(x, r))",
        (_N + _S + _RMS + "y = Mul(s, Div(x, r))").replace("f32", "f64"),
        _N + _S + "z: f32[2, N, 16]; " + _RMS + "y = Mul(s, Div(z, r))",
    ),
    *acts("fused.rms_norm_reciprocal", _N + _S + _RMS + "y = Mul(s, Mul(x, Reciprocal(r)))"),
    *rests(
        "fused.rms_norm_reciprocal",
        _N + _S + _RMS.replace("-1", "1") + "y = Mul(s, Mul(x, Reciprocal(r)))",
        (_N + _S + _RMS + "y = Mul(s, Mul(x, Reciprocal(r)))").replace("f32", "f64"),
    ),
]

_H = "x: f32[2, N]; h = Add(Erf(Div(x, f32(1.4142135))), f32(1)); "
_M = "x: f32[2, N]; h = Add(f32(1), Erf(Mul(f32(0.70710678), x))); "
_TANH = (
    "x: f32[2, N]; c = Pow(x, f32(3)); "
    "h = Add(Tanh(Mul(Add(Mul(c, f32(0.044715)), x), f32(0.7978845))), f32(1)); "
)
_CUBE = _TANH.replace("Pow(x, f32(3))", "Mul(Mul(x, x), x)")
_PRODUCTS = {
    "half_behind": "y = Mul(Mul(h, x), f32(0.5))",
    "half_before": "y = Mul(Mul(x, f32(0.5)), h)",
    "half_aside": "y = Mul(x, Mul(f32(0.5), h))",
}
GELU: list[Case] = [
    *(
        case
        for name, product in _PRODUCTS.items()
        for case in (
            *acts(f"fused.gelu_{name}", _H + product, _M + product),
            *rests(
                f"fused.gelu_{name}",
                _H.replace("1.4142135", "1.5") + product,
                _M.replace("f32(1)", "f32(2)") + product,
                _H + product.replace("0.5", "0.4"),
                _H + "z: f32[2, N]; " + product.replace("x", "z"),
                (_H + product).replace("f32", "f64"),
                _TANH + product,
            ),
            *acts(f"fused.gelu_tanh_{name}", _TANH + product, _CUBE + product),
            *rests(
                f"fused.gelu_tanh_{name}",
                _TANH.replace("0.044715", "0.04") + product,
                _TANH.replace("0.7978845", "0.7") + product,
                _TANH.replace("f32(3)", "f32(2)") + product,
                _TANH + product.replace("0.5", "0.4"),
                (_TANH + product).replace("f32", "f64"),
                _H + product,
            ),
        )
    ),
    *acts("fused.gelu_spelt", "x: f32[2, N]; y = Gelu(x)"),
    *rests(
        "fused.gelu_spelt", "x: f32[2]; y = Gelu(x, approximate='tanh')", "x: f64[2]; y = Gelu(x)"
    ),
]

CASES = [*ELEMENTARY, *ACTIVATIONS, *SUMS, *NORMS, *GELU]
