"""Which opset a model may have: its own, or a newer one that the user allows and the answer needs.

Enters: a graph, the newest opset that is allowed, the domains of operators that the rules declare.
Leaves: the opsets that rules may use, and in the end the oldest that the answer can be written at,
with the domains that it needs.  Nodes that are only carried along forbid an
opset in which they mean something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import onnx

from tensat_dl.errors import UsageError
from tensat_dl.graph.model import Graph, Node
from tensat_dl.graph.names import subgraphs
from tensat_dl.graph.source import plain_domain
from tensat_dl.graph.structure import describe_node
from tensat_dl.vocabulary import catalog
from tensat_dl.vocabulary.adapters import NEWEST, OLDEST, lowerable
from tensat_dl.vocabulary.operators import OperatorKind


def allowed_opsets(
    graph: Graph, newest: int, domains: Mapping[str, int]
) -> tuple[Mapping[str, int], tuple[str, ...]]:
    """The opsets that an answer may use, and why not `newest`, where that is.  Of `domains`, those
    that the model does not import are open to the answer, too.

    Raises UsageError where `newest` is not known.
    """
    opsets, barred = _allowed(graph, newest)
    return {**domains, **opsets}, barred


def _allowed(graph: Graph, newest: int) -> tuple[Mapping[str, int], tuple[str, ...]]:
    own = graph.opsets.get("", OLDEST)
    if newest > NEWEST:
        raise UsageError(
            f"`model.opset` is {newest}, but operators are known up to ai.onnx {NEWEST} only"
        )
    if newest <= own or own < OLDEST:
        return graph.opsets, ()
    raised = {**graph.opsets, "": newest}
    for node in graph.nodes:
        if node.operator.kind is OperatorKind.OPAQUE:
            proto = graph.source.node(node.index)
            if not means_the_same(proto, graph.opsets, raised):
                what = describe_node(proto, node.index)
                return graph.opsets, (
                    f"the opset stays {own}: {what} is only carried along, and does not mean the "
                    f"same in ai.onnx {newest}",
                )
    return raised, ()


def at_oldest_opset(graph: Graph, allowed: Mapping[str, int]) -> Graph:
    """The graph at the oldest opset from its own up to `allowed` at which it can be written, and
    with the other domains of `allowed` that it needs."""
    graph = _with_domains(graph, allowed)
    own = graph.opsets.get("", OLDEST)
    for version in range(own, allowed.get("", own) + 1):
        nodes = _made(graph) if version == own else iter(graph.nodes)
        if all(_can_be_written(node, graph, version) for node in nodes):
            return graph if version == own else replace(graph, opsets={**graph.opsets, "": version})
    return graph


def _with_domains(graph: Graph, allowed: Mapping[str, int]) -> Graph:
    made = {node.operator.domain for node in _made(graph)} & set(allowed)
    needed = {domain: allowed[domain] for domain in sorted(made) if domain not in graph.opsets}
    return replace(graph, opsets={**graph.opsets, **needed}) if needed else graph


def means_the_same(
    proto: onnx.NodeProto, before: Mapping[str, int], after: Mapping[str, int]
) -> bool:
    """The operator is of the same version at both opsets; so is what its subgraphs hold."""
    domain = plain_domain(proto.domain)
    versions = (before.get(domain, 1), after.get(domain, 1))
    schemas = [catalog.schema_at(domain, proto.op_type, version) for version in versions]
    same = len({schema.since_version if schema else 0 for schema in schemas}) == 1
    inner = (node for graph in subgraphs(proto) for node in graph.node)
    return same and all(means_the_same(node, before, after) for node in inner)


def _made(graph: Graph) -> Iterator[Node]:
    return (node for node in graph.nodes if node.index < 0)


def _can_be_written(node: Node, graph: Graph, version: int) -> bool:
    operator = node.operator
    if operator.kind is not OperatorKind.ONNX or operator.domain:
        return True
    types = tuple(map(graph.type_of, node.inputs))
    return lowerable(operator, node.attributes, types, version, len(node.outputs))
