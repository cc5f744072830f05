"""What a run changed, region by region: what was there, what stands there now, why, what it saves.

Enters: the original graph, its explored e-graph, the answer, prices.  Leaves: a :class:`Change`
for each region of connected nodes that came or went, and one for the rest: nodes that stay and are
run otherwise.  The savings add up to the difference of the whole.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from tensat_dl.cost.bill import paid_by_answer, paid_by_original
from tensat_dl.cost.free import free_classes, is_free
from tensat_dl.cost.models import CostModel
from tensat_dl.cost.settled import Settled
from tensat_dl.diagnosis.derivation import Derivations
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.naming import Names, node_text, operator_text
from tensat_dl.diagnosis.origins import find_origins
from tensat_dl.diagnosis.regions import ROUNDING, Region, Spot, find_regions
from tensat_dl.diagnosis.steps import Steps
from tensat_dl.egraph.snapshot import ENode, Saturated
from tensat_dl.graph.model import Graph, Node
from tensat_dl.language.program import CheckedProgram


class Reason(StrEnum):
    """Why nodes are gone, where that is by no rule.  UNFOLDED: constants that are left to be
    computed at run time, in one of both graphs."""

    SHARED = "common subexpression"
    FOLDED = "constant folding"
    UNNEEDED = "no output needs it"
    UNFOLDED = "constants that are not folded"


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
    to it: those behind what was added, and those that only found two tensors equal; `kept` are
    nodes that stay, and are run as one with others than before, or at another price."""

    removed: tuple[str, ...]
    added: tuple[Added, ...]
    saved: float
    rules: tuple[str, ...]
    kept: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()


def explain_answer(
    graph: Graph,
    saturated: Saturated,
    settled: Settled,
    prices: CostModel,
    program: CheckedProgram,
    saved: float,
) -> tuple[Change, ...]:
    """The changes of one run, those that save most first.  In all they save `saved`: what the
    pieces of both graphs do not account for are constants that folding leaves."""
    index = Index(saturated)
    derivations = Derivations(Steps(index, program), find_origins(graph, index))
    regions = _regions(graph, settled, prices, derivations)
    joins = _Joins(settled.chosen, derivations, free_classes(saturated))
    teller = _Teller(Names(graph, saturated, index), joins)
    changes = [teller.change(region) for region in regions if region.is_change]
    changes.sort(key=lambda change: -change.saved)
    changes += _elsewhere([region for region in regions if not region.is_change])
    left = saved - math.fsum(change.saved for change in changes)
    if abs(left) > ROUNDING * max(settled.before, settled.cost):
        changes.append(Change((), (), left, (), reasons=(Reason.UNFOLDED,)))
    return tuple(changes)


def nodes_gone_by(
    rules: Collection[str],
    graph: Graph,
    settled: Settled,
    prices: CostModel,
    derivations: Derivations,
) -> list[Node]:
    """The nodes of the original that the answer does without because some rules found what they
    make equal to something else, or constant."""
    joins = _Joins(settled.chosen, derivations, free_classes(derivations.steps.index.saturated))
    gone = [
        each for r in _regions(graph, settled, prices, derivations) for each in r.removed.items()
    ]
    by_rules = (nodes for spot, nodes in gone if not set(rules).isdisjoint(joins.rules(spot)))
    return [node for nodes in by_rules for node in nodes]


def _regions(
    graph: Graph, settled: Settled, prices: CostModel, derivations: Derivations
) -> list[Region]:
    index = derivations.steps.index
    before = paid_by_original(graph, index.saturated, settled, prices)
    return find_regions(before, paid_by_answer(settled, prices), derivations.origins, index)


def _elsewhere(regions: Sequence[Region]) -> Iterator[Change]:
    """All nodes that are beside no change, and yet are run otherwise."""
    if regions:
        kept = tuple(node_text(node) for region in regions for node in region.kept.values())
        yield Change((), (), math.fsum(region.saved for region in regions), (), kept)


@dataclass(frozen=True)
class _Joins:
    """Why nodes of the original are gone.  `chosen`: the answer by class; `free`: the classes that
    are known when the model is written."""

    chosen: Mapping[int, ENode]
    derivations: Derivations
    free: frozenset[int]

    def rules(self, gone: Spot) -> Iterator[str]:
        """The rules that found what the answer has in place of an e-node equal to it; or a
        constant, which what read it may then do without."""
        index = self.derivations.steps.index
        if not isinstance(gone, ENode):
            return
        made = index.made[gone]
        for place, eclass in made.outputs.items():
            there = {index.tensor(made, place)}
            chosen = self.chosen.get(eclass)
            instead = self._constants(eclass) if chosen is None else [chosen]
            ways = (self.derivations.between(node, there) for node in instead)
            yield from min(filter(None, ways), key=len, default=())

    def reasons(self, region: Region, *, by_rule: bool) -> Iterator[Reason]:
        """Why nodes are gone, beside what rules did."""
        if region.shared:
            yield Reason.SHARED
        gone = [(s, n) for s, nodes in region.removed.items() for n in nodes[:1]]
        if any(self._is_folded(spot, node) for spot, node in gone if spot not in region.shared):
            yield Reason.FOLDED
        elif gone and not by_rule and not region.shared:
            yield Reason.UNNEEDED

    def _constants(self, eclass: int) -> list[ENode]:
        """What is folded to a tensor, but for what is made of the tensor itself."""
        if eclass not in self.free:
            return []
        nodes = self.derivations.steps.index.saturated.nodes
        found = (node for node in nodes if node.eclass == eclass and eclass not in node.children)
        return [node for node in found if is_free(node, self.free)]

    def _is_folded(self, spot: Spot, node: Node) -> bool:
        """What it reads is constant by now."""
        if isinstance(spot, ENode):
            return is_free(spot, self.free)
        classes = self.derivations.steps.index.saturated.value_class
        return self.free.issuperset(classes[name] for name in node.inputs if name is not None)


@dataclass(frozen=True)
class _Teller:
    """Says what happened in a region."""

    names: Names
    joins: _Joins

    def change(self, region: Region) -> Change:
        added = tuple(map(self._added, region.added))
        rules = [rule for each in added for rule in each.rules]
        rules += [rule for spot in region.removed for rule in self.joins.rules(spot)]
        return Change(
            tuple(node_text(node) for nodes in region.removed.values() for node in nodes),
            added,
            region.saved,
            tuple(dict.fromkeys(rules)),
            tuple(map(node_text, region.kept.values())),
            tuple(self.joins.reasons(region, by_rule=bool(rules))),
        )

    def _added(self, node: ENode) -> Added:
        derivations = self.joins.derivations
        made = derivations.steps.index.made[node]
        operator = operator_text(made.head.operator)
        return Added(operator, self.names.values(made), derivations.chain(node))
