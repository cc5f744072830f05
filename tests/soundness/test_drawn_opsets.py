"""Instances of a rule are also run as models of other opsets have them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import onnx
import pytest
from rule_files import program_of, refutation, verify

from tensat_dl.errors import TensatError
from tensat_dl.graph.running.run import CannotRun
from tensat_dl.graph.source import Source
from tensat_dl.soundness import older
from tensat_dl.soundness.findings import findings
from tensat_dl.soundness.verdict import Computed, Counterexample, Status
from tensat_dl.vocabulary import adapters
from tensat_dl.vocabulary.versions.form import Form

SUMS = "@real\nrewrite r: ReduceSum(Neg(x), axes) => Neg(ReduceSum(x, axes))"
LOGARITHMS = "@real\nrewrite r: LogSoftmax(x, axis=a) => Log(Softmax(x, axis=a))"

Lower = Callable[[Form], Form | None]


@pytest.fixture
def lowered(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str, int, Lower], None]]:
    """Puts another way down in the place of that of an operator's change."""
    rows = adapters.rows_down

    def put(operator: str, since: int, down: Lower) -> None:
        def changed(name: str, version: int, target: int):
            row = rows(name, version, target)
            wanted = row is not None and (row.operator, row.since) == (operator, since)
            return replace(row, down=down) if wanted else row

        monkeypatch.setattr(adapters, "rows_down", changed)
        adapters._lowerable.cache_clear()

    yield put
    adapters._lowerable.cache_clear()


def test_a_rule_that_holds_is_run_in_three_forms() -> None:
    verdict = verify(SUMS)["r"]
    assert verdict.status is Status.HOLDS
    forms = {onnx.defs.get_schema("ReduceSum", opset).since_version for opset in verdict.opsets}
    assert forms == {1, 11, 13}  # axes became an input at 13


def test_the_opsets_depend_on_the_seed_alone() -> None:
    drawn = [verify(SUMS, samples=8, seed=seed)["r"].opsets for seed in (0, 0, 1, 2)]
    assert drawn[0] == drawn[1]
    assert len(set(drawn)) > 1
    assert {7, 25} <= {opset for opsets in drawn for opset in opsets}


def test_no_opset_is_drawn_at_which_the_rule_is_off() -> None:
    """Gelu is new in 20."""
    verdict = verify("@real\nrewrite r: Gelu(Neg(Neg(x))) => Gelu(x)")["r"]
    assert verdict.status is Status.HOLDS
    assert verdict.opsets and min(verdict.opsets) >= 20


def test_one_side_is_wrong_at_an_old_opset(lowered) -> None:
    """Before 13, Softmax normalised all axes from `axis` on."""
    lowered("Softmax", 13, lambda form: form.having(axis=0))
    found = refutation(verify(LOGARITHMS)["r"])
    assert 7 <= found.opset < 13
    assert found.computed is Computed.WRITTEN
    assert found.left_element != found.right_element
    assert _count(found) <= 4  # small: two elements tell them apart


def test_both_sides_are_wrong_in_the_same_way(lowered) -> None:
    """Summed along all axes."""
    lowered("ReduceSum", 13, lambda form: form.cut(1))
    found = refutation(verify(SUMS)["r"])
    assert found.opset < 13
    assert found.computed is Computed.READ


def _count(found: Counterexample) -> int:
    (tensor,) = found.inputs
    return sum(len(row) if isinstance(row, list) else 1 for row in tensor.elements)


def test_what_is_said_of_it(lowered) -> None:
    lowered("Softmax", 13, lambda form: form.having(axis=0))
    program = program_of(LOGARITHMS)
    verdicts = tuple(verify(LOGARITHMS).values())
    (said,) = findings(program, verdicts)
    opset = refutation(verdicts[0]).opset
    assert (said.code, said.message) == ("E1001", f"`r` does not hold at ai.onnx {opset}")
    assert said.notes[-1].endswith("(both written at that opset, and run)")
    assert "report it" in said.help


def test_what_is_priced_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(graph: object) -> object:
        raise TensatError("Neg cannot be written")

    monkeypatch.setattr(older, "build_source", refuse)
    found = refutation(verify(SUMS, samples=4)["r"])
    assert found.unwritable == "Neg cannot be written"
    (said,) = findings(program_of(SUMS), tuple(verify(SUMS, samples=4).values()))
    assert said.notes[-1].startswith("it should be on at ai.onnx ")


def test_onnxruntime_is_not_asked_about_empty_tensors(monkeypatch: pytest.MonkeyPatch) -> None:
    """It may end the process: an InstanceNormalization of nothing does."""
    asked: list[tuple[str, list[int]]] = []

    def noting(runner: str):
        def refuse(source: Source) -> object:
            sizes = [
                dim.dim_value
                for value in source.proto.graph.input
                for dim in value.type.tensor_type.shape.dim
            ]
            asked.append((runner, sizes))
            raise CannotRun("not here")

        return refuse

    monkeypatch.setattr(older, "open_reference", noting("reference"))
    monkeypatch.setattr(older, "open_runner", noting("onnxruntime"))
    for seed in range(6):
        assert verify("rewrite r: Relu(Relu(x)) => Relu(x)", seed=seed)["r"].opsets == ()
    empty = {runner for runner, sizes in asked if 0 in sizes}
    assert empty == {"reference"}
    assert {runner for runner, _ in asked} == {"reference", "onnxruntime"}
