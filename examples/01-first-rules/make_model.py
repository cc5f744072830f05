"""Write `model.onnx`: a product, activated twice and transposed twice."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def make_model() -> onnx.ModelProto:
    weight = np.random.default_rng(0).standard_normal((16, 8)).astype(np.float32)
    nodes = [
        helper.make_node("MatMul", ["x", "w"], ["y"], "project"),
        helper.make_node("Relu", ["y"], ["r1"], "activate"),
        helper.make_node("Relu", ["r1"], ["r2"], "activate_again"),
        helper.make_node("Transpose", ["r2"], ["t1"], "turn", perm=[0, 2, 1]),
        helper.make_node("Transpose", ["t1"], ["t2"], "turn_back", perm=[2, 1, 0]),
        helper.make_node("Softmax", ["t2"], ["z"], "normalise", axis=-1),
    ]
    graph = helper.make_graph(
        nodes,
        "first",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["batch", 4, 16])],
        [helper.make_tensor_value_info("z", TensorProto.FLOAT, [4, 8, "batch"])],
        [numpy_helper.from_array(weight, "w")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    onnx.save(make_model(), sys.argv[1] if len(sys.argv) > 1 else "model.onnx")
