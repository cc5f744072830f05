# ruff: noqa: E501  (a line is a model)
"""Models that are known to be worth optimising, as texts of `small_models`, at any size.

What is won in each is known by hand (see the operators in `test_std_gains`).
"""

from __future__ import annotations


def densenet_transition(channels: int, size: int) -> str:
    """A convolution of 1 x 1, then average pooling, as PyTorch writes it."""
    return (
        f"x: f32[1, {channels}, {size}, {size}]; w: f32[{channels // 2}, {channels}, 1, 1] = weight; "
        "y = AveragePool(Conv(Relu(x), w), kernel_shape=[2, 2], strides=[2, 2], count_include_pad=1)"
    )


def last_token(tokens: int, width: int, words: int) -> str:
    """The logits of the last token out of those of all."""
    return (
        f"x: f32[1, {tokens}, {width}]; w: f32[{width}, {words}] = weight; b: f32[{words}] = weight; "
        "y = Gather(Add(MatMul(Relu(x), w), b), i64(-1), axis=1)"
    )


def class_token(tokens: int, width: int) -> str:
    """The last block of an encoder of which only the first token is wanted."""
    return (
        f"x: f32[1, {tokens}, {width}]; u: f32[{width}, {4 * width}] = weight; "
        f"v: f32[{4 * width}, {width}] = weight; a: f32[{4 * width}] = weight; "
        f"b: f32[{width}] = weight; s: f32[{width}] = weight; t: f32[{width}] = weight; "
        "h = LayerNormalization(x, s, t); "
        "k = Add(h, Add(MatMul(Relu(Add(MatMul(h, u), a)), v), b)); "
        "y = Gather(LayerNormalization(k, s, t), i64(0), axis=1)"
    )


def repvgg(channels: int, size: int) -> str:
    """A block with branches of 3 x 3, 1 x 1 and none, each normalised, added."""
    weights = "".join(
        f"{name}{i}: f32[{channels}] = weight; " for i in range(3) for name in ("s", "o", "m", "v")
    )
    norm = "BatchNormalization({}, s{i}, o{i}, m{i}, v{i})"
    three = norm.format("Conv(x, w, pads=[1, 1, 1, 1])", i=0)
    one = norm.format("Conv(x, u)", i=1)
    none = norm.format("x", i=2)
    return (
        f"x: f32[1, {channels}, {size}, {size}]; w: f32[{channels}, {channels}, 3, 3] = weight; "
        f"u: f32[{channels}, {channels}, 1, 1] = weight; {weights}"
        f"y = Relu(Add(Add({three}, {one}), {none}))"
    )


def no_bias(width: int) -> str:
    """Two layers whose biases are zero, as they are before training, and a factor behind each."""
    zeros = f"Expand(f32(0), i64([{width}]))"
    return (
        f"x: f32[3, 2, {width}]; u: f32[{width}, {width}] = weight; v: f32[{width}, {width}] = weight; "
        f"h = Relu(Mul(Add(MatMul(x, u), {zeros}), f32(0.5))); "
        f"y = Mul(Add(MatMul(h, v), {zeros}), f32(0.5))"
    )


def lora(rows: int, width: int, rank: int) -> str:
    """x W + s (x A) B."""
    return (
        f"x: f32[{rows}, {width}]; w: f32[{width}, {width}] = weight; "
        f"a: f32[{width}, {rank}] = weight; b: f32[{rank}, {width}] = weight; "
        "y = Add(MatMul(x, w), Mul(MatMul(MatMul(x, a), b), f32(0.5)))"
    )


def attention(tokens: int, width: int, heads: int) -> str:
    """Projections, heads, and a scale on the logits."""
    inner = width // heads
    weights = "".join(
        f"w{n}: f32[{width}, {width}] = weight; b{n}: f32[{width}] = weight; " for n in "qkv"
    )
    split = f"i64([1, {tokens}, {heads}, {inner}])"
    projected = "".join(
        f"{n} = Transpose(Reshape(Add(MatMul(x, w{n}), b{n}), {split}), perm={perm}); "
        for n, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3]))
    )
    return (
        f"x: f32[1, {tokens}, {width}]; {weights}{projected}"
        f"y = MatMul(Softmax(Div(MatMul(q, k), f32({inner**0.5}))), v)"
    )


