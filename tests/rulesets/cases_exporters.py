# ruff: noqa: E501  (a line is a model)
"""Cases of rules for what exporters write: TensorFlow's channels last, PyTorch's shapes."""

from __future__ import annotations

from rule_cases import Case, acts, rests

SQUEEZES: list[Case] = [
    *acts(
        "reshape.squeeze_back",
        "x: f32[N, L]; y = Squeeze(Unsqueeze(x, i64([1])), i64([-2]))",
        "x: f32[N, L, 1]; y = Squeeze(Reshape(x, i64([0, 0, 1, 1])), i64([2]))",
    ),
    *rests(
        "reshape.squeeze_back", "x: f32[N, L]; y = Squeeze(Unsqueeze(x, i64([0, 1])), i64([1]))"
    ),
    *acts(
        "reshape.unsqueeze_back",
        "x: f32[N, 1, L]; y = Unsqueeze(Squeeze(x, i64([1])), i64([1]))",
        "x: f32[N, 1, L, 1]; y = Unsqueeze(Squeeze(x, i64([3, 1])), i64([-1, 1]))",
    ),
    *rests(
        "reshape.unsqueeze_back", "x: f32[N, 1, L]; y = Unsqueeze(Squeeze(x, i64([1])), i64([2]))"
    ),
    *acts(
        "reshape.reshape_back",
        "x: f32[N, L, 6]; y = Reshape(Reshape(x, i64([0, 0, 2, 3])), i64([0, 0, 6]))",
        "x: f32[N, L]; y = Reshape(Unsqueeze(x, i64([2])), i64([0, 0]))",
    ),
    *rests(
        "reshape.reshape_back",
        "x: f32[N, L, 6]; y = Reshape(Reshape(x, i64([0, 0, 2, 3])), i64([0, -1, 6, 1]))",
    ),
    *acts(
        "reshape.transpose_of_reshaped",
        "x: f32[N, 8]; y = Transpose(Reshape(x, i64([-1, 1, 1, 8])), perm=[0, 3, 1, 2])",
        "x: f32[4, 2]; y = Transpose(Flatten(x, axis=0), perm=[1, 0])",
    ),
    *rests(
        "reshape.transpose_of_reshaped",
        "x: f32[N, 8]; y = Transpose(Reshape(x, i64([-1, 2, 1, 4])), perm=[0, 3, 1, 2])",
        "x: f32[N, 8]; y = Transpose(Unsqueeze(x, i64([0])), perm=[2, 1, 0])",
    ),
    *acts(
        "reshape.unsqueeze_unsqueeze",
        "x: f32[N, L]; y = Unsqueeze(Unsqueeze(x, i64([1])), i64([1]))",
        "x: f32[N, L]; y = Unsqueeze(Unsqueeze(x, i64([2, 0])), i64([-2]))",
    ),
    *rests(
        "reshape.unsqueeze_unsqueeze",
        "x: f32[N, L]; y = Unsqueeze(Unsqueeze(x, i64([1])), i64([1, 2]))",
        "x: f32[N, L]; y = Unsqueeze(Relu(Unsqueeze(x, i64([1]))), i64([1]))",
    ),
    *acts(
        "reshape.squeeze_squeeze",
        "x: f32[N, 1, L, 1]; y = Squeeze(Squeeze(x, i64([1])), i64([2]))",
        "x: f32[1, N, 1, L, 1]; y = Squeeze(Squeeze(x, i64([-3])), i64([0, -1]))",
    ),
    *rests(
        "reshape.squeeze_squeeze",
        "x: f32[1, N, 1, L, 1]; y = Squeeze(Squeeze(x, i64([0, 2])), i64([-1]))",
    ),
    *acts("reshape.squeeze_sink", "x: f32[N, 1, L]; y = F(Squeeze(x, i64([1])))"),
    *rests("reshape.squeeze_sink", "x: f32[N, L]; y = F(Unsqueeze(x, i64([1])))"),
    *acts(
        "reshape.squeeze_sink_weight",
        "x: f32[N, 1, L, 4]; c: f32[4] = weight; y = F(Squeeze(x, i64([1])), c)",
        "x: f32[N, 1, L]; y = F(Squeeze(x, i64([-2])), f32(3))",
    ),
    *rests(
        "reshape.squeeze_sink_weight",
        "x: f32[N, 4, 1]; c: f32[4] = weight; y = F(Squeeze(x, i64([2])), c)",
        "x: f32[N, 1, 4]; c: f32[4]; y = F(Squeeze(x, i64([1])), c)",
    ),
]

