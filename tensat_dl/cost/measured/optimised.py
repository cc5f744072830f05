"""What onnxruntime makes of a model before it runs it, as a key.

Enters: a model, in the file to which a session wrote what it had optimised.  Leaves: a text that is
the same for models of which the same was made: they take the same time, whatever noise says.
Names do not count, nor do the numbers in weights.
"""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import onnx
from onnx import TensorProto

_FILE, _WEIGHTS = "optimised.onnx", "weights.bin"
#: Larger constants are written beside the model, and not looked at.
_INSIDE = 64


def write_optimised(options: Any, folder: Path) -> None:
    """Have a session with these options write what it runs, in place of what another wrote."""
    (folder / _FILE).unlink(missing_ok=True)
    options.optimized_model_filepath = str(folder / _FILE)
    prefix = "session.optimized_model_external_initializers_"
    options.add_session_config_entry(f"{prefix}file_name", _WEIGHTS)
    options.add_session_config_entry(f"{prefix}min_size_in_bytes", str(_INSIDE))


def optimised_key(folder: Path) -> str:
    """The key of the model that a session wrote.  Raises OSError where it wrote none."""
    graph = onnx.load(folder / _FILE, load_external_data=False).graph
    digest = hashlib.sha256()

    def add(*parts: object) -> None:
        digest.update("\0".join(map(str, parts)).encode() + b"\1")

    numbers: dict[str, int] = {"": -1}
    constants = {tensor.name: tensor for tensor in graph.initializer}
    for value in graph.input:
        add("input", numbers.setdefault(value.name, len(numbers)), value.type)
    for node in graph.node:
        for name in node.input:
            if name in constants and name not in numbers:
                add("constant", len(numbers), *_described(constants[name]))
            numbers.setdefault(name, len(numbers))
        add(node.domain, node.op_type, *(numbers[name] for name in node.input))
        add(*(numbers.setdefault(name, len(numbers)) for name in node.output))
        for attribute in sorted(node.attribute, key=lambda each: each.name):
            digest.update(attribute.SerializeToString(deterministic=True))
    add("outputs", *(numbers.setdefault(value.name, len(numbers)) for value in graph.output))
    return digest.hexdigest()


def _described(tensor: TensorProto) -> tuple[object, ...]:
    """Its type; its content, too, where that is likely to say how much is to be done."""
    told = tensor.data_type, tuple(tensor.dims)
    if tensor.data_location == TensorProto.EXTERNAL or _is_weight(tensor):
        return told
    return *told, onnx.numpy_helper.to_array(tensor).tolist()


def _is_weight(tensor: TensorProto) -> bool:
    floats = onnx.helper.tensor_dtype_to_np_dtype(tensor.data_type).kind not in "iub"
    return floats and bool(tensor.dims)
