"""What changed adds up to the headline, and each node that came or went is told."""

from __future__ import annotations

import hashlib
import math
import random
import sys
from pathlib import Path

import onnx
import pytest
from onnx_text import model

sys.path.insert(0, str(Path(__file__).parents[1] / "cost" / "measured"))
from fake_timer import FakeTimer

from tensat_dl import answer, pipeline
from tensat_dl.cost.measured.comparison import Comparison
from tensat_dl.cost.measured.timer import OrtTimer
from tensat_dl.outcome import Outcome
from tensat_dl.settings import (
    CostSettings,
    ExploreSettings,
    ExportSettings,
    ExtractSettings,
    Settings,
    VerifySettings,
)

EQUALITIES = """language 1
rewrite neg: Neg(Neg(x)) => x
rewrite relu: Relu(Relu(x)) => Relu(x)
rewrite transpose: Transpose(Transpose(x, perm=[1, 0]), perm=[1, 0]) => x
rewrite zero_product: Mul(x, 0): T[*S] => Expand(T(0), i64([*S]))
rewrite zero_sum: Add(x, 0) => x
rewrite absolute: Abs(Neg(x)) => Abs(x)
rewrite positive: Relu(Abs(x)) => Abs(x)
"""
#: Not sound, so the outputs are not compared.
NEW_NODES = """language 1
rewrite first: Neg(Abs(x)) => Sin(Cos(x))
rewrite second: Relu(Sin(Cos(x))) => Exp(x)
rewrite sum: Add(Add(x, y), z) => Sum(x, y, z)
rewrite later: Relu(Transpose(x, perm=[1, 0])) => Transpose(Relu(x), perm=[1, 0])
rewrite product: MatMul(a: f32[M, K], b: f32[K, N]) => Gemm(a, b)
rewrite nothing: Sub(x, x): T[*S] => Expand(T(0), i64([*S]))
"""
PARTNERS = """language 1
rule merge {
  match each (y, w, N) by (x) { y = MatMul(x, w: T[K, N]) }
  where weight(w)
  emit { *y = Split(MatMul(x, Concat(*w, axis=1)), i64([*N]), axis=1) }
}
rewrite relu: Relu(Relu(x)) => Relu(x)
rewrite bias: Add(MatMul(a: f32[M, K], b: f32[K, N]), c: f32[N]) => Gemm(a, b, c)
"""
ONE, TWO = ("Relu", "Neg", "Abs", "Transpose"), ("Add", "Mul", "Sub")


def random_model(seed: int) -> onnx.ModelProto:
    """A few operators over one size, some of them the same, some of zeros; every node is needed."""
    draw = random.Random(seed)
    made, lines = ["x"], []
    for number in range(draw.randint(4, 11)):
        name, at = f"t{number}", draw.choice(made[-4:])
        kind = draw.random()
        if kind < 0.4:
            operator = draw.choice(ONE)
            lines.append(f"{name} = {operator}({at})")
        elif kind < 0.6:
            lines.append(f"{name} = MatMul({at}, {draw.choice(['w', 'v'])})")
        elif kind < 0.75:
            lines.append(f"{name} = {draw.choice(TWO)}({at}, {draw.choice(['b', 'zero'])})")
        else:
            lines.append(f"{name} = {draw.choice(TWO)}({at}, {draw.choice(made)})")
        made.append(name)
    read = " ".join(line.split(" = ")[1] for line in lines)
    ends = [name for name in made[1:] if f"({name}," not in read and f"{name})" not in read]
    zeros = ", ".join(["0"] * 4)
    text = (
        f"(float[4,4] x) => ({', '.join(f'float[4,4] {end}' for end in ends)}) "
        f"<float[4,4] w, float[4,4] v, float[4] b, float[4] zero = {{{zeros}}}> "
        f"{{ {' '.join(lines)} }}"
    )
    return model(text)


def any_time(proto: onnx.ModelProto) -> float:
    """Seconds that depend on the operators; a chain takes from half to all of what its parts do."""

    def share(name: str) -> float:
        return hashlib.sha256(name.encode()).digest()[0] / 255

    names = [node.op_type for node in proto.graph.node]
    alone = sum(1.0 + share(name) for name in names)
    return alone * (0.5 + 0.5 * share("+".join(names))) if len(names) > 1 else alone


@pytest.fixture(params=["nodes", "roofline", "measured"])
def explained(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """Runs with --explain under a cost model."""
    monkeypatch.setattr(OrtTimer, "time", lambda _, *asked: FakeTimer(any_time).time(*asked))
    faster = Comparison(2.0, 1.0, 2.0, 1.9, 2.1, 25)
    monkeypatch.setattr(answer, "compare_models", lambda *_: faster)

    def run(rules: str, proto: onnx.ModelProto) -> Outcome:
        (tmp_path / "r.tsat").write_text(rules)
        settings = Settings(
            cost=CostSettings(model=request.param, cache=str(tmp_path / "c.sqlite")),
            explore=ExploreSettings(seconds=10, enodes=2000),
            extract=ExtractSettings(seconds=10),
            verify=VerifySettings(enabled=False),
            export=ExportSettings(explain=True),
        )
        return pipeline.optimize(proto, str(tmp_path / "r.tsat"), settings)

    return run


def require_account(outcome: Outcome) -> None:
    """The savings are the headline's, and the nodes are the model's."""
    changes = outcome.changes
    saved = math.fsum(change.saved for change in changes)
    assert saved == pytest.approx(outcome.cost_before - outcome.cost_after, rel=1e-6)
    came = sum(len(change.added) for change in changes)
    went = sum(len(change.removed) for change in changes)
    before, after = sum(outcome.nodes_before.values()), sum(outcome.nodes_after.values())
    assert before - went + came == after
    assert all(change.rules or change.reasons for change in changes if change.removed)


@pytest.mark.parametrize("rules", [EQUALITIES, NEW_NODES, PARTNERS])
@pytest.mark.parametrize("seed", range(4))
def test_savings_add_up_to_the_headline(explained, rules: str, seed: int) -> None:
    require_account(explained(rules, random_model(seed)))
