"""Order never matters: of rules, of nodes, of hashes."""

from __future__ import annotations

import random
import re
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import onnx
import pytest
from line import Line, applications, explore
from onnx_text import model
from structure import structure

from tensat_dl.extract.problem import Status

pytestmark = pytest.mark.slow

RULES = """@real rewrite associate: Add(Add(a, b), c) <=> Add(a, Add(b, c))
@real rewrite distribute: MatMul(Add(a, b), c) <=> Add(MatMul(a, c), MatMul(b, c))
  where rank(a) == 2, rank(b) == 2, shape(a) == shape(b)
rewrite transpose: Transpose(MatMul(a: T[A, B], b: T[B, C]), perm=[1, 0])
  <=> MatMul(Transpose(b, perm=[1, 0]), Transpose(a, perm=[1, 0]))
rewrite twice: Transpose(Transpose(x, perm=p), perm=q) => Transpose(x, perm=compose(p, q))
rewrite nothing: Transpose(x, perm=[0, 1]) => x
rewrite down: Relu(Transpose(x, perm=p)) <=> Transpose(Relu(x), perm=p)
rewrite relu: Relu(Relu(x)) => Relu(x)
"""
MERGE = """rule merge {
  match { y1 = MatMul(x, w1: T[K, N1])  y2 = MatMul(x, w2: T[K, N2]) }
  emit { y1, y2 = Split(MatMul(x, Concat(w1, w2, axis=1)), i64([N1, N2]), axis=-1) }
}
"""
GRAPH = """(float[4,4] x, float[4,4] p, float[4,4] q) => (float[4,4] y, float[4,4] z)
<float[4,4] w, float[4,4] v>
{
  a = MatMul(x, w) b = MatMul(p, w) c = Add(a, b) d = Add(c, q)
  e = Transpose(d) f = Relu(e) g = Relu(f) h = MatMul(x, v) k = Transpose(h)
  l = Transpose(k) m = Add(l, d) y = Relu(m) z = Transpose(g)
}"""


def shuffled_rules(seed: int) -> str:
    items = re.split(r"\n(?=@real|rewrite)", RULES.strip())
    random.Random(seed).shuffle(items)
    return "\n".join(items) + "\n"


def shuffled_nodes(proto: onnx.ModelProto, seed: int) -> onnx.ModelProto:
    """Another topological order."""
    makers = {o: i for i, node in enumerate(proto.graph.node) for o in node.output}
    sorter: TopologicalSorter[int] = TopologicalSorter()
    for i, node in enumerate(proto.graph.node):
        sorter.add(i, *[makers[name] for name in node.input if name in makers])
    sorter.prepare()
    draw, order = random.Random(seed), list[int]()
    ready: list[int] = []
    while sorter.is_active():
        ready += sorter.get_ready()
        order.append(ready.pop(draw.randrange(len(ready))))
        sorter.done(order[-1])
    result = onnx.ModelProto()
    result.CopyFrom(proto)
    del result.graph.node[:]
    result.graph.node.extend(proto.graph.node[i] for i in order)
    onnx.checker.check_model(result)
    return result


def test_the_rules_do_something_here() -> None:
    saturated = explore(RULES, model(GRAPH))
    assert saturated.exploration.stopped_by == "saturated"
    assert len(applications(saturated)) > 40
    assert all(count.applied for count in saturated.exploration.rules.values())


@pytest.mark.parametrize("seed", range(4))
def test_order_of_rules(line: Line, seed: int) -> None:
    graph = model(GRAPH)
    first, second = explore(RULES, graph), explore(shuffled_rules(seed), graph)
    assert structure(first) == structure(second)
    costs = [line(rules, graph).outcome.cost_after for rules in (RULES, shuffled_rules(seed))]
    assert costs[0] == costs[1]


@pytest.mark.parametrize("seed", range(4))
def test_order_of_nodes(line: Line, seed: int) -> None:
    graph = model(GRAPH)
    other = shuffled_nodes(graph, seed)
    assert structure(explore(RULES, graph)) == structure(explore(RULES, other))
    outcomes = [line(RULES, proto).outcome for proto in (graph, other)]
    assert outcomes[0].cost_after == outcomes[1].cost_after
    assert all(o.extraction and o.extraction.status is Status.OPTIMAL for o in outcomes)


@pytest.mark.parametrize("seed", range(4))
def test_order_with_merges(line: Line, seed: int) -> None:
    """Which of two operands stands first in a Concat follows the graph; how many there are and
    what the answer costs does not."""
    graph = model(GRAPH)
    other = shuffled_nodes(graph, seed)
    cost = "cost model launches { MatMul = 20 _ = 1 }"
    first = explore(RULES + MERGE, graph)
    second = explore(shuffled_rules(seed) + MERGE, other)
    for name in ("MatMul", "Concat", "Split"):
        assert len(applications(first, name)) == len(applications(second, name))
    answers = [
        line(rules + MERGE + cost, proto, cost="launches").outcome
        for rules, proto in ((RULES, graph), (shuffled_rules(seed), other))
    ]
    assert answers[0].cost_after == answers[1].cost_after
    assert answers[0].cost_after < answers[0].cost_before


def test_order_of_matches_in_a_rule() -> None:
    """And of conditions, and of the operands of a commutative operator."""
    left = """rule r { match { a = Relu(x)  b = Add(a, z)  c = Neg(x) }
      where rank(x) == 2, rank(z) == 2
      emit { b = Add(z, Relu(x))  c = Neg(Identity(x)) } }"""
    right = """rule r { match { c = Neg(x)  b = Add(z, a)  a = Relu(x) }
      where rank(z) == 2, rank(x) == 2
      emit { c = Neg(Identity(x))  b = Add(Relu(x), z) } }"""
    graph = model(
        """(float[2,2] x, float[2,2] z) => (float[2,2] y, float[2,2] n)
        { a = Relu(x) y = Add(a, z) n = Neg(x) }"""
    )
    first, second = explore(left, graph), explore(right, graph)
    assert structure(first) == structure(second)
    assert first.exploration.rules["r"].applied == second.exploration.rules["r"].applied > 0


def test_two_runs_write_the_same_bytes(tmp_path: Path) -> None:
    """In two processes that hash differently."""
    onnx.save(model(GRAPH), tmp_path / "m.onnx")
    cost = "cost model launches { MatMul = 20 _ = 1 }"
    (tmp_path / "r.tsat").write_text(RULES + MERGE + cost)
    script = "import sys; from tensat_dl.cli.main import main; sys.exit(main())"
    written = []
    for seed in ("1", "2"):
        arguments = ["run", "r.tsat", "m.onnx", "-o", f"{seed}.onnx", "--cost", "launches"]
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments],
            cwd=tmp_path,
            env={"PYTHONHASHSEED": seed, "PATH": ""},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        written.append((tmp_path / f"{seed}.onnx").read_bytes())
    assert written[0] == written[1]


def test_a_rule_for_commutativity_adds_nothing_and_ends() -> None:
    graph = model("(float[2] x, float[2] z) => (float[2] y) { a = Add(x, z) y = Add(a, x) }")
    saturated = explore("rewrite commute: Add(a, b) => Add(b, a)", graph)
    assert saturated.exploration.stopped_by == "saturated"
    assert saturated.exploration.steps <= 3
    assert len(applications(saturated)) == 2
