"""Rules whose result is never cheaper under a cost model, proved by hand."""

from __future__ import annotations

import pytest

from tensat_dl.cost.worth import useless_rules, warn_of_worth
from tensat_dl.diagnostics import Diagnostics
from tensat_dl.language.load import load_text

MODEL = "cost model mine { MatMul = 5  Max = 2  Relu = 1  Neg = numel(x)  _ = 0 }\n"


def found(rules: str, model: str) -> set[str]:
    program = load_text(MODEL + rules, "rules.tsat", Diagnostics())
    assert program is not None
    useless = set(useless_rules(program, model))
    assert useless == set(warn_of_worth(program, model))
    return useless


@pytest.mark.parametrize(
    ("rules", "useless_under"),
    [
        # 1 node becomes 1 or more; Relu costs 1, Max 2; what arithmetic costs depends on sizes
        ("rewrite a: Relu(x: T[*S]) => Max(x, T(0))", {"nodes", "mine"}),
        # the other way round: from 2 to 1
        ("rewrite a: Max(x: T[*S], 0) => Relu(x)", {"nodes"}),
        # two nodes become one, but three may be shared with others: nothing can be proved
        ("rewrite a: Relu(Max(x: T[*S], y: T[*S])) => Max(Relu(x), Relu(y))", set()),
        # both are free but for the number of nodes, of which one may be saved
        ("rewrite a: Reshape(Transpose(x), s) => Reshape(x, s)", {"mine", "flops"}),
        # `y` is not needed any more
        ("rewrite a: Relu(Expand(x, Shape(y))) => Relu(Reshape(x, Shape(x)))", set()),
        # a price that depends on sizes
        ("rewrite a: Neg(x: T[*S]) => Sub(T(0), x)", {"nodes"}),
        # another rule goes on from Max
        (
            "rewrite a: Relu(x: T[*S]) => Max(x, T(0))  rewrite b: Abs(Max(x, y)) => Abs(Sin(x))",
            set(),
        ),
        # a fact follows from Max, and a rule from the fact
        (
            "rewrite a: Relu(x: T[*S]) => Max(x, T(0))  relation up(x: Tensor)"
            "  derive up(y) if y = Max(x, c)  rewrite b: Abs(x) => Identity(x) where up(x)",
            set(),
        ),
        # nothing new is made
        ("rewrite a: Relu(Relu(x)) => Relu(x)", set()),
        # a variable costs nothing
        ("rewrite a: Identity(x) => x", set()),
        # meant
        ("@allow(W0408) rewrite a: Relu(x: T[*S]) => Max(x, T(0))", set()),
    ],
)
def test_what_is_never_cheaper(rules: str, useless_under: set[str]) -> None:
    models = ("nodes", "flops", "mine", "roofline", "bytes", "measured")
    assert {model for model in models if "a" in found(rules, model)} == useless_under
