# ruff: noqa: E501  (a line is a model)
"""Cases of rules for what exporters of Keras and TensorFlow write, and PyTorch's attention."""

from __future__ import annotations

from rule_cases import Case, acts, rests

_X = "x: f32[N, 4, 2]; c: f32[4, 1] = weight; "
_PRELUS = {
    "prelu_of_negative": "y = Add(Relu(x), Mul(c, Relu(Neg(x))))",
    "prelu_of_lower": "y = Add(Mul(Min(f32(0), x), c), Relu(x))",
    "prelu_of_absolute": "y = Add(Relu(x), Mul(Sub(x, Abs(x)), c))",
}
_CHOICE = "c: bool[N, 3]; x: i32[N, 3]; y = Add(Mul(Cast(c, to=6), {}), Mul(x, Cast(Not(c), to=6)))"

ARITHMETIC: list[Case] = [
    *acts(
        "arithmetic.add_neg_product",
        "x: f32[2, N]; y: f32[2, 1]; z: f32[N]; u = Add(Mul(z, Neg(y)), x)",
        "x: i32[2]; y: i32[2]; u = Add(x, Mul(Neg(y), y))",
    ),
    *rests("arithmetic.add_neg_product", "x: f32[2]; y: f32[2]; u = Add(x, Neg(Mul(y, y)))"),
    *acts(
        "arithmetic.choice_spelt",
        _CHOICE.format("Add(x, i32(3))"),
        _CHOICE.replace("i32[", "f32[").replace("to=6", "to=1").format("x"),
        "c: bool[3, 1]; x: i64[3, 2]; z: i64[2]; y = Add(Mul(x, Cast(c, to=7)), Mul(z, Cast(Not(c), to=7)))",
    ),
    *rests(
        "arithmetic.choice_spelt",
        _CHOICE.format("x").replace("Not(c)", "c"),
        _CHOICE.format("x").replace("Add", "Sub"),
        _CHOICE.replace("i32[", "f16[").replace("to=6", "to=10").format("x"),
        "c: i32[3]; b: bool[3]; x: i32[3]; y = Add(Mul(Cast(c, to=6), x), Mul(x, Cast(Not(b), to=6)))",
    ),
    *(
        case
        for name, sum_ in _PRELUS.items()
        for case in (
            *acts(f"arithmetic.{name}", _X + sum_),
            *rests(
                f"arithmetic.{name}",
                _X.replace(" = weight", "") + sum_,
                (_X + sum_).replace("f32", "f64"),
                _X + "z: f32[N, 4, 2]; " + sum_.replace("Relu(x)", "Relu(z)", 1),
            ),
        )
    ),
    *acts(
        "arithmetic.prelu_spelt",
        "x: f32[N, 4, 2]; c: f32[4, 1]; y = PRelu(x, c)",
        "x: f32[2, N]; c: f32 = weight; y = PRelu(x, c)",
    ),
    *rests("arithmetic.prelu_spelt", "x: f64[2]; c: f64; y = PRelu(x, c)"),
    *acts(
        "cast.sign_before_cast",
        "x: i32[N]; y = F(Cast(x, to=1), f32(0))",
        "x: i64[2, N]; y = F(Cast(x, to=11), f64([0]))",
    ),
    *rests(
        "cast.sign_before_cast",
        "x: i32[N]; y = F(Cast(x, to=1), f32(1))",
        "x: f64[N]; y = F(Cast(x, to=1), f32(0))",
        "x: i64[N]; y = F(Cast(x, to=6), i32(0))",
        "x: i32[N]; z: f32; y = F(Cast(x, to=1), z)",
    ),
]

_SQUARES = "x: f32[2, N, 6]; g: f32[1, 1, 6] = weight; b: f32[1, 6] = weight; m = {0}; d = Sub(x, m); v = {1}; "
_TF = "f = Mul(Reciprocal(Sqrt(Add(v, f32(1e-5)))), g); y = Add(Mul(x, f), Sub(b, Mul(m, f)))"
_MEANS = _SQUARES.format("ReduceMean(x, i64([-1]))", "ReduceMean(Mul(d, d), i64([-1]))")

NORMS: list[Case] = [
    *acts("fused.layer_norm_affine", _MEANS + _TF),
    *rests(
        "fused.layer_norm_affine",
        _MEANS.replace("N, 6]; g: f32[1, 1, 6]", "3, 6]; g: f32[1, 3, 6]") + _TF,
        _MEANS.replace("N, 6]", "3, 6]").replace("b: f32[1, 6]", "b: f32[3, 6]") + _TF,
    ),
    *acts("fused.mean_as_pooling", "x: f32[2, N, L]; y = GlobalAveragePool(x)"),
    *rests(
        "fused.mean_as_pooling",
        "x: f32[2, N, 3, 3]; y = GlobalAveragePool(x)",
        "x: f16[2, N, 3]; y = GlobalAveragePool(x)",
    ),
]

