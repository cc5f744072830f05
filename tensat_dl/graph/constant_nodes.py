"""Constant nodes: a value spelled as a node.

Enters: any node.  Leaves: the constant that it is, None where it is none.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx

from tensat_dl.graph.constants import Array, constant_of_array, constant_of_tensor
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
            return constant_of_array(_array(value, _ELEMENT_TYPES[attribute.name]))
    return None


_ELEMENT_TYPES: Mapping[str, Any] = {
    "value_float": np.float32,
    "value_floats": np.float32,
    "value_int": np.int64,
    "value_ints": np.int64,
    "value_string": object,
    "value_strings": object,
}


def _array(value: Any, dtype: Any) -> Array:
    if dtype is not object:
        return np.array(value, dtype=dtype)
    if isinstance(value, list):
        return np.array([item.decode() for item in value], dtype=object)
    return np.array(value.decode(), dtype=object)
