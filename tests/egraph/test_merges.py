"""Rules with several outputs: how often they fire, on what, and `match each`."""

from __future__ import annotations

from math import comb

import onnx
import pytest
from line import Line, applications, explore
from onnx_text import model, operators, terms

PAIRS = """@rounds({rounds})
rule merge {{
  match {{
    y1 = MatMul(x, w1: T[K, N1])
    y2 = MatMul(x, w2: T[K, N2])
  }}
  where weight(w1), weight(w2)
  emit {{ y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }}
}}
"""
EACH = """rule merge {
  match each (y, w, N) by (x) { y = MatMul(x, w: T[K, N]) }
  where weight(w)
  emit { *y = Split(MatMul(x, Concat(*w, axis=1)), i64([*N]), axis=-1) }
}
"""
LAUNCHES = "cost model launches { MatMul = 10 _ = 1 }\n"


def products(widths: list[int], inputs: int = 1) -> onnx.ModelProto:
    """Product i is of weight i (3 rows) and of input i modulo `inputs`."""
    many = range(len(widths))
    return model(
        f"({', '.join(f'float[2,3] x{i}' for i in range(inputs))}) => "
        f"({', '.join(f'float[2,{widths[i]}] y{i}' for i in many)}) "
        f"<{', '.join(f'float[3,{widths[i]}] w{i}' for i in many)}> "
        f"{{ {' '.join(f'y{i} = MatMul(x{i % inputs}, w{i})' for i in many)} }}"
    )


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_a_symmetric_pattern_fires_once_per_unordered_pair(count: int) -> None:
    saturated = explore(PAIRS.format(rounds=1), products([4] * count))
    pairs = count * (count - 1) // 2
    assert len(applications(saturated, "MatMul")) == count + pairs
    assert len(applications(saturated, "Concat")) == pairs
    assert len(applications(saturated, "Split")) == pairs
    assert saturated.exploration.rules["merge"].applied == pairs
    assert saturated.exploration.stopped_by == "saturated"


@pytest.mark.parametrize(
    ("count", "rounds", "expected"),
    # Every pair among the products of earlier generations: m becomes count + m (m - 1) / 2.
    [(2, 1, 3), (2, 2, 5), (2, 3, 12), (3, 1, 6), (3, 2, 18), (4, 2, 4 + 45)],
)
def test_rounds_are_generations_of_e_nodes(count: int, rounds: int, expected: int) -> None:
    known = count
    for _ in range(rounds):
        known = count + comb(known, 2)
    assert known == expected
    saturated = explore(PAIRS.format(rounds=rounds), products([4] * count))
    assert len(applications(saturated, "MatMul")) == expected
    assert max(node.generation for node in saturated.nodes) == rounds


def test_rounds_are_not_steps() -> None:
    """What another rule makes later is matched however late it is."""
    rules = PAIRS.format(rounds=1) + "rewrite r: MatMul(Neg(x), w) => Neg(MatMul(x, w))\n"
    graph = model(
        """(float[2,3] x) => (float[2,4] y, float[2,4] z) <float[3,4] w1, float[3,4] w2>
        { a = Neg(x) b = Neg(a) c = Neg(b) d = MatMul(c, w1) y = Relu(d) z = MatMul(x, w2) }"""
    )
    saturated = explore(rules, graph)
    # MatMul of c, b, a, x with w1 and of x with w2; the last two become one.
    assert len(applications(saturated, "MatMul")) == 6
    assert len(applications(saturated, "Split")) == 1


def test_the_pair_is_taken(line: Line) -> None:
    answer = line(PAIRS.format(rounds=1) + LAUNCHES, products([4, 5]), cost="launches")
    assert operators(answer.model) == ["MatMul", "Split"]
    assert terms(answer.model)["y1"] == "Split(MatMul(x0, <3x9>), [4, 5], axis=1).1"


def test_unequal_outputs_are_not_exchangeable() -> None:
    """The pattern has no symmetry: both orders fire."""
    rules = """rule r {
      match { a = Relu(x)  b = Neg(x) }
      emit { a, b = Split(Concat(Relu(x), Neg(x), axis=0), i64([2, 2]), axis=0) }
    }
    rule s {
      match { a = Relu(x)  b = Relu(z) }
      where rank(x) == 1
      emit { a, b = Split(Relu(Concat(x, z, axis=0)), i64([2, 2]), axis=0) }
    }"""
    graph = model(
        """(float[2] x, float[2] z) => (float[2] a, float[2] b, float[2] c)
        { a = Relu(x) b = Neg(x) c = Relu(z) }"""
    )
    saturated = explore(rules, graph)
    # `r` once; `s`, whose condition tells x from z, in both orders.
    assert saturated.exploration.rules["r"].applied == 1
    assert saturated.exploration.rules["s"].applied == 2


