"""Removing what no output depends on.

Enters: a graph, or its nodes and what is wanted of them.  Leaves: what is alive, in the order it
had.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from tensat_dl.graph.model import Graph, Node


def remove_dead(graph: Graph) -> Graph:
    """The graph without nodes and constants that no output depends on.

    Inputs stay: they are the interface.
    """
    nodes = live_nodes(graph.nodes, (output.value for output in graph.outputs))
    needed = {name for node in nodes for name in node.inputs}
    needed |= {output.value for output in graph.outputs}
    constants = {name: c for name, c in graph.constants.items() if name in needed}
    made = {name for node in nodes for name in node.outputs}
    known = made | set(constants) | set(graph.inputs)
    types = {name: type_ for name, type_ in graph.types.items() if name in known}
    return replace(graph, nodes=nodes, constants=constants, types=types)


def live_nodes(nodes: tuple[Node, ...], wanted: Iterable[str]) -> tuple[Node, ...]:
    """Those of `nodes` (in topological order) that `wanted` values depend on."""
    needed: set[str | None] = set(wanted)
    kept: list[Node] = []
    for node in reversed(nodes):
        if not needed.isdisjoint(node.outputs):
            kept.append(node)
            needed.update(node.inputs)
    return tuple(reversed(kept))
