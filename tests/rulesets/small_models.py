"""Small ONNX models from a line of text.

Enters: statements in Python's syntax, `;` between them.  `x: f32[2, N]` is an input, `w: f32[3, 4]
= weight` an initializer with random positive values, `k: f32[2] = [1, 2]` one with these.  All
others are nodes: `y = Relu(MatMul(x, w))`, `a, b = Split(x, i64([1, 2]), axis=0)`; `None` is an
absent input, `i64([..])` and `f32(..)` are constants in place, `yes` and `no` booleans.  Leaves: a
checked model whose outputs are the names that nothing consumes, and those after `out:`.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import onnx
from onnx import TensorProto, compose, helper, numpy_helper, shape_inference

_DTYPES = {
    "f32": np.float32, "f64": np.float64, "f16": np.float16, "i8": np.int8, "u8": np.uint8,
    "i16": np.int16, "i32": np.int32, "i64": np.int64, "u32": np.uint32, "u64": np.uint64,
    "bool": np.bool_,
}  # fmt: skip


def build_model(text: str, opset: int = 21) -> onnx.ModelProto:
    """The model that `text` describes."""
    builder = _Builder()
    for statement in ast.parse(text.replace("; ", "\n")).body:
        builder.statement(statement)
    return builder.model(opset)


def side_by_side(models: Iterable[onnx.ModelProto]) -> onnx.ModelProto:
    """One model of models of one opset; names are told apart by a prefix."""
    graph = onnx.GraphProto(name="together")
    imports: Sequence[onnx.OperatorSetIdProto] = ()
    for number, model in enumerate(models):
        part = compose.add_prefix_graph(model.graph, f"m{number}_")
        graph.node.extend(part.node)
        graph.input.extend(part.input)
        graph.output.extend(part.output)
        graph.initializer.extend(part.initializer)
        imports = model.opset_import
    return helper.make_model(graph, opset_imports=imports, ir_version=10)


@dataclass
class _Builder:
    inputs: list[onnx.ValueInfoProto] = field(default_factory=list)
    initializers: list[onnx.TensorProto] = field(default_factory=list)
    nodes: list[onnx.NodeProto] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    names: int = 0

    def __post_init__(self) -> None:
        self.random = np.random.default_rng(0)

    def statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.AnnAssign(target=ast.Name("out"), annotation=annotation):
                self.shown += ast.unparse(annotation).strip("()").split(", ")
            case ast.AnnAssign(target=ast.Name(name), annotation=annotation, value=value):
                self.declare(name, annotation, value)
            case ast.Assign(targets=[ast.Name(name)], value=ast.Call() as call):
                self.node(call, [name])
            case ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call() as call):
                self.node(call, [ast.unparse(each) for each in names])
            case _:
                raise ValueError(ast.unparse(statement))

    def declare(self, name: str, annotation: ast.expr, value: ast.expr | None) -> None:
        dtype, dims = _type(annotation)
        if value is None:
            code = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
            self.inputs.append(helper.make_tensor_value_info(name, code, dims))
        elif isinstance(value, ast.Name):
            array = self.random.uniform(0.5, 1.5, dims).astype(dtype)
            self.initializers.append(numpy_helper.from_array(array, name))
        else:
            array = np.array(ast.literal_eval(value)).astype(dtype)
            shaped = np.broadcast_to(array, dims).copy()
            self.initializers.append(numpy_helper.from_array(shaped, name))

    def node(self, call: ast.Call, outputs: list[str]) -> None:
        inputs = [self.value(argument) for argument in call.args]
        attributes = {str(k.arg): _attribute(k.value) for k in call.keywords}
        self.nodes.append(helper.make_node(ast.unparse(call.func), inputs, outputs, **attributes))

    def value(self, expr: ast.expr) -> str:
        match expr:
            case ast.Constant(value=None):
                return ""
            case ast.Name(name):
                return name
            case ast.Call(func=ast.Name(name), args=[content]) if name in _DTYPES:
                with np.errstate(over="ignore", invalid="ignore"):  # -1e39 is minus infinity
                    return self.constant(np.array(_literal(content)).astype(_DTYPES[name]))
            case ast.Call():
                name = self.fresh()
                self.node(expr, [name])
                return name
        raise ValueError(ast.unparse(expr))

    def constant(self, array: np.ndarray[Any, Any]) -> str:
        name = self.fresh()
        self.initializers.append(numpy_helper.from_array(array, name))
        return name

    def fresh(self) -> str:
        self.names += 1
        return f"_{self.names}"

    def model(self, opset: int) -> onnx.ModelProto:
        used = {name for node in self.nodes for name in node.input}
        made = [name for node in self.nodes for name in node.output if name not in used]
        known = {value.name: value for value in self.inputs}
        shown = [known.get(name, onnx.ValueInfoProto(name=name)) for name in self.shown]
        outputs = [*(onnx.ValueInfoProto(name=name) for name in made), *shown]
        graph = helper.make_graph(self.nodes, "g", self.inputs, outputs, self.initializers)
        model = helper.make_model(
            graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=10
        )
        inferred = shape_inference.infer_shapes(model, data_prop=True)
        likely = self.inputs[0].type.tensor_type.elem_type if self.inputs else 0
        for value in inferred.graph.output:
            _complete(value.type.tensor_type, likely)
        onnx.checker.check_model(inferred)
        return inferred


def _complete(tensor: onnx.TypeProto.Tensor, likely: int) -> None:
    """A shape of unknown rank is said to be there, which the checker wants; and an element type,
    which ONNX does not infer of operators that are functions."""
    tensor.shape.SetInParent()
    tensor.elem_type = tensor.elem_type or likely


def _type(annotation: ast.expr) -> tuple[type, list[int | str]]:
    if isinstance(annotation, ast.Name):
        return _DTYPES[annotation.id], []
    assert isinstance(annotation, ast.Subscript)
    inner = annotation.slice
    items = inner.elts if isinstance(inner, ast.Tuple) else [inner]
    dims = [item.value if isinstance(item, ast.Constant) else ast.unparse(item) for item in items]
    return _DTYPES[ast.unparse(annotation.value)], dims


def _literal(expr: ast.expr) -> Any:
    return ast.literal_eval(expr)


def _attribute(expr: ast.expr) -> Any:
    if isinstance(expr, ast.Name):
        return TensorProto.DataType.Value(_ONNX[expr.id])
    return ast.literal_eval(expr)


_ONNX = {
    "f32": "FLOAT", "f64": "DOUBLE", "f16": "FLOAT16", "i8": "INT8", "u8": "UINT8",
    "i16": "INT16", "i32": "INT32", "i64": "INT64", "u32": "UINT32", "bool": "BOOL",
    "string": "STRING",
}  # fmt: skip
