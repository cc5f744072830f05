"""What a run changed, region by region: what was there, what stands there now, why, what it saves.

Enters: the original graph, its explored e-graph, the chosen e-nodes, prices.  Leaves: a
:class:`Change` for each region of connected nodes that came or went.  The savings add up to the
difference of the whole.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tensat_dl.cost.models import CostModel
from tensat_dl.cost.posing import Pricer
from tensat_dl.diagnosis.derivation import Derivations
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.naming import Names, node_text, operator_text
from tensat_dl.diagnosis.origins import Origins, find_origins
from tensat_dl.diagnosis.steps import Steps
from tensat_dl.egraph.snapshot import Application, ENode, Saturated
from tensat_dl.graph.model import Graph, Node
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
    """`removed` are nodes of the original; `saved` is in the unit of the cost model; `rules` led
    to it: those behind what was added, and those that only found two tensors equal."""

    removed: tuple[str, ...]
    added: tuple[Added, ...]
    saved: float
    rules: tuple[str, ...]


def explain_answer(
    graph: Graph,
    saturated: Saturated,
    chosen: Mapping[int, ENode],
    prices: CostModel,
    program: CheckedProgram,
) -> tuple[Change, ...]:
    """The changes of one run."""
    index = Index(saturated)
    derivations = Derivations(Steps(index, program), find_origins(graph, index))
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
    index = derivations.steps.index
    before = _original(graph, saturated, derivations.origins)
    after = dict.fromkeys(
        node
        for node in chosen.values()
        if isinstance(node.head, Application) and not saturated.weight[node.eclass]
    )
    removed = {row: names[row in after :] for row, names in before.items()}
    removed = {row: names for row, names in removed.items() if names}
    added = dict.fromkeys(node for node in after if node not in before)
    teller = _Teller(Names(graph, saturated, index), chosen, pricer, derivations, removed, added)
    changes = [teller.change(region) for region in _regions([*removed, *added], index)]
    return tuple(sorted(changes, key=lambda change: -change.saved))


@dataclass(frozen=True)
class _Teller:
    """Says what happened in a region.  `removed` has the names of the nodes that an e-node was,
    `added` the new e-nodes."""

    words: Names
    chosen: Mapping[int, ENode]
    pricer: Pricer
    derivations: Derivations
    removed: Mapping[ENode, Sequence[str]]
    added: Collection[ENode]

    def change(self, region: Sequence[ENode]) -> Change:
        gone = [node for node in region if node in self.removed]
        new = [node for node in region if node in self.added]
        added = tuple(self._added(node) for node in new)
        rules = [rule for each in added for rule in each.rules]
        rules += [rule for node in gone for rule in _joining(node, self.chosen, self.derivations)]
        price = self.pricer.price
        return Change(
            tuple(name for node in gone for name in self.removed[node]),
            added,
            sum(price(node) * len(self.removed[node]) for node in gone) - sum(map(price, new)),
            tuple(dict.fromkeys(rules)),
        )

    def _added(self, node: ENode) -> Added:
        made = self.derivations.steps.index.made[node]
        operator = operator_text(made.head.operator)
        return Added(operator, self.words.values(made), self.derivations.chain(node))


def _joining(gone: ENode, chosen: Mapping[int, ENode], derivations: Derivations) -> Iterator[str]:
    """The rules that found what the answer has in place of an e-node equal to it."""
    index = derivations.steps.index
    made = index.made[gone]
    for place, eclass in made.outputs.items():
        if eclass in chosen:
            yield from derivations.between(chosen[eclass], {index.tensor(made, place)})


def _original(graph: Graph, saturated: Saturated, origins: Origins) -> dict[ENode, list[str]]:
    """The e-nodes of the original that an output needs, and what their nodes are called."""
    live = live_nodes(graph.nodes, (output.value for output in graph.outputs))
    needed = {node.outputs[0] for node in live if not _is_weight(node, saturated)}
    found = {
        row: [node_text(node) for node in nodes if node.outputs[0] in needed]
        for row, nodes in origins.nodes.items()
    }
    return {row: names for row, names in found.items() if names}


def _is_weight(node: Node, saturated: Saturated) -> bool:
    return all(saturated.weight[saturated.value_class[name]] for name in node.outputs)


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
