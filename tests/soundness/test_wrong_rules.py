"""Rules that people really write and that do not hold: every one is refuted.

Each stands beside the form that holds, which is not: a verifier that refuses all would pass else.
"""

from __future__ import annotations

import pytest
from rule_files import verify

from tensat_dl.soundness.verdict import Status

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
    "integers: a quotient times the divisor": """
        @real
        rewrite r: Mul(Div(x: i64[N], y: i64[N]), y) => x""",
}

RIGHT = {
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
}


@pytest.mark.parametrize("text", WRONG.values(), ids=WRONG)
def test_a_wrong_rule_is_refuted(text: str) -> None:
    verdict = verify(text, samples=150)["r"]
    assert verdict.status is Status.REFUTED, verdict
    found = verdict.counterexample
    assert found is not None
    assert repr(found.left_element) != repr(found.right_element)  # 0 == -0.0, NaN != NaN


@pytest.mark.parametrize("text", RIGHT.values(), ids=RIGHT)
def test_a_right_rule_holds(text: str) -> None:
    verdict = verify(text, samples=60)["r"]
    assert verdict.status is Status.HOLDS, verdict
    assert verdict.instances == 60