_ROWS = "x: f32[2, 3, 4]; w: f32[4, 5] = weight; y = Reshape(MatMul(Reshape(x, i64([6, 4])), w), i64([2, 3, 5]))"
_BATCHES = "x: f32[2, 3, 4, N]; z: f32[2, 3, N, 5]; y = MatMul(Reshape(x, i64([6, 4, -1])), Reshape(z, i64([6, -1, 5])))"
_CONV = "x: f32[N, 4, L]; w: f32[6, 2, 1, 3] = weight; b: f32[6] = weight; y = Squeeze(Conv(Unsqueeze(x, i64([2])), w, b, group=2, pads=[0, 2, 0, 1], strides=[1, 2], dilations=[1, 2]), i64([-2]))"

LINEAR: list[Case] = [
    *acts(
        "linear.matmul_of_rows",
        _ROWS,
        "x: f32[N, L, 4]; w: f32[4, 5]; y = Reshape(MatMul(Reshape(x, i64([-1, 4])), w), Concat(Shape(x, start=0, end=2), i64([5]), axis=0))",
    ),
    *rests(
        "linear.matmul_of_rows",
        _ROWS.replace("[2, 3, 5]", "[3, 2, 5]"),
        _ROWS.replace("[2, 3, 4]", "[2, 4, 3]"),
    ),
    *acts(
        "linear.matmul_of_batches",
        _BATCHES,
        _BATCHES.replace("[2,", "[B,")
        .replace("6, ", "-1, ")
        .replace("N", "7")
        .replace("1, -1", "1, 7")
        .replace("4, -1", "4, 7"),
    ),
    *rests(
        "linear.matmul_of_batches",
        _BATCHES.replace("f32[2, 3, N, 5]", "f32[3, 2, N, 5]"),
        "x: f32[6, 4, 5]; z: f32[6, 5, 4]; y = MatMul(Reshape(x, i64([6, 4, 5])), Reshape(z, i64([6, 5, 4])))",
    ),
    *acts(
        "linear.conv_of_one_axis",
        _CONV,
        _CONV.replace("[6, 2, 1, 3]", "[6, 2, 3, 1]")
        .replace("i64([2])", "i64([-1])")
        .replace("i64([-2])", "i64([3])")
        .replace("[0, 2, 0, 1]", "[2, 0, 1, 0]"),
        "x: f32[N, 4, 8]; w: f32[6, 4, 1, 3]; y = Squeeze(Conv(Unsqueeze(x, i64([2])), w), i64([2]))",
    ),
    *rests(
        "linear.conv_of_one_axis",
        _CONV.replace("[0, 2, 0, 1]", "[1, 2, 0, 1]").replace("[6, 2, 1, 3]", "[6, 2, 2, 3]"),
        _CONV.replace("[0, 2, 0, 1]", "[1, 2, 0, 1]").replace("strides=[1,", "strides=[2,"),
        _CONV.replace("[0, 2, 0, 1]", "[0, 2, 1, 1]").replace("strides=[1,", "strides=[2,"),
        _CONV.replace("pads=[0, 2, 0, 1]", "auto_pad='SAME_UPPER'"),
        "x: f32[2, 3, 3]; w: f32[4, 2, 1, 3] = weight; y = Squeeze(Conv(Unsqueeze(x, i64([1])), Gather(w, i64([0]), axis=1), pads=[0, 0, 0, 0]), i64([3]))",
        "x: f32[2, 3, 4]; w: f32[4, 3, 1, 4] = weight; y = Squeeze(Conv(Unsqueeze(x, i64([2])), w), i64([3]))",
    ),
]

_JOINED = "x: f32[2, 3, 4, N]; y = Transpose(Reshape(x, i64([6, 4, -1])), perm=[0, 2, 1])"
_HEADS = "x: f32[5, N, 6]; y = Reshape(Transpose(Reshape(x, i64([5, -1, 2])), perm=[1, 0, 2]), i64([-1, 3, 5, 2]))"
_KEYS = "x: f32[5, N, 6]; y = Reshape(Transpose(Reshape(x, i64([5, -1, 2])), perm=[1, 2, 0]), i64([-1, 3, 2, 5]))"

