"""Random weights for models whose weights tell nothing, such as the light models of `onnx`.

Enters: a model.  Leaves: a copy in which every float initializer of at least one dim, and every
float tensor that a ConstantOfShape makes from constants, is random.  Weights of convolutions and
matrix products have the variance 2 / fan-in, so that activations keep their magnitude through
any number of ReLU layers; vectors (biases, scales, variances) are uniform in 0.5..1.5, so that
they are valid as any of those.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import TensorProto, helper, numpy_helper

_FLOATS = frozenset((TensorProto.FLOAT, TensorProto.DOUBLE, TensorProto.FLOAT16))
_CONVOLUTIONS = frozenset(("Conv", "ConvTranspose"))


def randomise_initializers(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    """A copy of `model` with random weights; the same seed gives the same weights."""
    copy = onnx.ModelProto()
    copy.CopyFrom(model)
    graph = copy.graph
    rng = np.random.default_rng(seed)
    fans = dict(_fans(graph))
    for tensor in graph.initializer:
        if tensor.data_type in _FLOATS and tensor.dims:
            dtype = numpy_helper.to_array(tensor).dtype
            array = _random(tuple(tensor.dims), fans.get(tensor.name, ""), rng).astype(dtype)
            tensor.CopyFrom(numpy_helper.from_array(array, tensor.name))
    _replace_filled(copy, fans, rng)
    return copy


def _replace_filled(
    model: onnx.ModelProto, fans: Mapping[str, str], rng: np.random.Generator
) -> None:
    """ConstantOfShape of a constant shape becomes an initializer of that shape."""
    graph = model.graph
    shapes = {t.name: numpy_helper.to_array(t) for t in graph.initializer}
    for node in [n for n in graph.node if n.op_type == "ConstantOfShape" and n.input[0] in shapes]:
        dtype = _filled_type(node)
        if dtype.kind != "f":
            continue
        dims = tuple(int(d) for d in shapes[node.input[0]])
        name = node.output[0]
        array = _random(dims, fans.get(name, ""), rng).astype(dtype)
        graph.initializer.append(numpy_helper.from_array(array, name))
        if model.ir_version < 4:
            code = helper.np_dtype_to_tensor_dtype(dtype)
            graph.input.append(helper.make_tensor_value_info(name, code, dims))
        graph.node.remove(node)
    _drop_unused(graph, set(shapes))


def _filled_type(node: onnx.NodeProto) -> np.dtype[Any]:
    value = next((a.t for a in node.attribute if a.name == "value"), None)
    return np.dtype(np.float32) if value is None else numpy_helper.to_array(value).dtype


def _drop_unused(graph: onnx.GraphProto, names: set[str]) -> None:
    used = {name for node in graph.node for name in node.input}
    used |= {value.name for value in graph.output}
    unused = names - used
    for entries in (graph.initializer, graph.input):
        for entry in [entry for entry in entries if entry.name in unused]:
            entries.remove(entry)


def _fans(graph: onnx.GraphProto) -> Iterator[tuple[str, str]]:
    """Weight name -> how its fan-in is found: "rest" (all dims but the first), "row" or "column"
    (the last but one dim, the last)."""
    for node in graph.node:
        if node.op_type in _CONVOLUTIONS and len(node.input) > 1:
            yield node.input[1], "rest"
        elif node.op_type == "Gemm":
            transposed = any(a.name == "transB" and a.i for a in node.attribute)
            yield node.input[1], "column" if transposed else "row"
        elif node.op_type == "MatMul":
            yield node.input[1], "row"
            yield node.input[0], "column"


def _random(dims: tuple[int, ...], fan: str, rng: np.random.Generator) -> NDArray[Any]:
    if len(dims) < 2:
        return np.asarray(rng.uniform(0.5, 1.5, dims))
    fan_in = {"row": dims[-2], "column": dims[-1]}.get(fan, math.prod(dims[1:]))
    return np.asarray(rng.standard_normal(dims) * math.sqrt(2.0 / max(fan_in, 1)))
