"""Which outputs of a model are random: those that depend on a random operator.

Enters: a model.  Leaves: names of outputs, which are not compared.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import onnx

from tensat_dl.graph.functions import FunctionKey, called_function, function_bodies
from tensat_dl.graph.names import subgraphs
from tensat_dl.graph.source import plain_domain
from tensat_dl.graph.subgraphs import captured_by

_WORDS = ("Random", "Bernoulli", "Multinomial", "Dropout", "Sampling")


def random_outputs(proto: onnx.ModelProto) -> frozenset[str]:
    """Names of graph outputs that differ from run to run, or might."""
    functions = function_bodies(proto)
    random: set[str] = set()
    pending = list(proto.graph.node)
    changed = True
    while changed:
        changed = False
        for node in pending:
            reads = {*node.input, *captured_by(node)}
            if not random.isdisjoint(reads) or may_be_random(node, functions):
                changed = changed or not random.issuperset(filter(None, node.output))
                random.update(filter(None, node.output))
    return frozenset(value.name for value in proto.graph.output if value.name in random)


def may_be_random(
    node: onnx.NodeProto, functions: Mapping[FunctionKey, Sequence[onnx.NodeProto]]
) -> bool:
    """What the node makes differs from run to run, or might; `functions`: the local ones."""
    inner = functions.get(called_function(node), ())
    if any(may_be_random(called, functions) for called in inner):
        return True
    if any(may_be_random(called, functions) for graph in subgraphs(node) for called in graph.node):
        return True
    if node.op_type == "Dropout" and not plain_domain(node.domain):
        return len(node.input) > 2 and bool(node.input[2])
    return any(word in node.op_type for word in _WORDS)
