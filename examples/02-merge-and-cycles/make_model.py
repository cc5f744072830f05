"""Write `model.onnx`: seven matrix products, of which two cannot be merged.

`q`, `k` and `v` multiply one input `x` with three weights.  `c` and `d` multiply two inputs with
one right operand `u`.  `a` and `b` multiply two tensors with one right operand `s`; but the left
operand of `b` is computed from `a`, so that a product that gives both would need its own output.
"""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def make_model() -> onnx.ModelProto:
    random = np.random.default_rng(0)
    weights = [
        numpy_helper.from_array(random.standard_normal((16, 4)).astype(np.float32), name)
        for name in ("wq", "wk", "wv")
    ]
    nodes = [
        helper.make_node("MatMul", ["x", "wq"], ["q"], "q"),
        helper.make_node("MatMul", ["x", "wk"], ["k"], "k"),
        helper.make_node("MatMul", ["x", "wv"], ["v"], "v"),
        helper.make_node("MatMul", ["l", "u"], ["c"], "c"),
        helper.make_node("MatMul", ["r", "u"], ["d"], "d"),
        helper.make_node("MatMul", ["l", "s"], ["a"], "a"),
        helper.make_node("Tanh", ["a"], ["t"], "t"),
        helper.make_node("MatMul", ["t", "s"], ["b"], "b"),
    ]
    inputs = {"x": [8, 16], "l": [4, 4], "r": [4, 4], "s": [4, 4], "u": [4, 4]}
    outputs = {"q": [8, 4], "k": [8, 4], "v": [8, 4], "b": [4, 4], "c": [4, 4], "d": [4, 4]}
    graph = helper.make_graph(
        nodes,
        "merge",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in inputs.items()],
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in outputs.items()],
        weights,
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    onnx.save(make_model(), sys.argv[1] if len(sys.argv) > 1 else "model.onnx")
