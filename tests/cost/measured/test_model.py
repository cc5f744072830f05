"""Prices of the model `measured`: known, bounded, estimated; what is kept and what is lost."""

from __future__ import annotations

import math
from pathlib import Path

import onnx
import pytest
from fake_timer import SETTING, FakeTimer, by_operator

from tensat_dl.cost.measured import refusals
from tensat_dl.cost.measured.cache import CostCache
from tensat_dl.cost.measured.piece import piece_of
from tensat_dl.cost.symbol_sizes import SymbolSizes
from tensat_dl.cost.work import Chain, Part
from tensat_dl.egraph.snapshot import Application
from tensat_dl.progress import silent
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.attributes import Attributes
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.types import TensorType

EASY = {"MatMul": 1e-3, "Relu": 1e-5}


def unary(name: str, *dims: int, dtype: DType = DType.F32) -> Part:
    operator = catalog.operator(name)
    assert operator is not None
    type_ = TensorType(dtype, dims)
    return Part(Application(operator, Attributes(), 1), (type_,), (type_,), (False,))


def gather() -> Part:
    """An index of one is out of range here."""
    operator = catalog.operator("Gather")
    assert operator is not None
    row, index = TensorType(DType.F32, (1, 4)), TensorType(DType.I64, (2,))
    application = Application(operator, Attributes.of({"axis": 0}), 1)
    return Part(application, (row, index), (TensorType(DType.F32, (2, 4)),), (False, False))


def test_a_price_is_a_bound_until_it_is_measured(measured_model) -> None:
    timer = FakeTimer(by_operator(**EASY, Exp=7.0))
    model = measured_model(timer)
    exp = unary("Exp", 4)
    assert (model.price(exp), model.is_settled(exp)) == (0.0, False)
    model.measure([exp], silent)
    assert (model.price(exp), model.is_settled(exp)) == (7.0, True)


def test_what_is_known_is_not_timed_again(measured_model) -> None:
    first = FakeTimer(by_operator(**EASY, Exp=7.0))
    model = measured_model(first)
    model.measure([unary("Exp", 4), unary("Exp", 4)], silent)
    assert first.timed.count("Exp") == 1
    model.measure([unary("Exp", 4)], silent)
    assert first.timed.count("Exp") == 1
    second = FakeTimer(by_operator())
    again = measured_model(second)
    assert again.price(unary("Exp", 4)) == 7.0
    again.measure([unary("Exp", 4)], silent)
    assert second.timed == []


def test_what_is_refused_is_not_tried_again(
    measured_model, monkeypatch: pytest.MonkeyPatch
) -> None:
    exp, huge = unary("Exp", 4), unary("Exp", 1 << 23)  # which only memory may have lacked for
    tried = []
    for _ in range(2):
        timer = FakeTimer(by_operator(**EASY))
        model = measured_model(timer)
        model.measure([exp, huge], silent)
        assert (model.price(exp), model.is_settled(exp)) == (0.5, True)
        tried.append(timer.timed.count("Exp"))
    # with ones and with zeros each
    assert tried == [4, 2]
    monkeypatch.setattr(refusals, "_code", lambda: "models are made in another way")
    measured_model(timer := FakeTimer(by_operator(**EASY, Exp=7.0))).measure([exp], silent)
    assert timer.timed == ["Exp"]


def test_the_parts_of_a_refused_chain_are_measured_at_once(measured_model) -> None:
    def seconds(proto: onnx.ModelProto) -> float | None:
        return by_operator(**EASY, Exp=7.0)(proto) if len(proto.graph.node) == 1 else None

    model = measured_model(FakeTimer(seconds))
    chain = Chain(unary("Relu", 4), 0, unary("Exp", 4))
    model.measure([chain], silent)
    assert (model.price(chain), model.is_settled(chain)) == (7.0 + EASY["Relu"], True)


def test_without_a_cache_nothing_is_kept(measured_model, tmp_path: Path) -> None:
    for _ in range(2):
        timer = FakeTimer(by_operator(**EASY, Exp=7.0))
        measured_model(timer, cache=None).measure([unary("Exp", 4)], silent)
        assert timer.timed.count("Exp") == 1
    assert list(tmp_path.iterdir()) == []


