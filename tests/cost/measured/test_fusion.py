"""Chains that a runtime runs as one: priced as one, written as the nodes that they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import onnx
import pytest
from fake_timer import FakeTimer, by_operator
from measured_cases import YARDSTICKS, Case, chosen
from onnx_text import model as model_of

from tensat_dl import answer, pipeline
from tensat_dl.cost.measured import search
from tensat_dl.cost.measured.comparison import Comparison
from tensat_dl.cost.measured.timer import OrtTimer
from tensat_dl.diagnosis.changes import Change, explain_answer
from tensat_dl.settings import CostSettings, Settings


def fused(chains: dict[str, float], **single: float) -> Callable[[onnx.ModelProto], float | None]:
    """Times of chains (`Conv+Relu`), else the sum of single ones."""
    alone = by_operator(**{**YARDSTICKS, **single})

    def seconds(proto: onnx.ModelProto) -> float | None:
        name = "+".join(node.op_type for node in proto.graph.node)
        return chains.get(name, alone(proto))

    return seconds


POOL_FIRST = "rewrite swap: MaxPool(Relu(x), **o) => Relu(MaxPool(x, **o))"
CONV_RELU_POOL = (
    "(float[1,4,8,8] x) => (float[1,4,4,4] y) <float[4,4,3,3] w> "
    "{ c = Conv<pads=[1,1,1,1]>(x, w) r = Relu(c) "
    "y = MaxPool<kernel_shape=[2,2], strides=[2,2]>(r) }"
)


def relu_by_size(proto: onnx.ModelProto) -> float | None:
    """A ReLU behind the pooling is quicker; one that is fused takes nothing."""
    names = [node.op_type for node in proto.graph.node]
    if names == ["Relu"] and proto.graph.input:
        dims = proto.graph.input[0].type.tensor_type.shape.dim
        return 1.0 if len(dims) == 4 and dims[2].dim_value == 4 else 5.0
    return fused({"Conv+Relu": 10.0}, Conv=10.0, MaxPool=2.0)(proto)


def test_a_fused_activation_stays_where_it_is(measured_model) -> None:
    settled = Case(POOL_FIRST, CONV_RELU_POOL).settle(measured_model(FakeTimer(relu_by_size)))
    assert settled.before == settled.cost == 12.0
    rules = {node.rule for node in settled.chosen.values()}
    assert rules == {""}


def test_both_graphs_pay_the_least_of_a_chain_and_its_parts(measured_model) -> None:
    # Fused it seems to take 13, by noise: one after another it is 10 + 1.
    slow = fused({"Conv+Relu": 13.0}, Conv=10.0, MaxPool=2.0, Exp=1.0)
    still = Case("rewrite nothing: Exp(Exp(x)) => Exp(x)", CONV_RELU_POOL)
    settled = still.settle(measured_model(FakeTimer(slow)))
    assert settled.before == settled.cost == 13.0


def test_the_original_runs_its_cheapest_chains(measured_model) -> None:
    """(Transpose, MatMul) and Add would be 16, the first chain and the longest alike."""
    chains = {"Transpose+MatMul": 13.0, "MatMul+Add": 10.0}
    text = (
        "(float[4,2] x) => (float[2,3] y) <float[4,3] w, float[3] b> "
        "{ t = Transpose<perm=[1,0]>(x) m = MatMul(t, w) y = Add(m, b) }"
    )
    timer = FakeTimer(fused(chains, Transpose=4.0, MatMul=10.0, Add=3.0))
    settled = Case("rewrite nothing: Exp(Exp(x)) => Exp(x)", text).settle(measured_model(timer))
    assert settled.before == settled.cost == 4.0 + 10.0


def test_it_moves_where_the_runtime_fuses_nothing(measured_model) -> None:
    def seconds(proto: onnx.ModelProto) -> float | None:
        names = [node.op_type for node in proto.graph.node]
        return 15.0 if names == ["Conv", "Relu"] else relu_by_size(proto)

    settled = Case(POOL_FIRST, CONV_RELU_POOL).settle(measured_model(FakeTimer(seconds)))
    assert (settled.before, settled.cost) == (17.0, 13.0)


def test_a_chain_goes_through_operators_with_several_outputs(measured_model) -> None:
    """BatchNormalization has more outputs than one in training."""
    case = Case(
        "rewrite no: Relu(Relu(x)) => Relu(x)",
        "(float[1,4,8,8] x) => (float[1,4,8,8] y) "
        "<float[4,4,3,3] w, float[4] s, float[4] b, float[4] m, float[4] v> "
        "{ c = Conv<pads=[1,1,1,1]>(x, w) n = BatchNormalization(c, s, b, m, v) y = Relu(n) }",
    )
    times = fused(
        {"Conv+BatchNormalization+Relu": 10.0, "Conv+BatchNormalization": 10.0},
        Conv=10.0,
        BatchNormalization=4.0,
    )
    settled = case.settle(measured_model(FakeTimer(times)))
    assert settled.before == settled.cost == 10.0
    assert chosen(settled) == {"Conv", "BatchNormalization", "Relu"}


def test_what_is_read_twice_is_not_fused(measured_model) -> None:
    case = Case(
        "rewrite no: Relu(Relu(x)) => Relu(x)",
        "(float[1,4,8,8] x) => (float[1,4,8,8] y, float[1,4,8,8] c) <float[4,4,3,3] w> "
        "{ c = Conv<pads=[1,1,1,1]>(x, w) y = Relu(c) }",
    )
    times = fused({"Conv+Relu": 10.0}, Conv=10.0)
    settled = case.settle(measured_model(FakeTimer(times)))
    assert settled.before == settled.cost == 11.0


def test_chains_that_hold_another_node_for_a_class_are_not_taken(measured_model) -> None:
    """MatMul+Add is cheap as one, Gemm is cheap for the other reader; both cannot be had, for
    there is one node for the product."""
    case = Case(
        "rewrite gemm: MatMul(a: f32[M, K], b: f32[K, N]) => Gemm(a, b)",
        "(float[4,4] x, float[4,4] w) => (float[4,4] y, float[4,4] z) <float[4] b> "
        "{ p = MatMul(x, w) y = Add(p, b) z = Sin(p) }",
    )
    times = fused({"MatMul+Add": 1.0}, MatMul=10.0, Gemm=1.0, Add=10.0, Sin=1.0)
    settled = case.settle(measured_model(FakeTimer(times)))
    assert settled.cost == 12.0
    assert chosen(settled) == {"Gemm", "Add", "Sin"}


def test_chains_that_save_nothing_clash_in_the_first_run_only(
    measured_model, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bound of MatMul+Add is below what Gemm and Add take; its time is that of its parts."""
    case = Case(
        "rewrite gemm: MatMul(a: f32[M, K], b: f32[K, N]) => Gemm(a, b)",
        "(float[4,4] x, float[4,4] w) => (float[4,4] y, float[4,4] z) <float[4] b> "
        "{ p = MatMul(x, w) y = Add(p, b) z = Sin(p) }",
    )
    times = fused({}, MatMul=10.0, Gemm=1.0, Add=10.0, Sin=1.0)
    solve, solved = search.extract, []
    monkeypatch.setattr(search, "extract", lambda *given: solved.append(1) or solve(*given))
    monkeypatch.setattr(search.KeptAnswers, "get", lambda _, problem, settings, solve: solve())
    counts = []
    for _ in range(2):
        timer = FakeTimer(times)
        assert case.settle(measured_model(timer)).cost == 12.0
        counts.append((timer.timed.count("MatMul+Add"), len(solved)))
        solved.clear()
    assert counts[0][0] == 1
    assert counts[1] == (0, 3)  # by estimates, by times, and what the times were to confirm