def gates(width: int, count: int) -> str:
    """The products of one step of a recurrent cell."""
    weights = "".join(f"w{i}: f32[{width}, {width}] = weight; " for i in range(count))
    used = "".join(f"y{i} = Tanh(MatMul(x, w{i})); " for i in range(count))
    return f"x: f32[1, {width}]; {weights}{used}".rstrip("; ")


def padded_convolution(channels: int, size: int) -> str:
    """A pad, a normalisation before and after a convolution."""
    weights = "".join(f"{name}: f32[{channels}] = weight; " for name in "somv")
    return (
        f"x: f32[1, {channels}, {size}, {size}]; w: f32[{channels}, {channels}, 3, 3] = weight; "
        f"{weights}k = Pad(x, i64([0, 0, 1, 1, 0, 0, 1, 1])); "
        "y = BatchNormalization(Conv(k, w), s, o, m, v)"
    )


def known_shapes(batch: str) -> str:
    """A flatten that an exporter spelt out: Shape, Gather, Unsqueeze, Concat, Reshape."""
    return (
        f"x: f32[{batch}, 3, 4]; d = Unsqueeze(Gather(Shape(x), i64(0)), i64([0])); "
        "y = Reshape(x, Concat(d, i64([12]), axis=0))"
    )


def spectrum(samples: int, window: int) -> str:
    """The magnitudes of short frames that overlap by half, as in voice activity detection."""
    bins = window // 2 + 1
    return (
        f"x: f32[1, 1, {samples}]; w: f32[{2 * bins}, 1, {window}] = weight; "
        f"k = Conv(x, w, strides=[{window // 2}]); a, b = Split(k, i64([{bins}, {bins}]), axis=1); "
        "y = Sqrt(Add(Mul(a, a), Mul(b, b)))"
    )


def learnable_affine(channels: int, size: int) -> str:
    """One scale and one shift for everything between two convolutions, as in PP-LCNetV3."""
    return (
        f"x: f32[1, {channels}, {size}, {size}]; w: f32[16, {channels}, 1, 1] = weight; "
        "b: f32[16] = weight; s: f32[1] = weight; c: f32[1] = weight; "
        "y = Conv(Add(Mul(x, s), c), w, b)"
    )


def focus(channels: int, size: int) -> str:
    """The first layer of YOLOv5: every second row and column from four places, joined, convolved."""
    end = size + 1
    rows = "; ".join(
        f"r{a} = Slice(x, i64([{a}]), i64([{end}]), i64([2]), i64([2]))" for a in (0, 1)
    )
    parts = ", ".join(
        f"Slice(r{a}, i64([{b}]), i64([{end}]), i64([3]), i64([2]))" for b in (0, 1) for a in (0, 1)
    )
    return (
        f"x: f32[1, 3, {size}, {size}]; w: f32[{channels}, 12, 3, 3] = weight; "
        f"b: f32[{channels}] = weight; {rows}; "
        f"y = Relu(Conv(Concat({parts}, axis=1), w, b, pads=[1, 1, 1, 1]))"
    )


def causal(channels: int) -> str:
    """A block of a temporal convolutional network, as PyTorch writes it, of any length."""
    return (
        f"x: f32[1, {channels}, N]; w: f32[{channels}, {channels}, 3] = weight; "
        f"b: f32[{channels}] = weight; "
        "y = Add(x, Relu(Slice(Conv(x, w, b, pads=[8, 8], dilations=[4]), "
        "i64([0]), i64([-8]), i64([2]))))"
    )


def computed_view(channels: int) -> str:
    """`x.view(b, c, h * w)` where nothing but the channels is known."""
    return (
        f"x: f32[B, {channels}, H, W]; s = Shape(x); b = Unsqueeze(Gather(s, i64(0)), i64([0])); "
        "p = Unsqueeze(Mul(Gather(s, i64(2)), Gather(s, i64(3))), i64([0])); "
        f"y = Softmax(Reshape(Relu(x), Concat(b, i64([{channels}]), p, axis=0)), axis=1)"
    )


#: Pixels that are normalised in two ways, one after the other.
PIXELS = (
    "x: f32[1, 3, 64, 64]; mean: f32[3, 1, 1] = weight; deviation: f32[3, 1, 1] = weight; "
    "gamma: f32[3, 1, 1] = weight; beta: f32[3, 1, 1] = weight; "
    "y = Add(Mul(Div(Sub(Div(x, f32(255.0)), mean), deviation), gamma), beta)"
)
