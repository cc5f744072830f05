"""The local functions of a model, and which one a node calls.

Domain and name alone do not tell: functions of one name may differ by their overload.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from tensat_dl.graph.source import plain_domain

#: Domain, name and overload.
FunctionKey = tuple[str, str, str]


def function_bodies(proto: onnx.ModelProto) -> Mapping[FunctionKey, Sequence[onnx.NodeProto]]:
    """The nodes of each local function."""
    return {(plain_domain(f.domain), f.name, f.overload): f.node for f in proto.functions}


def called_function(node: onnx.NodeProto) -> FunctionKey:
    """What a node calls, where a function of that key exists."""
    return (plain_domain(node.domain), node.op_type, node.overload)