_SHUFFLE = "x: f32[4, 16, 3, 2]; y = Reshape(Transpose(Reshape(x, i64([4, 4, 2, 2, 3, 2])), perm=[0, 1, 4, 2, 5, 3]), i64([4, 4, 6, 4]))"
_FRONT = "Concat(Slice(Shape(x), i64([0]), i64([{}]), i64([0])), i64({}), axis=0)"

SHAPES: list[Case] = [
    *acts(
        "reshape.reshape_rest_one",
        f"x: f32[N, H, W]; y = Reshape(x, {_FRONT.format(1, [-1])})",
    ),
    *rests(
        "reshape.reshape_rest_one",
        "x: f32[N, H, W]; y = Reshape(x, i64([-1, 1]))",
        f"x: f32[N, 6]; y = Reshape(x, {_FRONT.format(1, [2, 3])})",
    ),
    *acts(
        "reshape.reshape_rest_two",
        f"x: f32[N, C, H, W]; y = Reshape(x, {_FRONT.format(2, [-1])})",
        f"x: f32[N, C, H, 6]; y = Reshape(x, {_FRONT.format(2, [-1, 3])})",
        f"x: f32[N, C, H, W]; y = Reshape(x, {_FRONT.format(2, [-1])}, allowzero=1)",
    ),
    *rests(
        "reshape.reshape_rest_two",
        f"x: f32[N, C, H, W]; y = Reshape(x, {_FRONT.format(1, [-1])})",
        f"x: f32[N, C, 6]; y = Reshape(x, {_FRONT.format(2, [2, 3])})",
    ),
    *acts(
        "reshape.pixel_shuffle",
        _SHUFFLE,
        _SHUFFLE.replace("[4, 16", "[N, 16").replace("[4, 4,", "[-1, 4,"),
        "x: f64[2, 9, 1, 2]; y = Reshape(Transpose(Reshape(x, i64([2, 1, 3, 3, 1, 2])), perm=[0, 1, 4, 2, 5, 3]), i64([2, 1, 3, 6]))",
    ),
    *rests(
        "reshape.pixel_shuffle",
        _SHUFFLE.replace("2, 5, 3", "3, 5, 2"),
        _SHUFFLE.replace("6, 4]", "4, 6]"),
        _SHUFFLE.replace("f32", "i32"),
        "x: f32[2, 8, 1, 1]; y = Reshape(Transpose(Reshape(x, i64([2, 2, 2, 2, 1, 1])), perm=[0, 1, 2, 4, 3, 5]), i64([2, 2, 2, 2]))",
        "x: f32[2, 6, 2, 2]; y = Reshape(Transpose(Reshape(x, i64([2, 1, 3, 2, 2, 2])), perm=[0, 1, 4, 2, 5, 3]), i64([2, 1, 6, 4]))",
    ),
    *acts("identity.where_not", "c: bool[2, 1]; x: f32[N]; y = Where(Not(c), x, f32(0))"),
    *rests("identity.where_not", "c: bool[2, 1]; x: f32[3]; y = Where(c, x, f32(0))"),
    *acts(
        "concat.pad_axes",
        "x: f32[2, 3, H, W]; y = Pad(x, i64([1, 2, 3, 4]), None, i64([2, 3]))",
        "x: f32[2, 3]; y = Pad(x, i64([1, 0]), f32(2), i64([-1]))",
        "x: f32[2, 3]; y = Pad(x, i64([1, 0, 0, 1]), None, i64([0, 1]), mode='edge')",
    ),
    *rests(
        "concat.pad_axes",
        "x: f32[2, 3]; y = Pad(x, i64([1, 2, 3, 4]), None, i64([1, 0]))",
        "x: f32[2, 3]; y = Pad(x, i64([1, 2]), None, i64([0]))",
        "x: f32[2, 3]; p: i64[2]; y = Pad(x, p, None, i64([1]))",
    ),
]

