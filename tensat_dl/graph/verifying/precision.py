"""How precise can an output be?

Enters: a model and the types of its values.  Leaves: for each value the coarsest floating-point
type that it is computed in: that of a model of f16 whose outputs are cast to f32 is f16.
"""

from __future__ import annotations

from collections.abc import Mapping

import onnx

from tensat_dl.graph.structure import initializer_names, sorted_nodes
from tensat_dl.graph.subgraphs import captured_by
from tensat_dl.graph.verifying.compare import tolerance
from tensat_dl.vocabulary.types import TensorType, Type


def coarsest_types(proto: onnx.ModelProto, types: Mapping[str, Type]) -> dict[str, int]:
    """Value -> code of the element type; values that nothing is known of are left out.

    Inputs and constants are exact, whatever their type, and so is what follows from constants.
    """
    if not types:
        return {}
    graph = proto.graph
    constants = set(initializer_names(graph))
    varying = {value.name for value in graph.input if value.name not in constants}
    found: dict[str, int] = {}
    for index in sorted_nodes(graph):
        node = graph.node[index]
        read = [*node.input, *captured_by(node)]
        if not varying.intersection(read):
            continue
        varying.update(node.output)
        inherited = [found[name] for name in read if name in found]
        for name in node.output:
            own = _float_code(types.get(name))
            codes = [*inherited, *([own] if own else [])]
            if codes:
                found[name] = max(codes, key=tolerance)
    return found


def _float_code(type_: Type | None) -> int:
    """The code of a floating-point element type, else 0."""
    if isinstance(type_, TensorType) and type_.dtype.is_float:
        return int(type_.dtype.onnx_code)
    return 0
