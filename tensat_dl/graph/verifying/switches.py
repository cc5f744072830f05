"""Numbers with which a model compares an input: what it does may hang on them.

Enters: a model, its inputs.  Leaves: the numbers, by input of one integer.  A sampling rate that is
8000 or 16000 would never be drawn, and only with some of such numbers a model may run at all.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import onnx
from onnx import numpy_helper

from tensat_dl.graph.names import subgraphs
from tensat_dl.graph.reading.constant_nodes import constant_node_value
from tensat_dl.graph.tensors import inside_bytes

_COMPARISONS = frozenset({"Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual"})
#: What gives the number that it is given.
_CARRIERS = frozenset({"Cast", "Identity", "Reshape", "Squeeze", "Unsqueeze"})
#: A number takes at most so many bytes.
_NUMBER_BYTES = 8
#: So many numbers of an input are tried.
_MOST = 4


def compared_numbers(proto: onnx.ModelProto, names: Sequence[str]) -> Mapping[str, tuple[int, ...]]:
    """Input -> numbers, those first that are compared first; inputs without any are left out."""
    if not names:
        return {}
    found: dict[str, dict[int, None]] = {}
    carried = {name: name for name in names}
    numbers = _initializers(proto.graph)
    for node in _nodes(proto.graph):
        _note(node, carried, numbers)
        if node.op_type not in _COMPARISONS or len(node.input) != 2:
            continue
        for read, other in (tuple(node.input), tuple(node.input)[::-1]):
            if read in carried and other in numbers:
                found.setdefault(carried[read], {})[numbers[other]] = None
    return {name: tuple(each)[:_MOST] for name, each in found.items()}


def _note(node: onnx.NodeProto, carried: dict[str, str], numbers: dict[str, int]) -> None:
    """What a node gives, where that is an input or a number."""
    if node.op_type in _CARRIERS and node.input and node.input[0] in carried:
        carried[node.output[0]] = carried[node.input[0]]
    elif node.op_type == "Constant":
        constant = constant_node_value(node, None)
        if constant is not None and constant.value is not None and len(constant.value) == 1:
            _add(numbers, node.output[0], constant.value[0])


def _initializers(graph: onnx.GraphProto) -> dict[str, int]:
    numbers: dict[str, int] = {}
    for tensor in graph.initializer:
        if 0 < inside_bytes(tensor) <= _NUMBER_BYTES and not tensor.external_data:
            values = numpy_helper.to_array(tensor).flatten().tolist()
            if len(values) == 1:
                _add(numbers, tensor.name, values[0])
    return numbers


def _add(numbers: dict[str, int], name: str, value: object) -> None:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if whole and not isinstance(value, bool):
        numbers[name] = int(value)  # type: ignore[call-overload]


def _nodes(graph: onnx.GraphProto) -> Iterator[onnx.NodeProto]:
    """Those of subgraphs, too, which read what is outside by its name."""
    for node in graph.node:
        yield node
        for inner in subgraphs(node):
            yield from _nodes(inner)