_IMAGE = "x: f32[N, 4, 2, 3]; c: f32[4, 1, 1] = weight; "
_V = "v: f32[6, 4, 1, 1] = weight; "
_W = "w: f32[2, 6, 3, 3] = weight; "
_A = "a: f32[6] = weight; "
_LINEAR = "x: f32[N, L, 3]; w: f32[3, 4] = weight; b: f32[4] = weight; "
_LOWEST = "x: f32[2, 3, 6, 6]; y = MaxPool(Pad(x, i64([0, 0, 1, 0, 0, 0, 0, 1]), f32(-3.4028234e38)), kernel_shape=[2, 3])"

WEIGHTS: list[Case] = [
    *acts(
        "linear.linear_scale_columns",
        _LINEAR + "c: f32[4] = weight; y = Mul(Add(MatMul(x, w), b), c)",
        _LINEAR + "c: f32[1, 1, 1, 4] = weight; y = Mul(c, Add(b, MatMul(x, w)))",
        "x: f32[N, L, 3]; w: f32[3, 4] = weight; b: f32[1, 5, 4] = weight; c: f32[4] = weight; y = Mul(Add(MatMul(x, w), b), c)",
    ),
    *rests(
        "linear.linear_scale_columns",
        _LINEAR + "c: f32[4]; y = Mul(Add(MatMul(x, w), b), c)",
        _LINEAR + "c: f32[4, 1] = weight; y = Mul(Add(MatMul(x, w), b), c)",
        _LINEAR + "c: f32[2, 1, 4] = weight; y = Mul(Add(MatMul(x, w), b), c)",
        _LINEAR + "d: f32[4]; c: f32[4] = weight; y = Mul(Add(MatMul(x, w), d), c)",
        "x: f32[N, L, 3]; w: f32[3, 4]; b: f32[4] = weight; c: f32[4] = weight; y = Mul(Add(MatMul(x, w), b), c)",
    ),
    *acts(
        "linear.reshape_affine",
        _IMAGE + "y = Reshape(F(x, c), i64([-1, 24]))",
        "x: f32[N, 4, 2, 3]; c: f32[1, 4, 2, 1] = weight; y = Reshape(F(x, c), i64([0, 24]))",
    ),
    *rests(
        "linear.reshape_affine",
        _IMAGE + "y = Reshape(F(x, c), i64([-1, 12]))",
        "x: f32[N, 4, 2, 3]; c: f32[4, 1, 1]; y = Reshape(F(x, c), i64([-1, 24]))",
        "x: f32[2, 4, 2, 3]; c: f32[2, 1, 1, 1] = weight; y = Reshape(F(x, c), i64([-1, 24]))",
    ),
    *acts("linear.flatten_affine", _IMAGE + "y = Flatten(F(x, c))"),
    *rests(
        "linear.flatten_affine",
        _IMAGE + "y = Flatten(F(x, c), axis=2)",
        "x: f32[N, 4, 2, 3]; c: f32[4, 1, 1]; y = Flatten(F(x, c))",
        "x: f32[2, 4, 2, 3]; c: f32[2, 1, 1, 1] = weight; y = Flatten(F(x, c))",
    ),
    *acts(
        "linear.conv_1x1_bias_then",
        "x: f32[N, 4, 6, 6]; " + _V + _A + _W + "y = Conv(Conv(x, v, a), w, strides=[2, 2])",
        "x: f32[N, 4, 6, 6]; " + _V + _A + _W + "y = Conv(Conv(x, v, a), w, auto_pad='VALID')",
    ),
    *rests(
        "linear.conv_1x1_bias_then",
        "x: f32[N, 4, 6, 6]; " + _V + _A + _W + "y = Conv(Conv(x, v, a), w, pads=[1, 0, 0, 0])",
        "x: f32[N, 4, 6, 6]; " + _V + _A + _W + "y = Conv(Conv(x, v), w)",
        "x: f32[N, 4, 6, 6]; "
        + _V
        + _A
        + "w: f32[2, 3, 3, 3] = weight; y = Conv(Conv(x, v, a), w, group=2)",
        "x: f32[N, 4, 6, 6]; " + _V + "a: f32[6]; " + _W + "y = Conv(Conv(x, v, a), w)",
        "x: f32[N, 4, 6, 6]; " + _V + _A + "w: f32[2, 6, 3, 3]; y = Conv(Conv(x, v, a), w)",
        "x: f32[N, 4, 6, 6]; v: f32[6, 4, 1, 1]; " + _A + _W + "y = Conv(Conv(x, v, a), w)",
    ),
    *acts(
        "fold.maximum_of_padded_lowest",
        _LOWEST,
        _LOWEST.replace("-3.4028234e38", "-1e999"),
        "x: f32[1, 2, N]; y = MaxPool(Pad(x, i64([0, 0, 1, 0, 0, 1]), f32(-1e999)), kernel_shape=[3], strides=[2])",
    ),
    *rests(
        "fold.maximum_of_padded_lowest",
        _LOWEST.replace("-3.4028234e38", "-1e30"),
        _LOWEST.replace("1, 0, 0, 0, 0, 1", "2, 0, 0, 0, 0, 1"),
        _LOWEST.replace("1, 0, 0, 0, 0, 1", "1, 0, 0, 1, 0, 1"),
        _LOWEST.replace("1, 0, 0, 0, 0, 1", "-1, 0, 0, 0, 0, 1"),
        _LOWEST.replace("=[2, 3]", "=[2, 3], pads=[0, 1, 0, 0]"),
        _LOWEST.replace("0, 0, 1, 0, 0, 0, 0, 1", "1, 0, 1, 0, 0, 0, 0, 1"),
        _LOWEST.replace("0, 0, 1, 0, 0, 0, 0, 1", "0, 1, 1, 0, 0, 0, 0, 1"),
        _LOWEST.replace("0, 0, 1, 0, 0, 0, 0, 1", "0, 0, 1, 0, 1, 0, 0, 1"),
        _LOWEST.replace(
            "f32(-3.4028234e38)), kernel_shape=[2, 3]",
            "f32(-3e38)), kernel_shape=[2, 3], auto_pad='SAME_UPPER'",
        ),
        _LOWEST.replace("f32", "f64"),
    ),
]

