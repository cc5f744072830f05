"""Runs the command line inside the test process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tensat_dl.cli.main import main


@dataclass(frozen=True)
class Done:
    """What a command line left behind."""

    code: int
    out: str
    err: str


@pytest.fixture
def tensat(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., Done]:
    """`tensat("ops", "Conv")`, in an empty working directory."""
    monkeypatch.chdir(tmp_path)

    def run(*arguments: object) -> Done:
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = int(stop.code or 0)
        captured = capsys.readouterr()
        return Done(code, captured.out, captured.err)

    return run


@pytest.fixture
def two_products(tmp_path: Path) -> Path:
    """A model: q = relu(relu(x)) wq and k = relu(relu(x)) wk, of batch size `batch`."""
    from onnx import TensorProto, helper, numpy_helper, save_model

    rng = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(rng.standard_normal((16, 4)).astype(np.float32), name)
        for name in ("wq", "wk")
    ]
    nodes = [
        helper.make_node("Relu", ["x"], ["r"]),
        helper.make_node("Relu", ["r"], ["s"]),
        helper.make_node("MatMul", ["s", "wq"], ["q"]),
        helper.make_node("MatMul", ["s", "wk"], ["k"]),
    ]
    x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 16])
    outputs = [
        helper.make_tensor_value_info(name, TensorProto.FLOAT, ["batch", 4]) for name in "qk"
    ]
    graph = helper.make_graph(nodes, "two_products", [x], outputs, weights)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    path = tmp_path / "m.onnx"
    save_model(model, path)
    return path
