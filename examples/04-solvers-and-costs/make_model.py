"""Write `model.onnx`: a chain of three matrices, cheapest when multiplied from the right."""

import sys

import onnx
from onnx import TensorProto, helper


def make_model() -> onnx.ModelProto:
    nodes = [
        helper.make_node("MatMul", ["a", "b"], ["ab"], "ab"),
        helper.make_node("MatMul", ["ab", "c"], ["abc"], "abc"),
        helper.make_node("MatMul", ["abc", "v"], ["y"], "y"),
    ]
    shapes = {"a": [64, 64], "b": [64, 64], "c": [64, 64], "v": [64, 1]}
    graph = helper.make_graph(
        nodes,
        "chain",
        [helper.make_tensor_value_info(n, TensorProto.FLOAT, d) for n, d in shapes.items()],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [64, 1])],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.checker.check_model(model, full_check=True)
    return model


if __name__ == "__main__":
    onnx.save(make_model(), sys.argv[1] if len(sys.argv) > 1 else "model.onnx")