_X3 = "x: f32[2, N]; "
_CLIP = "h = Clip(Add(x, f32(3)), f32(0), f32(6)); "

ACTIVATIONS: list[Case] = [
    *acts(
        "arithmetic.clip_as_min_of_max",
        _X3 + "y = Min(Max(x, f32(-1)), f32([0.5]))",
        "x: f64[2]; y = Min(f64(6), Max(f64([0]), x))",
    ),
    *rests(
        "arithmetic.clip_as_min_of_max",
        _X3 + "y = Min(Max(x, f32(1)), f32(0.5))",
        _X3 + "c: f32; y = Min(Max(x, c), f32(0.5))",
        _X3 + "c: f32; y = Min(Max(x, f32(1)), c)",
        "x: i32[2]; y = Min(Max(x, i32(1)), i32(5))",
        "x: f32[2]; y = Min(Max(x, f32([1, 2])), f32(5))",
        "x: f32[2]; y = Min(Max(x, f32(0)), f32([1, 2]))",
    ),
    *acts("arithmetic.clip_as_min_of_relu", _X3 + "y = Min(Relu(x), f32([6]))"),
    *rests(
        "arithmetic.clip_as_min_of_relu",
        _X3 + "y = Min(Relu(x), f32(-1))",
        _X3 + "c: f32; y = Min(Relu(x), c)",
        "x: f32[2]; y = Min(Relu(x), f32([1, 2]))",
        "x: i32[2]; y = Min(Relu(x), i32(5))",
    ),
    *acts(
        "arithmetic.leaky_relu_as_max",
        _X3 + "y = Max(Mul(f32(0.1), x), x)",
        _X3 + "y = Max(x, Mul(x, f32([1])))",
    ),
    *rests(
        "arithmetic.leaky_relu_as_max",
        _X3 + "y = Max(x, Mul(x, f32(1.5)))",
        _X3 + "y = Max(x, Mul(x, f32(-0.5)))",
        _X3 + "z: f32[2, N]; y = Max(x, Mul(z, f32(0.5)))",
        "x: f32[2]; y = Max(x, Mul(x, f32([0.5, 0.1])))",
        "x: f64[2]; y = Max(x, Mul(x, f64(0.5)))",
    ),
    *(
        case
        for name, product in (
            ("hard_sigmoid_scaled", "y = Mul(h, f32(0.16666667))"),
            ("hard_swish_scaled", "y = Mul(Mul(x, h), f32([0.16666667]))"),
        )
        for case in (
            *acts(f"arithmetic.{name}", _X3 + _CLIP + product),
            *rests(
                f"arithmetic.{name}",
                _X3 + _CLIP + product.replace("0.1666", "0.1665"),
                _X3 + _CLIP.replace("f32(0)", "f32(1)") + product,
                _X3 + _CLIP.replace("f32(6)", "f32(-6)") + product.replace("0.1", "-0.1"),
                _X3 + "c: f32[2, 1]; " + _CLIP.replace("f32(3)", "c") + product,
                (_X3 + _CLIP + product).replace("f32", "f64"),
            ),
        )
    ),
]

