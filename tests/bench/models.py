"""TENSAT's benchmark graphs in ONNX, rebuilt from their published definitions.

Batch 1, random weights from a seed, no biases.  `python tests/bench/models.py NAME OUT.onnx`.
"""

from __future__ import annotations

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


class Builder:
    """Adds nodes one by one; values are named after their operator."""

    def __init__(self, seed: int = 0, opset: int = 17) -> None:
        self.opset = opset
        self.rng = np.random.default_rng(seed)
        self.nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.inputs: list[onnx.ValueInfoProto] = []

    def input(self, name: str, dims: tuple[int, ...]) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, dims))
        return name

    def weight(self, *dims: int) -> str:
        """Of a product: rows are inputs."""
        return self._tensor("w", self.rng.standard_normal(dims) / np.sqrt(dims[0]))

    def kernel(self, *dims: int) -> str:
        """Of a convolution, for activations that keep their magnitude through ReLUs."""
        fan_in = int(np.prod(dims[1:]))
        return self._tensor("w", self.rng.standard_normal(dims) * np.sqrt(2 / fan_in))

    def vector(self, length: int) -> str:
        """A bias, a scale or a variance."""
        return self._tensor("v", self.rng.uniform(0.5, 1.5, length))

    def number(self, value: float) -> str:
        return self._tensor("n", np.array(value))

    def constant(self, values: list[int]) -> str:
        return self._tensor("c", np.array(values), np.int64)

    def integer(self, value: int) -> str:
        return self._tensor("c", np.array(value), np.int64)

    def _tensor(self, letter: str, values: np.ndarray, dtype: type = np.float32) -> str:
        name = f"{letter}{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(values.astype(dtype), name))
        return name

    def op(self, op_type: str, *inputs: str, **attributes: object) -> str:
        name = f"{op_type.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op_type, inputs, [name], name, **attributes))
        return name

    def model(self, outputs: dict[str, tuple[int, ...]]) -> onnx.ModelProto:
        infos = [
            helper.make_tensor_value_info(name, TensorProto.FLOAT, dims)
            for name, dims in outputs.items()
        ]
        graph = helper.make_graph(self.nodes, "bench", self.inputs, infos, self.initializers)
        imports = [helper.make_opsetid("", self.opset)]
        model = helper.make_model(graph, opset_imports=imports, ir_version=8)
        onnx.checker.check_model(model)
        return model


def nasrnn(steps: int = 5, hidden: int = 512) -> onnx.ModelProto:
    """The NAS cell, unrolled: 16 matmuls a step."""
    b = Builder()
    state = b.weight(1, hidden)
    for step in range(steps):
        x = b.input(f"x{step}", (1, hidden))
        t = [
            b.op(
                "Add",
                b.op("MatMul", state, b.weight(hidden, hidden)),
                b.op("MatMul", x, b.weight(hidden, hidden)),
            )
            for _ in range(8)
        ]
        m0 = b.op("Add", b.op("Relu", t[0]), b.op("Sigmoid", t[3]))
        m1 = b.op("Add", b.op("Sigmoid", t[1]), b.op("Tanh", t[2]))
        m2 = b.op("Mul", b.op("Sigmoid", t[4]), b.op("Tanh", t[5]))
        m3 = b.op("Mul", b.op("Sigmoid", t[6]), b.op("Relu", t[7]))
        m4 = b.op("Add", b.op("Sigmoid", m1), b.op("Tanh", m2))
        m5 = b.op("Mul", b.op("Tanh", m0), b.op("Tanh", m3))
        m6 = b.op("Mul", b.op("Tanh", m4), b.op("Tanh", m5))
        state = b.op("Tanh", m6)
    return b.model({state: (1, hidden)})


def bert(blocks: int = 8, length: int = 64, width: int = 1024, heads: int = 16) -> onnx.ModelProto:
    """TENSAT's BERT: no softmax, k not transposed."""
    b = Builder()
    x = b.op("Relu", b.input("x", (length, width)))
    outputs: dict[str, tuple[int, ...]] = {}
    split = b.constant([length, heads, width // heads])
    join = b.constant([length, width])
    for _ in range(blocks):
        q, k, v = (
            b.op(
                "Transpose",
                b.op("Reshape", b.op("MatMul", x, b.weight(width, width)), split),
                perm=[1, 0, 2],
            )
            for _ in range(3)
        )
        attended = b.op("MatMul", b.op("MatMul", q, k), v)
        out = b.op("Reshape", b.op("Transpose", attended, perm=[1, 0, 2]), join)
        outputs[out] = (length, width)
        x = b.op("MatMul", x, b.weight(width, width))
    outputs[x] = (length, width)
    return b.model(outputs)


MODELS = {"nasrnn": nasrnn, "bert": bert}

if __name__ == "__main__":
    onnx.save(MODELS[sys.argv[1]](), sys.argv[2])