def test_a_sum_is_fused_at_either_side(measured_model) -> None:
    case = Case(
        "rewrite no: Relu(Relu(x)) => Relu(x)",
        "(float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,4,3,3] w> "
        "{ c = Conv<pads=[1,1,1,1]>(x, w) s = Add(x, c) y = Relu(s) }",
    )
    timer = FakeTimer(fused({"Conv+Add+Relu": 10.0}, Conv=10.0, Add=5.0))
    settled = case.settle(measured_model(timer))
    assert settled.before == settled.cost == 10.0


def test_a_chain_that_does_not_run_is_what_its_parts_are(measured_model) -> None:

    def seconds(proto: onnx.ModelProto) -> float | None:
        names = [node.op_type for node in proto.graph.node]
        return None if names == ["Conv", "Relu"] else relu_by_size(proto)

    model = measured_model(FakeTimer(seconds))
    model.estimate = lambda part: 0.001
    settled = Case(POOL_FIRST, CONV_RELU_POOL).settle(model)
    assert (settled.before, settled.cost) == (17.0, 13.0)


@pytest.mark.parametrize("faster", [Comparison(2.0, 1.0, 2.0, 1.9, 2.1, 25)])
def test_what_is_fused_keeps_its_name(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, faster: Comparison
) -> None:
    """Only the pricing knows of chains."""
    monkeypatch.setattr(
        OrtTimer, "time", lambda _, *asked: FakeTimer(relu_by_size_or_one).time(*asked)
    )
    monkeypatch.setattr(answer, "compare_models", lambda *_: faster)
    proto = model_of(
        "(float[1,4,8,8] x) => (float[1,4,8,8] y) <float[4,4,3,3] w> "
        "{ c = Conv<pads=[1,1,1,1]>(x, w) r = Relu(c) s = Neg(r) t = Neg(s) y = Identity(t) }"
    )
    for node in proto.graph.node:
        node.name = f"my {node.op_type} {node.output[0]}"
    (tmp_path / "r.tsat").write_text("language 1\nrewrite twice: Neg(Neg(x)) => x\n")
    settings = Settings(cost=CostSettings(model="measured", cache=str(tmp_path / "c.sqlite")))
    outcome = pipeline.optimize(proto, str(tmp_path / "r.tsat"), settings)
    names = [node.name for node in outcome.model.proto.graph.node]
    assert names[:2] == ["my Conv c", "my Relu r"]
    assert not any("Neg" in name for name in names)


