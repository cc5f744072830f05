"""Models written as text, and read back as terms.

Enters: a graph in ONNX's own textual syntax.  Leaves: a model.  Values that stand between `<` and
`>` without content are weights, drawn from a seed.  The other way, every output of a model is
printed as a term over its inputs, weights by name, constants by content where that is short,
by shape otherwise.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import onnx
from onnx import helper, numpy_helper


def model(text: str, opset: int = 17, **domains: int) -> onnx.ModelProto:
    """`(float[2] x) => (float[2] y) <float[2] w> { y = Add(x, w) }` as a model."""
    graph = onnx.parser.parse_graph("g " + text)
    made = {name for node in graph.node for name in node.output}
    outputs = {value.name for value in graph.output}
    weights = [v for v in graph.value_info if v.name not in made and v.name not in outputs]
    rng = np.random.default_rng(len(text))
    for value in weights:
        graph.value_info.remove(value)
        graph.initializer.append(numpy_helper.from_array(_draw(value, rng), value.name))
    imports = [helper.make_opsetid(domain.replace("_", "."), v) for domain, v in domains.items()]
    result = helper.make_model(
        graph, opset_imports=[helper.make_opsetid("", opset), *imports], ir_version=8
    )
    onnx.checker.check_model(result)
    return result


def _draw(value: onnx.ValueInfoProto, rng: np.random.Generator) -> np.ndarray:
    tensor = value.type.tensor_type
    dims = [d.dim_value for d in tensor.shape.dim]
    return rng.standard_normal(dims).astype(helper.tensor_dtype_to_np_dtype(tensor.elem_type))


def terms(proto: onnx.ModelProto) -> dict[str, str]:
    """Every graph output as a term."""
    printer = _Printer(proto.graph)
    return {output.name: printer.term(output.name) for output in proto.graph.output}


def operators(proto: onnx.ModelProto) -> list[str]:
    """The operators of all nodes, sorted."""
    return sorted(node.op_type for node in proto.graph.node)


#: Names that the tests give to weights; other constants are printed by content or shape.
_WEIGHTS = frozenset("w v u b c m s w1 w2 w3".split())


class _Printer:
    def __init__(self, graph: onnx.GraphProto) -> None:
        self.made = {o: (node, i) for node in graph.node for i, o in enumerate(node.output) if o}
        self.weights = {tensor.name: tensor for tensor in graph.initializer}

    def term(self, name: str) -> str:
        if name in self.weights:
            return self.constant(name)
        if name not in self.made:
            return name
        node, place = self.made[name]
        if node.op_type == "Constant":
            return _content(numpy_helper.to_array(node.attribute[0].t))
        arguments = [self.term(i) if i else "_" for i in node.input]
        text = f"{node.op_type}({', '.join([*arguments, *_attributes(node)])})"
        return text if len(node.output) == 1 else f"{text}.{place}"

    def constant(self, name: str) -> str:
        array = numpy_helper.to_array(self.weights[name])
        short = all(len(f"{v:g}") <= 5 for v in array.ravel()[:5].tolist())
        if name not in _WEIGHTS and array.size <= 4 and array.ndim < 2 and short:
            return _content(array)
        return name if name in _WEIGHTS else f"<{'x'.join(map(str, array.shape))}>"


def _content(array: np.ndarray) -> str:
    kind = {"f": "f", "i": "i", "b": "", "u": "u"}[array.dtype.kind]
    values = [f"{v:g}" if kind == "f" else str(v) for v in array.ravel().tolist()]
    text = f"[{', '.join(values)}]" if array.ndim else values[0]
    return text if kind != "f" else f"f32({text})" if array.dtype == np.float32 else text


def _attributes(node: onnx.NodeProto) -> Iterator[str]:
    for attribute in sorted(node.attribute, key=lambda a: a.name):
        value = helper.get_attribute_value(attribute)
        text = value.decode() if isinstance(value, bytes) else f"{value}".replace("\n", " ")
        yield f"{attribute.name}={text}"
