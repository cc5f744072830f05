"""Rules that people really write and that do not hold: every one is refuted.

Each stands beside the form that holds, which is not: a verifier that refuses all would pass else.
"""

# ruff: noqa: E501  (a line is a rule)

from __future__ import annotations

import pytest
from rule_files import refutation, verify

from tensat_dl.soundness.verdict import Status

pytestmark = pytest.mark.slow

WRONG = {
    "permutations the wrong way round": """
        rewrite r: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(q, p))""",
    "ReLU is not linear": """
        @real
        rewrite r: Relu(Add(a, b)) => Add(Relu(a), Relu(b))""",
    "the factor of a product of sums is forgotten": """
        @real
        rewrite r: Mul(a, Add(b, c)) => Add(Mul(a, b), c)""",
    "matrices do not commute": """
        @real
        rewrite r: MatMul(a: T[N, N], b: T[N, N]) => MatMul(b, a)""",
    "products of vectors are not associative": """
        @real
        rewrite r: MatMul(MatMul(a, b), c) => MatMul(a, MatMul(b, c))""",
    "the transposed product keeps its order": """
        @real
        rewrite r: Transpose(MatMul(a: T[N, N], b: T[N, N]), perm=[1, 0])
          => MatMul(Transpose(a, perm=[1, 0]), Transpose(b, perm=[1, 0]))""",
    "broadcasting counts axes from the end": """
        rewrite r: Add(Transpose(x, perm=p), c) => Transpose(Add(x, c), perm=p)""",
    "floats: a sum in another order rounds otherwise": """
        rewrite r: Add(Add(a, b), c) => Add(a, Add(b, c))""",
    "floats: 0 x is not 0 for infinity": """
        rewrite r: Mul(x: f32[N], 0) => Sub(x, x)""",
    "floats: -0.0 + 0.0": """
        rewrite r: Add(x, 0) => x""",
    "division by what may be zero, on the right alone": """
        @real
        rewrite r: Mul(x, y) => Div(Mul(Mul(x, y), y), y)""",
    "letters of Einsum": """
        @real
        rewrite r: Einsum(x: T[_, _], y: T[_, _], equation="ij,kj->ik") => MatMul(x, y)""",
    "normalisation of one group is not that of a layer": """
        @real
        rewrite r: GroupNormalization(x, s, b, num_groups=1, epsilon=e)
          => LayerNormalization(x, s, b, axis=1, epsilon=e)""",
    "integers: the least one is its own absolute value": """
        rewrite r: Relu(Abs(a: i32[N])) => Abs(a)""",
    "integers: overflow is not excused over the reals": """
        @real
        rewrite r: Cast(Relu(Abs(a: i64[N])), to=f64) => Cast(Abs(a), to=f64)""",
    "integers: the largest one has no successor above it": """
        rewrite r: Less(x: i64[N], Add(x, 1)) => Equal(x, x)""",
    "integers: nothing is below zero, but 0 - 1 is not -1": """
        rewrite r: Cast(Sub(x: u8[N], y: u8[N]), to=i16) => Sub(Cast(x, to=i16), Cast(y, to=i16))""",
    "shifted out and back": """
        rewrite r: BitShift(BitShift(x: u8[N], s: u8[N], direction="LEFT"), s, direction="RIGHT") => x""",
    "integers: a quotient times the divisor": """
        @real
        rewrite r: Mul(Div(x: i64[N], y: i64[N]), y) => x""",
    "integers: a product through floats": """
        @real
        rewrite r: Div(Mul(x: i32[N], y: i32[N]), y) => x""",
    "concatenation along the wrong axis": """
        rule r {
          match { y1 = MatMul(x, a: T[K, K])  y2 = MatMul(x, b: T[K, K]) }
          emit { y1, y2 = Split(MatMul(x, Concat(b, a, axis=1)), i64([K, K]), axis=-1) }
        }""",
    "a split the wrong way round": """
        rule r {
          match { a, b = Split(x: T[N, M], i64([1, N - 1])) }
          emit { b, a = Split(x, i64([N - 1, 1])) }
        }""",
    "all members of a group, of the negated input": """
        rule r {
          match each (y, w, N) by (x) { y = MatMul(x, w: T[K, N]) }
          emit { *y = Split(MatMul(Neg(x), Concat(*w, axis=1)), i64([*N]), axis=-1) }
        }""",
    "grouped convolutions of one input (TENSAT's S115, M12)": """
        @real
        rewrite r: Concat(Conv(x, v, group=g), Conv(x, w, group=g), axis=1)
          => Conv(x, Concat(v, w, axis=0), group=g)""",
    "convolutions of two inputs as one of two groups (S92)": """
        @real
        rewrite r: Concat(Conv(x: T[_, C, *_], v), Conv(y: T[_, D, *_], w), axis=1)
          => Conv(Concat(x, y, axis=1), Concat(v, w, axis=0), group=2)""",
    "a sum of grouped convolutions (S91)": """
        @real
        rewrite r: Add(Conv(x, v, group=g), Conv(y, w, group=g))
          => Conv(Concat(x, y, axis=1), Concat(v, w, axis=1), group=g)""",
    "a summand is not padded": """
        @real
        rewrite r: Conv(Add(x, c: T[]), w: T[M, C, *K], **attrs)
          => Add(Conv(x, w, **attrs), Mul(c, ReduceSum(w, i64([1, 2, 3]), keepdims=0)))""",
    "padding of another value": """
        rewrite r: Conv(Pad(x, pads, c), w: _[_, _, _, _], auto_pad="NOTSET", pads=q, **attrs)
          => Conv(x, w, pads=[q[0] + p[2], q[1] + p[3], q[2] + p[6], q[3] + p[7]], **attrs)
          where min(p) >= 0, p[0] == 0, p[1] == 0, p[4] == 0, p[5] == 0
          let p = value(pads)""",
    "padding before an average counts": """
        rewrite r: AveragePool(Pad(x: T[_, _, _, _], pads), kernel_shape=k, pads=q, **attrs)
          => AveragePool(x, kernel_shape=k, pads=[q[0] + p[2], q[1] + p[3], q[2] + p[6], q[3] + p[7]], **attrs)
          where min(p) >= 0, p[0] == 0, p[1] == 0, p[4] == 0, p[5] == 0
          let p = value(pads)""",
    "padding before a maximum is 0": """
        rewrite r: MaxPool(Pad(x: T[_, _, _, _], pads), kernel_shape=k, pads=q, **attrs)
          => MaxPool(x, kernel_shape=k, pads=[q[0] + p[2], q[1] + p[3], q[2] + p[6], q[3] + p[7]], **attrs)
          where min(p) >= 0, p[0] == 0, p[1] == 0, p[4] == 0, p[5] == 0
          let p = value(pads)""",
    "a bias that the pooled padding lacks": """
        @real
        rewrite r: AveragePool(Conv(x, w: T[_, _, 1, 1], b), kernel_shape=k, **pool)
          => Conv(AveragePool(x, kernel_shape=k, **pool), w, b)""",
    "a factor for each input channel, taken for output channels": """
        @real
        rewrite r: Conv(Mul(x, c: T[C, 1, 1]), w: T[C, C, _, _], **attrs)
          => Conv(x, Mul(w, Unsqueeze(c, i64([1]))), **attrs)""",
    "a scale beside `alpha`": """
        @real
        rewrite r: Add(Gemm(x, w, b, **attrs), c) => Gemm(x, w, Add(b, c), **attrs)""",
    "rows gathered along any axis": """
        rewrite r: Gather(MatMul(x, w: T[N, N]), i, axis=k) => MatMul(Gather(x, i, axis=k), w)""",
    "softmax along the gathered axis": """
        rewrite r: Gather(Softmax(x, axis=a), i, axis=k) => Softmax(Gather(x, i, axis=k), axis=a)""",
    "a clip in the wrong order": """
        rewrite r: Clip(Clip(x, a, b), c, d) => Clip(x, Max(a, c), Min(b, d))
          where known(a), known(b), known(c), known(d)""",
    "a ReLU before any maximum": """
        rewrite r: Relu(Max(x, y)) => Max(x, y)""",
    "a conversion through a narrower type": """
        rewrite r: Cast(Cast(x: f32, to=T), to=f32) => x""",
    "a derived fact that says too much": """
        relation same(y: Tensor, x: Tensor)
        derive same(y, x) if y = Reshape(x, s)
        derive same(y, x) if y = Transpose(x, perm=_)
        rule r {
          match { y = Reshape(a, _, allowzero=_) }
          where same(a, x)
          emit { y = Reshape(x, i64(shape(y)), allowzero=1) }
        }""",
    "a Pad that crops what the convolution adds": """
        rewrite r: Conv(Pad(x, p), w: _[_, _, _, _], auto_pad="NOTSET", pads=q)
          => Conv(x, w, pads=[v[2] + q[0], v[3] + q[1], v[6] + q[2], v[7] + q[3]])
          where v[:2] == [0, 0], v[4:6] == [0, 0]
          let v = value(p)""",
    "a virtual operator with another meaning": """
        op Twice(x: Tensor) -> y: Tensor { lower y = Add(x, Relu(x)) }
        @real
        rewrite r: Add(x, x) => Twice(x)""",
    "back again, from right to left": """
        rewrite r: Relu(x) <=> Relu(Relu(Neg(Neg(x))))
        rewrite bad: Neg(Relu(x)) => Relu(Neg(x))""",
}

