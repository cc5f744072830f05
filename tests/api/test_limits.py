"""Limits on what is written: operators and bytes of weights, counted in the file."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import numpy_helper, parser

import tensat_dl
from tensat_dl.errors import InfeasibleError

RULES = """\
language 1
rewrite associate: MatMul(MatMul(x, a), b) <=> MatMul(x, MatMul(a, b))
rewrite narrow: Add(x, Expand(b, s)) => Add(x, b)
rewrite relu: Relu(Relu(x)) => Relu(x)
rewrite as_sum: Sub(x, y) => Add(x, Neg(y))
"""


@pytest.fixture
def rules(tmp_path: Path) -> str:
    path = tmp_path / "rules.tsat"
    path.write_text(RULES)
    return str(path)


def product(*, grouped: str) -> onnx.ModelProto:
    """x (4x8) times A (8x1) times B (1x8): 64 bytes of weights, or 256 where A B is folded."""
    values = {"a": np.arange(8.0).reshape(8, 1), "b": np.arange(8.0).reshape(1, 8)}
    body = {
        "left": "t = MatMul(x, a) y = MatMul(t, b)",
        "right": "t = MatMul(a, b) y = MatMul(x, t)",
    }
    head = '<ir_version: 8, opset_import: ["": 17]> g (float[4,8] x) => (float[4,8] y)'
    proto = parser.parse_model(f"{head} {{ {body[grouped]} }}")
    for name, value in values.items():
        proto.graph.initializer.append(numpy_helper.from_array(value.astype(np.float32), name))
    return proto


def run(proto: onnx.ModelProto, rules: str, **extract: object) -> tensat_dl.Result:
    return tensat_dl.optimize(proto, rules, {"cost": {"model": "nodes"}, "extract": extract})


def operators(proto: onnx.ModelProto) -> dict[str, int]:
    return dict(Counter(node.op_type for node in proto.graph.node))


def weight_bytes(proto: onnx.ModelProto) -> int:
    return sum(numpy_helper.to_array(each).nbytes for each in proto.graph.initializer)


@pytest.mark.slow
@pytest.mark.parametrize("grouped", ["left", "right"])
def test_a_budget_for_weights(rules: str, grouped: str) -> None:
    free = run(product(grouped=grouped), rules)
    assert operators(free.model) == {"MatMul": 1} and weight_bytes(free.model) == 256
    tight = run(product(grouped=grouped), rules, max_weight_bytes="128B")
    assert operators(tight.model) == {"MatMul": 2} and weight_bytes(tight.model) == 64
    ample = run(product(grouped=grouped), rules, max_weight_bytes=256)
    assert weight_bytes(ample.model) == 256
    (limit,) = ample.report["extraction"]["limits"]
    assert (limit["at_most"], limit["used"]) == (256.0, 256.0)


def test_a_budget_that_nothing_keeps_to(rules: str) -> None:
    with pytest.raises(InfeasibleError) as raised:
        run(product(grouped="left"), rules, max_weight_bytes=60)
    assert raised.value.exit_code == 6
    assert "weights of at most 60 bytes" in raised.value.message
    assert "extract.max_weight_bytes" in raised.value.help


def test_an_operator_is_kept_out_at_a_price(rules: str) -> None:
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[4] x, float[4] z) => (float[4] y)'
    proto = parser.parse_model(f"{text} {{ y = Sub(x, z) }}")
    assert operators(run(proto, rules).model) == {"Sub": 1}
    result = run(proto, rules, at_most={"Sub": 0})
    assert operators(result.model) == {"Add": 1, "Neg": 1}
    assert result.report["status"] == "limited"
    assert (result.report["cost"]["before"], result.report["cost"]["after"]) == (1.0, 2.0)
    with pytest.raises(InfeasibleError, match="at most 0 Sub, at most 0 Neg"):
        run(proto, rules, at_most={"Sub": 0, "Neg": 0})


@pytest.mark.parametrize(("ties", "size"), [(["original"], 128), (["bytes"], 32)])
def test_what_settles_ties(rules: str, ties: list[str], size: int) -> None:
    # The sum costs one node with the wide constant of the model and with the rule's narrow one.
    text = '<ir_version: 8, opset_import: ["": 17]> g (float[4,8] x) => (float[4,8] y)'
    body = "w = Expand(b, s) t = Add(x, w) r = Relu(t) y = Relu(r)"
    proto = parser.parse_model(f"{text} <int64[2] s = {{4, 8}}> {{ {body} }}")
    narrow = np.arange(8, dtype=np.float32).reshape(1, 8)
    proto.graph.initializer.append(numpy_helper.from_array(narrow, "b"))
    result = run(proto, rules, ties=ties)
    assert operators(result.model) == {"Add": 1, "Relu": 1}
    assert weight_bytes(result.model) == size
