# ruff: noqa: E501  (a line is a model)
"""Cases of `fused` about instance and group normalisation."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[2, 3, 4, N]; "
_MEAN = "c = Sub(x, ReduceMean(x, i64([2, -1]))); "
_ROOT = "r = Sqrt(Add(ReduceMean(Mul(c, c), i64([2, 3])), f32(1e-3))); "
_SPELT = _X + _MEAN + _ROOT
_FEW = "s: f32[3] = weight; o: f32[3] = weight; "
_IN = _X + _FEW + "h = InstanceNormalization(x, s, o, epsilon=0.01); "
_SQUARE = "x: f32[2, 3, 3, 3]; " + _FEW + "h = InstanceNormalization(x, s, o); "
_GN = "s: f32[6]; o: f32[6]; y = GroupNormalization(x, s, o, num_groups={}, epsilon=0.01)"


def _elsewhere(end: str) -> list[str]:
    """Spelt out, but of other axes, another type, another tensor, or numbers for each place."""
    return [
        _SPELT.replace("[2, -1]", "[1, 2]") + end,
        _SPELT.replace("[2, 3])), f32", "[2])), f32") + end,
        (_SPELT + end).replace("f32", "f64"),
        (_SPELT + end).replace("c, r)", "x, r)").replace("(r), c)", "(r), x)"),
        (_SPELT + end).replace("4, N]", "N]").replace("[2, -1]", "[2]").replace("[2, 3])", "[2])"),
        ("x: f32[3, 3]; " + _MEAN + _ROOT + end).replace("[2, -1]", "[1]").replace("[2, 3]", "[1]"),
        _SPELT.replace("N]", "5]").replace("f32(1e-3)", "f32([1, 2, 3, 4, 5])") + end,
    ]


CASES: list[Case] = [
    *acts(
        "fused.instance_norm",
        _SPELT + "y = Div(c, r)",
        (_SPELT + "y = Div(c, r)").replace("4, N]", "4, 2, N]").replace("2, -1]", "2, 3, -1]").replace("2, 3])), f", "2, 3, 4])), f"),
    ),
    *rests("fused.instance_norm", *_elsewhere("y = Div(c, r)")),
    *acts("fused.instance_norm_reciprocal", _SPELT + "y = Mul(Reciprocal(r), c)"),
    *rests("fused.instance_norm_reciprocal", *_elsewhere("y = Mul(Reciprocal(r), c)")),
    *acts(
        "fused.instance_norm_scale",
        _IN + "k: f32[3, 1, 1] = weight; y = Mul(k, h)",
        _IN + "k: f32[1, 3, 1, 1] = weight; y = Mul(h, k)",
    ),
    *rests(
        "fused.instance_norm_scale",
        _SQUARE + "k: f32[3, 1] = weight; y = Mul(k, h)",
        _SQUARE + "k: f32[1, 1, 1] = weight; y = Mul(k, h)",
        _SQUARE + "k: f32[3, 1, 1]; y = Mul(k, h)",
        _SQUARE.replace("s: f32[3] = weight", "s: f32[3]") + "k: f32[3, 1, 1] = weight; y = Mul(k, h)",
        _SQUARE.replace("o: f32[3] = weight", "o: f32[3]") + "k: f32[3, 1, 1] = weight; y = Mul(k, h)",
    ),
    *acts("fused.instance_norm_shift", _IN + "k: f32[3, 1, 1] = weight; y = Add(k, h)"),
    *rests(
        "fused.instance_norm_shift",
        _SQUARE + "k: f32[3, 1] = weight; y = Add(k, h)",
        _SQUARE + "k: f32[3, 1, 1]; y = Add(k, h)",
        _SQUARE.replace("o: f32[3] = weight", "o: f32[3]") + "k: f32[3, 1, 1] = weight; y = Add(k, h)",
    ),
    *acts(
        "fused.group_norm_spelt",
        "x: f32[2, 6, 4, N]; " + _GN.format(3),
        "x: f32[N, 6, 5]; " + _GN.format(1),
        "x: f32[2, 6]; " + _GN.format(2),
    ),
    *rests("fused.group_norm_spelt", ("x: f32[2, 6, 4]; " + _GN.format(3)).replace("f32", "f64")),
]  # fmt: skip
