# ruff: noqa: E501  (a line is a model)
"""Cases of `attention` and `rms`, whose operators came with opset 23."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_QTV = "q: f32[2, 4, N, 8]; t: f32[2, 4, 8, M]; v: f32[2, 4, M, 6]; "
_QKV = "q: f32[2, 4, 5, 8]; k: f32[2, 4, 3, 8]; v: f32[2, 4, 3, 6]; "
_MASK = "m: f32[2, 1, N, M]; "
_TRUTH = "b: bool[2, 1, N, M]; m = Where(b, f32(0), f32(-1e39)); "
_END = "y = MatMul(Softmax({}), v)"
_GUARDED = "p = Softmax({}); y = MatMul(Where(IsNaN(p), f32(0), p), v)"
_LOOKS_LIKE = (
    _QTV.replace("4, M, 6]", "1, M, 6]") + _END.format("MatMul(q, t)"),
    _QTV.replace("2, 4, 8, M]", "1, 4, 8, M]") + _END.format("MatMul(q, t)"),
    (_QTV + _END.format("MatMul(q, t)")).replace("f32[", "f64["),
    (_QTV + _END.format("MatMul(q, t)")).replace("[2, 4, ", "[4, "),
    _QTV.replace("M", "8").replace("N", "8") + "y = MatMul(Softmax(MatMul(q, t), axis=2), v)",
)
_HEADS = (
    "q: f32[B, N, 32]; k: f32[B, M, 16]; v: f32[B, M, 12]; "
    "a = Transpose(Reshape(q, i64([0, 0, 4, 8])), perm=[0, 2, 1, 3]); "
    "b = Transpose(Reshape(k, i64([0, 0, 2, 8])), perm=[0, 2, 1, 3]); "
    "c = Transpose(Reshape(v, i64([0, 0, 2, 6])), perm=[0, 2, 1, 3]); "
)
_SHARED = (
    "q: f32[2, 4, 5, 8]; k: f32[2, 2, 3, 8]; v: f32[2, 2, 3, 6]; "
    "a = Reshape(Expand(Unsqueeze(k, i64([{0}])), i64([2, 2, 2, 3, 8])), i64([2, 4, 3, 8])); "
    "b = Reshape(Expand(Unsqueeze(v, i64([{0}])), i64([2, 2, 2, 3, 6])), i64([2, 4, 3, 6])); "
    "m: bool[5, 3]; y = Attention(q, a, b, m, scale=0.5)"
)
_JOINED = "y = Reshape(Transpose(h, perm=[0, 2, 1, 3]), i64([0, 0, 24]))"
_RMS = "x: f32[2, 3, 4]; s: f32[4] = weight; h = RMSNormalization(x, s, epsilon=0.5); "


def _at_23(*cases: Case) -> list[Case]:
    return [Case(c.rule, c.fires, c.text, c.after, 23, c.specials) for c in cases]


def _spellings(name: str, scores: str) -> list[Case]:
    """With a mask that is added, with PyTorch's guard, and without."""
    other = [text.replace("MatMul(q, t)", scores) for text in _LOOKS_LIKE]
    masked = _QTV + _MASK + _END.format(f"Add({scores}, m)")
    guarded = _QTV + _TRUTH + _GUARDED.format(f"Add({scores}, m)")
    dims, keys = ("2, 1, N, M", "4, N, M", "N, M"), ("2, 1, 1, M", "1, M")
    return [
        *acts(f"attention.{name}", _QTV + _END.format(scores)),
        *rests(f"attention.{name}", *other),
        *acts(f"attention.{name}_masked", *(masked.replace(dims[0], each) for each in dims)),
        *rests(
            f"attention.{name}_masked", *(masked.replace(dims[0], each) for each in (*keys, "M"))
        ),
        *acts(f"attention.{name}_masked_keys", *(masked.replace(dims[0], each) for each in keys)),
        *rests(
            f"attention.{name}_masked_keys",
            *(masked.replace(dims[0], each) for each in (*dims, "M")),
        ),
        *acts(f"attention.{name}_guarded", *(guarded.replace(dims[0], each) for each in dims)),
        *rests(
            f"attention.{name}_guarded",
            *(guarded.replace(dims[0], each) for each in (*keys, "M")),
            guarded.replace("1e39", "3.4e38"),
        ),
    ]