def test_what_does_not_run_is_estimated(measured_model) -> None:
    model = measured_model(FakeTimer(by_operator(**EASY)))
    exp, odd = unary("Exp", 4), unary("Relu", 4, dtype=DType.BF16)
    model.measure([exp, odd], silent)
    assert (model.price(exp), model.is_settled(exp)) == (0.5, True)
    assert (model.price(odd), model.is_settled(odd)) == (0.5, True)
    tally = model.tally([exp, odd, unary("Relu", 4)], 1, [])
    assert (tally.estimated, tally.left) == (("Exp", "Relu"), 1)


def test_integers_are_zeros_where_ones_are_refused(measured_model) -> None:
    """An index must be in range, a divisor must not be 0."""

    def seconds(proto: onnx.ModelProto) -> float | None:
        if proto.graph.node[0].op_type != "Gather":
            return by_operator(**EASY)(proto)
        return 3.0 if feeds[-1]["v1"].max() == 0 else None

    timer = FakeTimer(seconds)
    feeds = []
    time = timer.time
    timer.time = lambda models, known: [  # type: ignore[method-assign]
        (feeds.append(model.feeds), time([model], known)[0])[1] for model in models
    ]
    model = measured_model(timer)
    model.measure([gather()], silent)
    assert model.price(gather()) == 3.0


def test_the_tally_tells_new_from_known(measured_model) -> None:
    timer = FakeTimer(by_operator(**EASY, Exp=7.0, Log=8.0))
    measured_model(timer).measure([unary("Exp", 4)], silent)
    model = measured_model(timer)
    parts = [unary("Exp", 4), unary("Exp", 4), unary("Log", 4)]
    model.measure([*parts, unary("Relu", 9)], silent)
    tally = model.tally(parts, 3, ["N"])
    assert (tally.used, tally.cached, tally.measured, tally.rounds) == (2, 1, 2, 3)
    assert (tally.setting, dict(tally.sizes)) == (SETTING, {"N": 16})


def test_an_interruption_keeps_what_was_measured_before(measured_model, tmp_path: Path) -> None:
    timer = FakeTimer(by_operator(**EASY, Exp=7.0))

    def interrupt() -> None:
        if "Exp" in timer.timed:
            timer.after = stop

    def stop() -> None:
        raise KeyboardInterrupt

    timer.after = interrupt
    model = measured_model(timer)
    with pytest.raises(KeyboardInterrupt):
        model.measure([unary("Exp", 4 + k) for k in range(30)], silent)
    kept = CostCache(tmp_path / "costs.sqlite").load(SETTING)
    assert [text for text in kept if text.startswith("Exp")]
    assert [path.name for path in tmp_path.iterdir()] == ["costs.sqlite"]


def test_a_damaged_cache_is_worked_round_with_one_note(measured_model, tmp_path: Path) -> None:
    path = tmp_path / "costs.sqlite"
    path.write_bytes(b"not what it was" * 500)
    model = measured_model(FakeTimer(by_operator(**EASY, Exp=7.0)))
    model.measure([unary("Exp", 4)], silent)
    model.measure([unary("Exp", 5)], silent)
    assert model.price(unary("Exp", 4)) == 7.0
    (note,) = model.notes
    assert "costs.sqlite is no cost cache" in note
    assert note.endswith("this run measures without it")
    assert path.read_bytes() == b"not what it was" * 500


def test_when_the_time_is_over_the_rest_is_estimated(measured_model) -> None:
    timer = FakeTimer(by_operator(**EASY, Exp=7.0))
    model = measured_model(timer, budget=0.0)
    exp = unary("Exp", 4)
    model.measure([exp], silent)
    assert timer.timed == []
    assert model.exhausted
    assert (model.price(exp), model.is_settled(exp)) == (0.5, False)


@pytest.mark.parametrize("name", catalog.names())
def test_no_type_can_break_a_question(name: str) -> None:
    operator = catalog.operator(name)
    assert operator is not None
    for type_ in (TensorType(DType.F32, None), TensorType(DType.F32, (2, 3, 4, 5))):
        inputs = (type_,) * max(1, operator.min_inputs)
        outputs = (type_,) * max(1, operator.min_outputs)
        piece = piece_of(
            Part(Application(operator, Attributes(), len(outputs)), inputs, outputs),
            None,
            SymbolSizes(2),
        )
        assert piece is None or math.isfinite(len(piece.signature))
