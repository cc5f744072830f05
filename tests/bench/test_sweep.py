"""200 of the onnx package's operator models, spread over the operators, through `std`.

`make sweep` runs all of them.  ONNX's own test models and onnxruntime are the independent source.
"""

from __future__ import annotations

import onnx
import pytest
import sweep

import tensat_dl

COUNT = 200

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def spread(cases: list[sweep.Case]) -> list[sweep.Case]:
    """The longest graph of each operator, as ONNX's names tell them apart, at even steps."""
    by_operator: dict[str, sweep.Case] = {}
    for case in cases:
        used = {node.op_type for node in case.model.graph.node}
        subject = min(used) if len(used) == 1 else case.name.split("/test_")[-1].split("_")[0]
        longest = by_operator.setdefault(subject, case)
        if len(case.model.graph.node) > len(longest.model.graph.node):
            by_operator[subject] = case
    found = list(by_operator.values())
    return [found[index * len(found) // COUNT] for index in range(COUNT)]


def test_outputs_stay_what_they_are() -> None:
    rules = tensat_dl.load_rules("std")
    rows = [sweep.run_case(case, rules) for case in spread(list(sweep.cases()))]
    assert [(row.name, row.failure) for row in rows if row.failure] == []
    assert sum(not row.skipped for row in rows) > 0.85 * COUNT
    assert sum(row.status == "improved" for row in rows) > 10


def test_a_wrong_result_fails() -> None:
    """The sweep itself: Neg made Abs, a type changed, an output renamed."""
    case = next(c for c in sweep.cases(("node",)) if c.name == "node/test_neg")
    assert sweep.compared(case, case.model) == ("", "")
    for change, message in ((_as_abs, "Not equal"), (_renamed, "other names")):
        wrong = onnx.ModelProto()
        wrong.CopyFrom(case.model)
        change(wrong)
        assert message in sweep.compared(case, wrong)[1]


def _as_abs(model: onnx.ModelProto) -> None:
    model.graph.node[0].op_type = "Abs"


def _renamed(model: onnx.ModelProto) -> None:
    model.graph.node[0].output[0] = model.graph.output[0].name = "other"