CASES: list[Case] = _at_23(
    *_spellings("attention", "MatMul(q, t)"),
    *_spellings("attention_scaled", "Mul(MatMul(q, t), f32(0.5))"),
    *rests("attention.attention_scaled", _QTV + _END.format("Mul(MatMul(q, t), f32(-0.5))")),
    *acts(
        "attention.limit_twice",
        _QTV + _MASK + _END.format("Add(MatMul(q, t), m)"),
        after=("attention.attention_masked", "attention.attention_masked_spelt"),
    ),
    *acts(
        "attention.attention_of_scaled_queries",
        _QKV + "y = Attention(Mul(q, f32(0.5)), k, v, scale=0.25)",
        _QKV + "m: bool[5, 3]; y = Attention(Mul(f32([2]), q), k, v, m, softcap=0.5, is_causal=1)",
    ),
    *rests(
        "attention.attention_of_scaled_queries",
        _QKV + "y = Attention(Mul(q, f32(-0.5)), k, v)",
        _QKV + "c: f32[8] = weight; y = Attention(Mul(q, c), k, v)",
    ),
    *acts(
        "attention.attention_of_scaled_keys",
        _QKV + "y = Attention(q, Mul(k, f32(0.5)), v, scale=0.25)",
    ),
    *rests(
        "attention.attention_of_scaled_keys",
        _QKV + "y = Attention(q, Mul(k, f32(-0.5)), v)",
        _QKV + "c: f32[8] = weight; y = Attention(q, Mul(k, c), v)",
    ),
    *acts(
        "attention.attention_of_truth",
        _QKV + "m: bool[5, 3]; y = Attention(q, k, v, Where(m, f32(0), f32(-1e39)))",
    ),
    *rests(
        "attention.attention_of_truth",
        _QKV + "m: bool[5, 3]; y = Attention(q, k, v, Where(m, f32(0), f32(-3e38)))",
        _QKV + "m: bool[5, 3]; y = Attention(q, k, v, Where(m, f32(1), f32(-1e39)))",
        _QKV
        + "m: bool[5, 1]; o: f32[1, 3] = weight; y = Attention(q, k, v, Where(m, Mul(o, f32(0)), f32(-1e39)))",
    ),
    *acts("attention.attention_of_repeated_heads", _SHARED.format(2)),
    *rests("attention.attention_of_repeated_heads", _SHARED.format(1)),
    *acts(
        "attention.attention_of_rows",
        _HEADS + "h = Attention(a, b, c, scale=0.5); " + _JOINED,
        _HEADS + "m: bool[N, M]; h = Attention(a, b, c, m, is_causal=1, softcap=0.5); " + _JOINED,
    ),
    *rests(
        "attention.attention_of_rows",
        _HEADS + "h = Attention(a, b, c, scale=0.5); y = Reshape(h, i64([0, 0, -1]))",
        _HEADS.replace(
            "b = Transpose(Reshape(k, i64([0, 0, 2, 8])), perm=[0, 2, 1, 3])",
            "b = Reshape(k, i64([0, 2, -1, 8]))",
        )
        + "h = Attention(a, b, c, scale=0.5); "
        + _JOINED,
    ),
    *acts(
        "attention.attention_of_heads",
        "q: f32[2, N, 32]; k: f32[2, M, 16]; v: f32[2, M, 12]; m: f32[N, M]; y = Attention(q, k, v, m, scale=0.25, q_num_heads=4, kv_num_heads=2)",
    ),
    *rests("attention.attention_of_heads", _QKV + "y = Attention(q, k, v)"),
    *acts(
        "attention.attention_spelt",
        _QKV + "y = Attention(q, k, v)",
        _QKV + "y = Attention(q, k, v, scale=2.0)",
    ),
    *rests(
        "attention.attention_spelt",
        _QKV + "y = Attention(q, k, v, is_causal=1)",
        _QKV + "y = Attention(q, k, v, softcap=1.0)",
        _QKV.replace("4, 3", "2, 3") + "y = Attention(q, k, v)",
        (_QKV + "y = Attention(q, k, v)").replace("f32", "f64"),
    ),
    *acts(
        "attention.attention_masked_spelt",
        _QKV + "m: f32[5, 3]; y = Attention(q, k, v, m)",
        _QKV + "m: f32[2, 4, 5, 3]; y = Attention(q, k, v, m)",
    ),
    *rests(
        "attention.attention_masked_spelt",
        _QKV + "m: bool[5, 3]; y = Attention(q, k, v, m)",
        _QKV + "m: f32[5, 3]; y = Attention(q, k, v, m, is_causal=1)",
    ),
    *acts(
        "rms.rms_norm_operator",
        "x: f32[2, 3, 4]; s: f32[4] = weight; r = Sqrt(Add(ReduceMean(Mul(x, x), i64([-1])), f32(0.5))); y = Mul(s, Div(x, r))",
        after=("fused.rms_norm",),
    ),
    *acts("rms.rms_norm_spelt", _RMS + "y = Abs(h)"),
    *rests(
        "rms.rms_norm_spelt",
        _RMS.replace("epsilon", "axis=1, epsilon") + "y = Abs(h)",
        (_RMS + "y = Abs(h)").replace("f32", "f64"),
    ),
    *acts("rms.rms_norm_scale", _RMS + "c: f32[4] = weight; y = Mul(c, h)"),
    *rests(
        "rms.rms_norm_scale",
        _RMS + "c: f32[4]; y = Mul(c, h)",
        _RMS + "c: f32[3, 1] = weight; y = Mul(c, h)",
    ),
    *acts("rms.gather_rms_norm", _RMS + "y = Gather(h, i64(-1), axis=1)"),
    *rests("rms.gather_rms_norm", _RMS + "y = Gather(h, i64(-1), axis=2)"),
    *acts("rms.slice_rms_norm", _RMS + "y = Slice(h, i64([1]), i64([2]), i64([1]))"),
    *rests("rms.slice_rms_norm", _RMS + "y = Slice(h, i64([1]), i64([2]), i64([2]))"),
)
