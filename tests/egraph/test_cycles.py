"""The cycle check: what it leaves out, what the other policies do, and that answers are acyclic."""

from __future__ import annotations

from graphlib import CycleError, TopologicalSorter

import pytest
from line import Line, applications, explore
from onnx_text import model, operators

from tensat_dl.egraph.snapshot import Saturated

PAIRS = """{annotation}
rule merge {{
  match {{
    y1 = MatMul(x, w1: T[K, N1])
    y2 = MatMul(x, w2: T[K, N2])
  }}
  emit {{ y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }}
}}
cost model launches {{ MatMul = 100 _ = 1 }}
"""
EACH = """{annotation}
rule merge {{
  match each (y, w, N) by (x) {{ y = MatMul(x, w: T[K, N]) }}
  emit {{ *y = Split(MatMul(x, Concat(*w, axis=1)), i64([*N]), axis=-1) }}
}}
cost model launches {{ MatMul = 100 _ = 1 }}
"""
#: The operand of the second product depends on the first.
CHAIN = """(float[3,3] x, float[3,3] a) => (float[3,3] y)
{ p = MatMul(x, a) r = Relu(p) q = MatMul(x, r) y = Neg(q) }"""
#: The same, and a third product that either may be merged with.
THREE = """(float[3,3] x, float[3,3] a, float[3,3] b) => (float[3,3] y, float[3,3] z)
{ p = MatMul(x, a) r = Relu(p) q = MatMul(x, r) y = Neg(q) z = MatMul(x, b) }"""
#: Two pairs, each harmless alone: the second of each depends on the first of the other.
CROSSED = """(float[3,3] x, float[3,3] z, float[3,3] a, float[3,3] b)
=> (float[3,3] s, float[3,3] t)
{ p = MatMul(x, a) q = MatMul(z, b) f = Relu(q) g = Relu(p)
  s = MatMul(x, f) t = MatMul(z, g) }"""


def is_cyclic(saturated: Saturated) -> bool:
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for node in saturated.nodes:
        sorter.add(node.eclass, *node.children)
    try:
        sorter.prepare()
    except CycleError:
        return True
    return False


@pytest.mark.parametrize("rules", [PAIRS, EACH], ids=["pairs", "each"])
def test_check_leaves_out_what_would_close_a_cycle(rules: str) -> None:
    saturated = explore(rules.format(annotation="@cycles(check)"), model(CHAIN))
    assert not is_cyclic(saturated)
    product = saturated.value_class["q"]
    assert [n.original for n in saturated.nodes if n.eclass == product] == [True]
    count = saturated.exploration.rules["merge"]
    assert count.matches > 0
    assert count.applied == 0


def test_check_lets_the_others_through() -> None:
    """Of three pairs, one would close a cycle."""
    saturated = explore(PAIRS.format(annotation="@cycles(check)"), model(THREE))
    assert not is_cyclic(saturated)
    assert len(applications(saturated, "Split")) == 2


@pytest.mark.parametrize("rules", [PAIRS, EACH], ids=["pairs", "each"])
def test_allow_explores_it_and_the_answer_is_acyclic(line: Line, rules: str) -> None:
    text = rules.format(annotation="@cycles(allow)")
    saturated = explore(text, model(CHAIN))
    assert is_cyclic(saturated)
    assert len(applications(saturated, "Split")) == 1
    answer = line(text, model(CHAIN), cost="launches")
    assert operators(answer.model) == ["MatMul", "MatMul", "Neg", "Relu"]


def test_prune_removes_the_cycle_and_nothing_of_the_original() -> None:
    allowed = explore(PAIRS.format(annotation="@cycles(allow)"), model(THREE))
    assert is_cyclic(allowed)
    pruned = explore(PAIRS.format(annotation=""), model(THREE), cycles="prune")
    assert not is_cyclic(pruned)
    # A merge that closes no cycle stays.
    assert applications(pruned, "Split")
    original = [node for node in applications(pruned) if node.original]
    assert sorted(node.head.operator.name for node in original) == [
        *["MatMul"] * 3,
        "Neg",
        "Relu",
    ]


def test_prune_as_a_step_of_a_schedule() -> None:
    rules = PAIRS.format(annotation="@cycles(allow)")
    kept = explore(rules + "schedule main { run merge }", model(CHAIN))
    assert is_cyclic(kept)
    pruned = explore(rules + "schedule main { run merge prune cycles }", model(CHAIN))
    assert not is_cyclic(pruned)
    assert len([node for node in applications(pruned) if node.original]) == 4


def test_the_annotation_of_a_rule_goes_before_the_setting() -> None:
    checked = explore(PAIRS.format(annotation="@cycles(check)"), model(CHAIN), cycles="allow")
    assert not is_cyclic(checked)
    allowed = explore(PAIRS.format(annotation=""), model(CHAIN), cycles="allow")
    assert is_cyclic(allowed)
    by_default = explore(PAIRS.format(annotation=""), model(CHAIN))
    assert not is_cyclic(by_default)


def test_merges_that_are_harmless_alone(line: Line) -> None:
    """Both are seen in one step, so the check cannot know; at most one is in the answer."""
    text = PAIRS.format(annotation="@cycles(check)")
    answer = line(text, model(CROSSED), cost="launches")
    counts = operators(answer.model)
    # Merging one pair saves one product of four.
    assert counts.count("MatMul") == 3
    assert counts.count("Split") == 1


def test_a_rule_of_one_output_that_makes_a_cycle_of_classes(line: Line) -> None:
    """`x = x + 0` puts Add in the class of its own operand."""
    rules = "rewrite r: Add(x: f32[N], 0) => x\nrewrite s: Neg(Neg(x)) => x"
    graph = model(
        """(float[2] x) => (float[2] y) <float zero = {0.0}>
        { a = Add(x, zero) b = Neg(a) c = Neg(b) d = Add(c, zero) y = Relu(d) }"""
    )
    saturated = explore(rules, graph)
    assert is_cyclic(saturated)
    assert operators(line(rules, graph).model) == ["Relu"]


@pytest.mark.parametrize("policy", ["check", "allow", "prune"])
def test_weights_are_never_in_the_way(policy: str) -> None:
    """Operands that are weights depend on no output: every pair is merged."""
    rules = PAIRS.format(annotation="").replace("  emit", "  where weight(w1), weight(w2)\n  emit")
    graph = model(
        """(float[3,3] x) => (float[3,3] y, float[3,3] z) <float[3,3] w1, float[3,3] w2>
        { y = MatMul(x, w1) z = MatMul(x, w2) }"""
    )
    saturated = explore(rules, graph, cycles=policy)
    assert len(applications(saturated, "Split")) == 1
