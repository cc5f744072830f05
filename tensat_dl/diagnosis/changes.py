"""What a run changed, region by region: what was there, what stands there now, why, what it saves.

Enters: the original graph, its explored e-graph, the chosen e-nodes, prices.  Leaves: a
:class:`Change` for each region of connected nodes that came or went.  The savings add up to the
difference of the whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace

from tensat_dl.cost.models import CostModel
from tensat_dl.cost.posing import Pricer
from tensat_dl.diagnosis.derivation import Derivations
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.naming import Names, node_text, operator_text
from tensat_dl.egraph.loading import application_of, attributes_in_graph
from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.graph.model import Graph
from tensat_dl.graph.prune import live_nodes
from tensat_dl.language.program import CheckedProgram


@dataclass(frozen=True)
class Added:
    """A new node, the values of the original that it makes, and the rules that had to act for it,
    the one that made it last."""

    operator: str
    makes: tuple[str, ...]
    rules: tuple[str, ...]


@dataclass(frozen=True)
class Change:
    """`removed` are nodes of the original; `saved` is in the unit of the cost model."""

    removed: tuple[str, ...]
    added: tuple[Added, ...]
    saved: float


def explain_answer(
    graph: Graph,
    saturated: Saturated,
    chosen: Mapping[int, ENode],
    prices: CostModel,
    program: CheckedProgram,
) -> tuple[Change, ...]:
    """The changes of one run."""
    derivations = Derivations(Index(saturated), program)
    return explain_changes(graph, saturated, chosen, Pricer(saturated, prices), derivations)


def explain_changes(
    graph: Graph,
    saturated: Saturated,
    chosen: Mapping[int, ENode],
    pricer: Pricer,
    derivations: Derivations,
) -> tuple[Change, ...]:
    """The regions in which the answer differs from the original, those that save most first.

    What depends on weights alone costs nothing and is folded, so it is left out.
    """
    index = derivations.index
    before: dict[ENode, list[str]] = {}
    for row, name in _original(graph, saturated, index):
        before.setdefault(row, []).append(name)
    after = dict.fromkeys(
        node
        for node in chosen.values()
        if isinstance(node.head, Application) and not saturated.weight[node.eclass]
    )
    removed = {row: names[row in after :] for row, names in before.items()}
    removed = {row: names for row, names in removed.items() if names}
    added = dict.fromkeys(node for node in after if node not in before)
    words = Names(graph, saturated, index)
    changes = [
        Change(
            tuple(name for node in region if node in removed for name in removed[node]),
            tuple(
                Added(
                    operator_text(index.made[node].head.operator),
                    words.values(index.made[node]),
                    derivations.chain(node),
                )
                for node in region
                if node in added
            ),
            sum(pricer.price(n) * len(removed[n]) for n in region if n in removed)
            - sum(pricer.price(n) for n in region if n in added),
        )
        for region in _regions([*removed, *added], index)
    ]
    return tuple(sorted(changes, key=lambda change: -change.saved))


def _original(graph: Graph, saturated: Saturated, index: Index) -> Iterator[tuple[ENode, str]]:
    """The e-node of each node of the original that an output needs, and what the node is called;
    equal nodes stand one after the other."""
    for node in live_nodes(graph.nodes, (output.value for output in graph.outputs)):
        if all(saturated.weight[saturated.value_class[name]] for name in node.outputs):
            continue
        inputs = tuple(index.absent if i is None else saturated.value_class[i] for i in node.inputs)
        head = replace(application_of(node), attributes=attributes_in_graph(node))
        row = index.application(head, inputs)
        if row is not None:
            yield row, node_text(node)


def _regions(nodes: list[ENode], index: Index) -> Iterator[list[ENode]]:
    """Nodes that make or read a tensor that one of them makes stand together."""
    order = {node: place for place, node in enumerate(nodes)}
    makes = {node: set(index.made[node].outputs.values()) | {node.eclass} for node in nodes}
    changed = {tensor for tensors in makes.values() for tensor in tensors}
    by_tensor: dict[int, list[ENode]] = {}
    for node in nodes:
        for tensor in {*makes[node], *node.children} & changed:
            by_tensor.setdefault(tensor, []).append(node)
    seen: set[ENode] = set()
    for start in nodes:
        if start in seen:
            continue
        seen.add(start)
        region, pending = [], [start]
        while pending:
            node = pending.pop()
            region.append(node)
            near = {n for t in {*makes[node], *node.children} for n in by_tensor.get(t, ())}
            pending += near - seen
            seen |= near
        yield sorted(region, key=order.__getitem__)