def test_outputs_are_distinct_tensors() -> None:
    """Equal nodes are one tensor, which is no pair."""
    graph = model(
        """(float[2,3] x) => (float[2,4] y, float[2,4] z) <float[3,4] w>
        { a = MatMul(x, w) b = MatMul(x, w) y = Relu(a) z = Neg(b) }"""
    )
    for rules in (PAIRS.format(rounds=1), EACH):
        saturated = explore(rules, graph)
        assert len(applications(saturated, "MatMul")) == 1
        assert len(applications(saturated, "Split")) == 0


def test_three_outputs_fire_once_per_set() -> None:
    rules = """rule r {
      match { a = MatMul(x, u: T[K, N])  b = MatMul(x, v: T[K, N])  c = MatMul(x, w: T[K, N]) }
      emit { a, b, c = Split(MatMul(x, Concat(u, v, w, axis=1)), i64([N, N, N]), axis=-1) }
    }"""
    saturated = explore(rules, products([4] * 5))
    assert len(applications(saturated, "Split")) == comb(5, 3)


@pytest.mark.parametrize("count", [2, 3, 40])
def test_each_merges_any_number_at_once(count: int) -> None:
    saturated = explore(EACH, products([1 + i % 3 for i in range(count)]))
    assert len(applications(saturated, "MatMul")) == count + 1
    [concat] = applications(saturated, "Concat")
    assert len(concat.children) == count
    assert len(applications(saturated, "Split")) == 1
    assert saturated.exploration.stopped_by == "saturated"


def test_each_gives_every_member_its_own_output(line: Line) -> None:
    answer = line(EACH + LAUNCHES, products([1, 2, 3]), cost="launches")
    assert operators(answer.model) == ["MatMul", "Split"]
    split = next(node for node in answer.model.graph.node if node.op_type == "Split")
    assert sorted(split.output) == ["y0", "y1", "y2"]


def test_each_keeps_groups_apart(line: Line) -> None:
    """Products 0, 2, 4 are of one input, 1 and 3 of another; a group of one does nothing."""
    answer = line(EACH + LAUNCHES, products([2, 3, 4, 5, 6], inputs=2), cost="launches")
    assert operators(answer.model) == ["MatMul", "MatMul", "Split", "Split"]
    saturated = explore(EACH, products([2, 3, 4], inputs=3))
    assert len(applications(saturated)) == 3


def test_each_has_all_other_names_as_its_key() -> None:
    """N is not listed, so it is part of the key: two are of width 2, two of 3, and one is alone."""
    rules = """rule merge {
      match each (y, w) by (x) { y = MatMul(x, w: T[K, N]) }
      emit { *y = Split(MatMul(x, Concat(*w, axis=1)), i64([N, N]), axis=-1) }
    }"""
    saturated = explore(rules, products([2, 3, 2, 3, 4]))
    assert len(applications(saturated, "Split")) == 2


def test_each_with_an_attribute_in_the_key(line: Line) -> None:
    rules = """rule merge {
      match each (y, w, C) by (x) { y = Conv(x, w: T[C, I, H, W], **attrs) }
      where weight(w), H == 1, W == 1
      emit { *y = Split(Conv(x, Concat(*w, axis=0), **attrs), i64([*C]), axis=1) }
    }
    cost model launches { Conv = 10 _ = 1 }"""
    graph = model(
        """(float[1,2,4,4] x) => (float[1,1,4,4] a, float[1,3,4,4] b, float[1,1,2,2] c)
        <float[1,2,1,1] w1, float[3,2,1,1] w2, float[1,2,1,1] w3>
        { a = Conv(x, w1) b = Conv(x, w2) c = Conv<strides=[2,2]>(x, w3) }"""
    )
    answer = line(rules, graph, cost="launches")
    assert operators(answer.model) == ["Conv", "Conv", "Split"]
    assert terms(answer.model)["c"] == "Conv(x, w3, strides=[2, 2])"


def test_each_with_a_pattern_of_several_nodes(line: Line) -> None:
    """A member is a product with its bias."""
    rules = """rule merge {
      match each (y, w, b, N) by (x) { y = Add(MatMul(x, w: T[K, N]), b: T[N]) }
      where weight(w), weight(b)
      emit {
        all = Add(MatMul(x, Concat(*w, axis=1)), Concat(*b, axis=0))
        *y = Split(all, i64([*N]), axis=-1)
      }
    }
    cost model launches { MatMul = 10 _ = 1 }"""
    graph = model(
        """(float[2,3] x) => (float[2,4] y, float[2,5] z)
        <float[3,4] w1, float[3,5] w2, float[4] b, float[5] c>
        { p = MatMul(x, w1) q = MatMul(x, w2) y = Add(p, b) z = Add(c, q) }"""
    )
    answer = line(rules, graph, cost="launches")
    assert operators(answer.model) == ["Add", "MatMul", "Split"]
