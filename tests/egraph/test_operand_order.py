"""Where a constant is written: second of two operands that may change places."""

from __future__ import annotations

import pytest
from line import Line, explore
from onnx_text import model, terms

BOTH = """rewrite one: Sub(x, Neg(c)) => Add(c, x) where weight(c)
rewrite other: Sub(x, Neg(c)) => Add(x, c) where weight(c)
"""


@pytest.mark.parametrize("rules", [*BOTH.splitlines(), BOTH])
def test_a_constant_stands_second(line: Line, rules: str) -> None:
    """onnxruntime fuses Conv and Add only so."""
    graph = "(float[2] x) => (float[2] y) <float[2] w> { n = Neg(w) a = Sin(x) y = Sub(a, n) }"
    priced = f"{rules}\ncost model ours {{ Sub = 9  _ = 1 }}\n"
    answer = line(priced, model(graph), "ours")
    assert terms(answer.model) == {"y": "Add(Sin(x), w)"}


def test_what_the_model_had_keeps_its_order(line: Line) -> None:
    graph = "(float[2] x) => (float[2] y) <float[2] w> { a = Add(w, x) b = Neg(a) y = Neg(b) }"
    answer = line("rewrite twice: Neg(Neg(x)) => x", model(graph))
    assert terms(answer.model) == {"y": "Add(w, x)"}


TURNED = """rewrite turned: Sub(x, Neg(c)) => Add(c, x) where weight(c)
rewrite inner: Sin(Identity(x)) => Sin(x)
rewrite odd: Sin(Add(c, x)) => Neg(Sin(Neg(Add(c, x)))) where weight(c)
rule rounds {
  match { y = Sin(x)  z = Neg(x) }
  where rank(x) == 7
  emit { y = Sin(x)  z = Neg(x) }
}
"""


def test_an_e_node_made_again_in_the_other_order_is_matched_in_both() -> None:
    """Step 1 makes the sum again with its operands turned, and the sine that step 2 is about."""
    graph = """(float[2] x) => (float[2] y, float[2] z) <float[2] w>
        { a = Add(x, w) i = Identity(a) y = Sin(i) n = Neg(w) z = Sub(x, n) }"""
    rules = explore(TURNED, model(graph)).exploration.rules
    assert rules["turned"].applied and rules["odd"].applied