RIGHT = {
    "Einsum": """
        @real
        rewrite r: Einsum(x: T[_, _], y: T[_, _], equation="ij,kj->ik")
          => MatMul(x, Transpose(y, perm=[1, 0]))""",
    "a recurrent cell": "rewrite r: Identity(LSTM(x, w, r, b?)) => LSTM(x, w, r, b)",
    "what only the reference evaluator knows": """
        rewrite r: Neg(OneHot(i, d, v, axis=k)) => OneHot(i, d, Neg(v), axis=k)""",
    "permutations": """
        rewrite r: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(p, q))""",
    "idempotent": "rewrite r: Relu(Relu(x)) => Relu(x)",
    "distributive": """
        @real
        rewrite r: Mul(a, Add(b, c)) => Add(Mul(a, b), Mul(a, c))""",
    "associative": """
        @real
        rewrite r: MatMul(MatMul(a: T[_, _], b: T[_, _]), c: T[_, _]) => MatMul(a, MatMul(b, c))""",
    "transposed product": """
        @real
        rewrite r: Transpose(MatMul(a: T[M, K], b: T[K, N]), perm=[1, 0])
          => MatMul(Transpose(b, perm=[1, 0]), Transpose(a, perm=[1, 0]))""",
    "-0.0 over the reals": """
        @real
        rewrite r: Add(x, 0) => x""",
    "convolutions of one input without groups": """
        rewrite r: Concat(Conv(x, v, group=1, **attrs), Conv(x, w, group=1, **attrs), axis=1)
          => Conv(x, Concat(v, w, axis=0), group=1, **attrs)""",
    "a sum of convolutions without groups": """
        @real
        rewrite r: Add(Conv(x, v: T[M, *_], **attrs), Conv(y, w: T[M, *_], **attrs))
          => Conv(Concat(x, y, axis=1), Concat(v, w, axis=1), **attrs)
          where attrs_ok(shape(x), shape(y), shape(v), shape(w))
        fn attrs_ok(x: ints, y: ints, v: ints, w: ints) -> bool = x == y and v == w and v[1] == x[1]""",
    "members of a group": """
        rule r {
          match each (y, w, N) by (x) { y = MatMul(x, w: T[K, N]) }
          where rank(x) >= 1
          emit { *y = Split(MatMul(x, Concat(*w, axis=1)), i64([*N]), axis=-1) }
        }""",
    "an unknown operator, moved": """
        op "com.acme"::Mystery(x: Tensor) -> y: Tensor { since 1  infer y = like(x) }
        rewrite r: Neg(Neg("com.acme"::Mystery(x))) => "com.acme"::Mystery(x)""",
    "a virtual operator is its lowering": """
        op Twice(x: Tensor) -> y: Tensor { lower y = Add(x, x) }
        rewrite r: Twice(x) => Add(x, x)""",
    "softmax of residues": """
        rewrite r: Transpose(Softmax(x: T[_, _], axis=0), perm=[1, 0])
          => Softmax(Transpose(x, perm=[1, 0]), axis=1)""",
    "a norm has no sign": "@real rewrite r: GlobalLpPool(Neg(x), p=k) => GlobalLpPool(x, p=k)",
    "columns are added to an image": "@real rewrite r: Neg(Col2Im(x, i, b)) => Col2Im(Neg(x), i, b)",
    "integers wrap in sums of any order": """
        rewrite r: Add(Add(a: i8[N], b: i8[N]), c: i8[N]) => Add(a, Add(b, c))""",
    "an absolute value twice, of the least integer too": "rewrite r: Abs(Abs(x: i16[N])) => Abs(x)",
    "an integer beside which a float is lost": """
        @real
        rewrite r: Sub(Add(x: f32[N], Cast(y: i64[N], to=f32)), Cast(y, to=f32)) => x""",
    "shapes": """
        rule r {
          match { y = Shape(x, start=_, end=_) }
          where const(y)
          emit { y = i64(value(y)) }
        }""",
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_refuted(text: str) -> None:
    verdicts = verify(text, samples=250)
    found = refutation(verdicts.get("bad", verdicts["r"]))
    assert repr(found.left_element) != repr(found.right_element)  # 0 == -0.0, NaN != NaN


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_a_right_rule_holds(text: str) -> None:
    verdict = verify(text, samples=60)["r"]
    assert verdict.status is Status.HOLDS, verdict
    assert verdict.instances == 60
