"""Constant nodes: a value spelled as a node.

Enters: any node.  Leaves: the constant that it is, None where it is none.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tensat_dl.graph.constants import constant_of_array, constant_of_tensor
from tensat_dl.graph.model import Constant
from tensat_dl.graph.source import plain_domain


def constant_node_value(proto: onnx.NodeProto, folder: Path | None) -> Constant | None:
    """The value of a Constant node; None for other nodes and for sparse values."""
    if proto.op_type != "Constant" or plain_domain(proto.domain):
        return None
    for attribute in proto.attribute:
        if attribute.name == "value":
            return constant_of_tensor(attribute.t, folder)
        if attribute.name in _ELEMENT_TYPES:
            value = onnx.helper.get_attribute_value(attribute)
            return constant_of_array(np.array(value, _ELEMENT_TYPES[attribute.name]))
        if attribute.name == "value_string":
            return constant_of_tensor(_texts(attribute.s))
        if attribute.name == "value_strings":
            return constant_of_tensor(_texts(*attribute.strings, dims=[len(attribute.strings)]))
    return None


def _texts(*content: bytes, dims: Sequence[int] = ()) -> onnx.TensorProto:
    return onnx.TensorProto(data_type=onnx.TensorProto.STRING, dims=dims, string_data=content)


_ELEMENT_TYPES: Mapping[str, Any] = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
}