def relu_by_size_or_one(proto: onnx.ModelProto) -> float:
    """Whatever has no time takes a second a node."""
    return relu_by_size(proto) or float(len(proto.graph.node))


def test_what_a_change_saves_has_the_fusing_that_it_lets_happen(measured_model) -> None:
    """Between the product and the sum two nodes go: 5 + 1 + 1 + 3 becomes one piece of 6."""
    case = Case(
        "rewrite neg: Neg(Neg(x)) => x",
        "(float[4,4] x, float[4,4] w) => (float[4,4] y, float[4,4] z) <float[4] b> "
        "{ p = MatMul(x, w) n = Neg(p) m = Neg(n) y = Add(m, b) z = Sin(x) }",
    )
    timer = FakeTimer(fused({"MatMul+Add": 6.0}, MatMul=5.0, Add=3.0, Neg=1.0, Sin=2.0))
    model = measured_model(timer)
    settled = case.settle(model)
    assert (settled.before, settled.cost) == (12.0, 8.0)
    timed = len(timer.timed)
    given = (case.graph, case.saturated, settled, model, case.program)
    gone, beside = ("Neg of `n`", "Neg of `m`"), ("MatMul of `p`", "Add of `y`")
    assert explain_answer(*given, 4.0) == (Change(gone, (), 4.0, ("neg",), beside),)
    # Where the written model computes a constant of 1 at run time, the whole saves 3.
    *_, rest = explain_answer(*given, 3.0)
    assert rest == Change((), (), -1.0, (), (), ("constants that are not folded",))
    assert len(timer.timed) == timed


def test_what_stays_joins_no_changes(measured_model) -> None:
    """The first sum is read by the second product, and both stay; what each pair lets fuse is its
    own: twice 5, 1, 1, 3 becomes 6."""
    case = Case(
        "rewrite neg: Neg(Neg(x)) => x",
        "(float[4,4] x, float[4,4] w) => (float[4,4] y) <float[4] b> "
        "{ p = MatMul(x, w) n = Neg(p) m = Neg(n) a = Add(m, b) "
        "q = MatMul(a, w) i = Neg(q) j = Neg(i) y = Add(j, b) }",
    )
    times = fused({"MatMul+Add": 6.0}, MatMul=5.0, Add=3.0, Neg=1.0)
    model = measured_model(FakeTimer(times))
    settled = case.settle(model)
    assert (settled.before, settled.cost) == (20.0, 12.0)
    assert explain_answer(case.graph, case.saturated, settled, model, case.program, 8.0) == (
        Change(("Neg of `n`", "Neg of `m`"), (), 4.0, ("neg",), ("MatMul of `p`", "Add of `a`")),
        Change(("Neg of `i`", "Neg of `j`"), (), 4.0, ("neg",), ("MatMul of `q`", "Add of `y`")),
    )