TRANSPOSITIONS: list[Case] = [
    *acts(
        "transpose.transpose_before_joining",
        _JOINED,
        "x: f32[2, N, 3, 4, 5]; y = Transpose(Reshape(x, i64([-1, 4, 5])), perm=[0, 2, 1])",
    ),
    *rests(
        "transpose.transpose_before_joining",
        _JOINED.replace("[0, 2, 1]", "[1, 0, 2]"),
        _JOINED.replace("[6, 4, -1]", "[4, 6, -1]"),
        "x: f32[2, 3, 4]; y = Transpose(Reshape(x, i64([2, 3, 4])), perm=[0, 2, 1])",
    ),
    *acts("transpose.transpose_of_heads", _HEADS),
    *rests(
        "transpose.transpose_of_heads",
        _HEADS.replace("[1, 0, 2]", "[2, 0, 1]").replace("[-1, 3, 5, 2]", "[2, -1, 5, 3]"),
        _HEADS.replace("N, 6", "4, 6").replace("[-1, 3, 5, 2]", "[2, 6, 5, 2]"),
        "x: f32[0, 4, 6]; y = Reshape(Transpose(Reshape(x, i64([0, 12, 2])), perm=[1, 0, 2]), i64([4, 5, 0, 2]), allowzero=1)",
    ),
    *acts("transpose.transpose_of_key_heads", _KEYS),
    *rests(
        "transpose.transpose_of_key_heads",
        _KEYS.replace("[1, 2, 0]", "[1, 0, 2]").replace("3, 2, 5", "3, 5, 2"),
        _KEYS.replace("N, 6", "4, 6").replace("[-1, 3, 2, 5]", "[2, 6, 2, 5]"),
        "x: f32[0, 4, 6]; y = Reshape(Transpose(Reshape(x, i64([0, 12, 2])), perm=[1, 2, 0]), i64([4, 5, 2, 0]), allowzero=1)",
    ),
    *acts(
        "transpose.transpose_before_unsqueeze",
        "x: f32[N, L, 3]; y = Transpose(Unsqueeze(x, i64([1])), perm=[0, 3, 1, 2])",
        "x: f32[N, L, 3]; y = Transpose(Unsqueeze(x, i64([-1])), perm=[3, 1, 0, 2])",
        "x: f32[N]; y = Transpose(Unsqueeze(x, i64([0])), perm=[1, 0])",
    ),
    *rests(
        "transpose.transpose_before_unsqueeze",
        "x: f32[N, 3]; y = Transpose(Unsqueeze(x, i64([0, 1])), perm=[1, 2, 3, 0])",
    ),
]

_LAST = "x: f32[N, L, 3]; y = Squeeze(Slice(x, i64([-1]), i64([9999]), i64([1])), i64([1]))"
_LSTM = "x: f32[5, B, 3]; w: f32[2, 16, 3] = weight; r: f32[2, 16, 4] = weight; "
_GRU = "x: f32[5, B, 3]; w: f32[2, 6, 3] = weight; r: f32[2, 6, 2] = weight; "
_ZEROS = "o = ConstantOfShape(Concat(Shape(x, start=1, end=2), i64([{}]), axis=0)); u = Unsqueeze(o, i64([0])); h = Concat(u, u, axis=0); "
_GIVEN = "o: f32[B, {}]; u = Unsqueeze(o, i64([0])); h = Concat(u, u, axis=0); "
_CELLS = {
    "lstm_from_sized_zeros": (_LSTM, 4, "y = LSTM(x, w, r, None, None, h, h, hidden_size=4, direction='bidirectional')"),
    "lstm_states_from_sized_zeros": (_LSTM, 4, "y, s, t = LSTM(x, w, r, None, None, h, h, hidden_size=4, direction='bidirectional')"),
    "gru_from_sized_zeros": (_GRU, 2, "y = GRU(x, w, r, None, None, h, hidden_size=2, direction='bidirectional')"),
    "gru_state_from_sized_zeros": (_GRU, 2, "y, s = GRU(x, w, r, None, None, h, hidden_size=2, direction='bidirectional')"),
}  # fmt: skip

SEQUENCES: list[Case] = [
    *acts(
        "concat.slice_of_one",
        "x: f32[N, 5, 3]; y = Squeeze(Slice(x, i64([2]), i64([3]), i64([1])), i64([-2]))",
        "x: f32[N, 5, 3]; y = Squeeze(Slice(x, i64([-1]), i64([9999]), i64([-1])), i64([2]))",
    ),
    *rests(
        "concat.slice_of_one",
        "x: f32[N, 5, 3]; y = Squeeze(Slice(x, i64([-7]), i64([1]), i64([1])), i64([1]))",
        "x: f32[1, 5, 3]; y = Squeeze(Slice(x, i64([2]), i64([4]), i64([1])), i64([0]))",
        "x: f32[1, 5, 3]; y = Squeeze(Slice(x, i64([0, 2]), i64([1, 3]), i64([0, 1])), i64([0, 1]))",
        "x: f32[N, 5, 3]; s: i64[1]; y = Squeeze(Slice(x, s, i64([3]), i64([1])), i64([1]))",
    ),
    *(
        case
        for name, (cell, size, call) in _CELLS.items()
        for case in (
            *acts(f"identity.{name}", cell + _ZEROS.format(size) + call, specials=False),
            *rests(f"identity.{name}", cell + _GIVEN.format(size) + call),
        )
    ),
]

CASES = [*ARITHMETIC, *NORMS, *LINEAR, *TRANSPOSITIONS, *SEQUENCES]