_AFFINE = "x: f32[2, N, 6]; g: f32[6] = weight; b: f32[6] = weight; m = ReduceMean(x, i64([-1])); d = Sub(x, m); "
_ROOT = "Reciprocal(Sqrt(Add(ReduceMean(Mul(d, d), i64([2])), f32(1e-5))))"
_TF = _AFFINE + f"f = Mul({_ROOT}, g); y = Add(Mul(x, f), Sub(b, Mul(m, f)))"
_SCALED = _AFFINE + f"y = Mul(d, Mul(g, {_ROOT}))"
_FAST = "x: f32[2, N]; h = Add(f32(1), Tanh(Mul(Mul(x, f32(0.7978845)), Add(f32(1), Mul(Mul(x, f32(0.044715)), x))))); "

NORMS: list[Case] = [
    *acts("fused.layer_norm_affine", _TF),
    *rests(
        "fused.layer_norm_affine",
        _TF.replace("i64([2])", "i64([1])"),
        _TF.replace("i64([-1])", "i64([1])"),
        _TF.replace("Mul(m, f)", "Mul(d, f)"),
        _TF.replace("g: f32[6] = weight", "g: f32[6]"),
        _TF.replace("b: f32[6] = weight", "b: f32[6]"),
        _TF.replace("f32(1e-5)", "f32([1, 2, 3, 4, 5, 6])"),
        _TF.replace("f32", "f64"),
    ),
    *acts("fused.layer_norm_of_scaled", _SCALED),
    *rests(
        "fused.layer_norm_of_scaled",
        _SCALED.replace("i64([2])", "i64([1])"),
        _SCALED.replace("i64([-1])", "i64([1])"),
        _SCALED.replace("g: f32[6] = weight", "g: f32[6]"),
        _SCALED.replace("f32(1e-5)", "f32([1, 2, 3, 4, 5, 6])"),
        _SCALED.replace("f32", "f64"),
    ),
    *acts("fused.gelu_tanh_half_before", _FAST + "y = Mul(Mul(x, f32(0.5)), h)"),
    *rests(
        "fused.gelu_tanh_half_before",
        _FAST.replace("0.044715", "0.04") + "y = Mul(Mul(x, f32(0.5)), h)",
        _FAST.replace("0.7978845", "0.7") + "y = Mul(Mul(x, f32(0.5)), h)",
        (_FAST + "y = Mul(Mul(x, f32(0.5)), h)").replace("f32", "f64"),
    ),
]

CASES = [*SQUEEZES, *SHAPES, *WEIGHTS, *ACTIVATIONS, *NORMS]
