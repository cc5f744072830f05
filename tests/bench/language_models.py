"""Products and attention: models in which work on tokens or weights can be saved.

Random weights from a seed.  The encoder is BERT's: embeddings, post-normalised blocks of attention
and a two-layer network with an erf GELU, as PyTorch's exporter spells them.
"""

from __future__ import annotations

import onnx
from models import Builder


class _Encoder(Builder):
    def __init__(self, opset: int, decomposed: bool) -> None:
        super().__init__(opset=opset)
        self.decomposed = decomposed


def lm_head(tokens: int = 128, width: int = 256, words: int = 8192) -> onnx.ModelProto:
    """A language model's last norm and head on all tokens, of which the last one's logits are
    wanted."""
    b = Builder()
    x = b.input("x", (1, tokens, width))
    hidden = b.op("LayerNormalization", x, b.vector(width), b.vector(width))
    logits = b.op("MatMul", hidden, b.weight(width, words))
    last = b.op("Gather", logits, b.integer(-1), axis=1)
    return b.model({last: (1, words)})


def lora_mlp(
    rows: int = 64, width: int = 512, rank: int = 32, layers: int = 4, scale: float = 0.5
) -> onnx.ModelProto:
    """x W + s (x A) B + b, and a ReLU, layer after layer."""
    b = Builder()
    x = b.input("x", (rows, width))
    for _ in range(layers):
        frozen = b.op("MatMul", x, b.weight(width, width))
        low = b.op("MatMul", x, b.weight(width, rank))
        adapter = b.op("MatMul", low, b.weight(rank, width))
        total = b.op("Add", frozen, b.op("Mul", adapter, b.number(scale)))
        x = b.op("Relu", b.op("Add", total, b.vector(width)))
    return b.model({x: (rows, width)})


def encoder(
    layers: int = 2,
    tokens: int = 128,
    width: int = 256,
    heads: int = 4,
    *,
    opset: int = 17,
    decomposed: bool = False,
    pre_norm: bool = False,
    pooled: bool = True,
) -> onnx.ModelProto:
    """BERT with random weights.

    `decomposed`: layer normalisation is written out, as exporters do below opset 17.  `pre_norm`:
    it stands before attention and network, as in GPT, and not behind.  `pooled`: the first token
    of the last block goes through the pooler; else all tokens leave.
    """
    b = _Encoder(opset=opset, decomposed=decomposed)
    x = b.input("x", (1, tokens, width))
    before, behind = (_norm, _nothing) if pre_norm else (_nothing, _norm)
    x = behind(b, x, width)
    for _ in range(layers):
        attended = _attention(b, before(b, x, width), tokens, width, heads)
        x = behind(b, b.op("Add", _linear(b, attended, width, width), x), width)
        wide = _gelu(b, _linear(b, before(b, x, width), width, 4 * width))
        x = behind(b, b.op("Add", _linear(b, wide, 4 * width, width), x), width)
    x = before(b, x, width)
    if not pooled:
        return b.model({x: (1, tokens, width)})
    first = b.op("Gather", x, b.integer(0), axis=1)
    weight = b.weight(width, width)
    y = b.op("Tanh", b.op("Gemm", first, weight, b.vector(width), transB=1))
    return b.model({y: (1, width)})


def _attention(b: _Encoder, x: str, tokens: int, width: int, heads: int) -> str:
    inner = width // heads
    split = b.constant([1, tokens, heads, inner])
    q, k, v = (
        b.op("Transpose", b.op("Reshape", _linear(b, x, width, width), split), perm=perm)
        for perm in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    logits = b.op("Div", b.op("MatMul", q, k), b.number(inner**0.5))
    y = b.op("MatMul", b.op("Softmax", logits, axis=-1), v)
    y = b.op("Transpose", y, perm=[0, 2, 1, 3])
    return b.op("Reshape", y, b.constant([1, tokens, width]))


def _linear(b: Builder, x: str, inputs: int, outputs: int) -> str:
    return b.op("Add", b.op("MatMul", x, b.weight(inputs, outputs)), b.vector(outputs))


def _gelu(b: Builder, x: str) -> str:
    erf = b.op("Erf", b.op("Div", x, b.number(2**0.5)))
    return b.op("Mul", b.op("Mul", x, b.op("Add", erf, b.number(1.0))), b.number(0.5))


def _nothing(b: _Encoder, x: str, width: int) -> str:
    return x


def _norm(b: _Encoder, x: str, width: int) -> str:
    scale, shift = b.vector(width), b.vector(width)
    if not b.decomposed:
        return b.op("LayerNormalization", x, scale, shift, axis=-1, epsilon=1e-5)
    centred = b.op("Sub", x, b.op("ReduceMean", x, axes=[-1]))
    variance = b.op("ReduceMean", b.op("Pow", centred, b.number(2.0)), axes=[-1])
    deviation = b.op("Sqrt", b.op("Add", variance, b.number(1e-5)))
    return b.op("Add", b.op("Mul", b.op("Div", centred, deviation), scale), shift)
