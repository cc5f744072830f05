"""What is said of a rule that fires, and the words for it.

Enters: the e-nodes and the pieces of answers.  Leaves: a :class:`Standing`, plain data.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum

from tensat_dl.cost.bill import Piece
from tensat_dl.diagnosis.index import Index
from tensat_dl.diagnosis.naming import Names, node_text
from tensat_dl.egraph.snapshot import Application, ENode, Projection, Saturated
from tensat_dl.graph.model import Node


class Verdict(StrEnum):
    """Where the rule stands.  LEADS: other rules made of its result what the answer has; EFFECT: it
    found equal or constant what the answer therefore does without; CHEAPER:
    the answer was not chosen by these costs alone, or not proven; UNKNOWN: no answer
    with it was found, and none ruled out."""

    IN_ANSWER = "in the answer"
    LEADS = "leads to the answer"
    EFFECT = "effect in the answer"
    EQUAL = "as cheap"
    DEARER = "dearer"
    CHEAPER = "cheaper"
    NONE = "no answer with it"
    NOTHING = "nothing new"
    UNTRACED = "not traced"
    UNKNOWN = "not found"


@dataclass(frozen=True)
class Place:
    """A tensor that the answer computes by `node`, which the rule `by` made, "" where the model has
    it; or the model did, and the answer does not (EFFECT)."""

    tensor: str
    node: str
    by: str


@dataclass(frozen=True)
class Difference:
    """What the answer runs to make a tensor, and what the best one with the rule's result does; ""
    where that is nothing."""

    tensor: str
    answer: str
    answer_cost: float
    other: str
    other_cost: float


@dataclass(frozen=True)
class Standing:
    """Costs are under `cost_model`, in `unit`: `cost` that of the answer, `cost_with` that of the
    best one with the rule's result, None where there is none or it is the answer; nothing with it
    costs less than `least`.  `proven`: nothing with it is cheaper; `places`: where the rule is in
    the answer or leads to it; `differences` where it is not; `reason`: why there is no answer with
    it, or why it is not chosen at no more cost; `notes`: what to know of the costs."""

    verdict: Verdict
    cost_model: str
    unit: str
    cost: float
    cost_with: float | None = None
    least: float | None = None
    proven: bool = True
    places: tuple[Place, ...] = ()
    differences: tuple[Difference, ...] = ()
    reason: str = ""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Teller:
    """Puts e-nodes and pieces into words."""

    names: Names
    index: Index
    saturated: Saturated

    def places(self, nodes: Iterable[ENode]) -> tuple[Place, ...]:
        """What the answer computes by some nodes; those that run stand before weights, and those
        with a name in the model first."""
        named = set(self.saturated.value_class.values())

        def order(node: ENode) -> tuple[bool, bool]:
            return self.saturated.weight[node.eclass], node.eclass not in named

        return tuple(
            Place(self.names.tensor(node.eclass), self._words([node]), node.rule)
            for node in sorted(nodes, key=order)
        )

    def gone(self, nodes: Iterable[Node]) -> tuple[Place, ...]:
        """Nodes of the original that the answer does without."""
        return tuple(Place(f"`{node.outputs[0]}`", node_text(node), "") for node in nodes)

    def differences(
        self, answer: Mapping[int, Piece], other: Mapping[int, Piece]
    ) -> tuple[Difference, ...]:
        """The tensors that are made of something else, those that cost most first.  What costs
        nothing in both is left out."""
        answer, other = self._by_tensor(answer), self._by_tensor(other)
        nothing = Piece((), 0.0)
        rows = []
        for tensor in dict.fromkeys((*answer, *other)):
            left, right = answer.get(tensor, nothing), other.get(tensor, nothing)
            if left.enodes != right.enodes and (left.cost or right.cost):
                rows.append((tensor, left, right))
        rows.sort(key=lambda row: -max(row[1].cost, row[2].cost))
        return tuple(
            Difference(
                self.names.tensor(tensor),
                self._words(left.enodes),
                left.cost,
                self._words(right.enodes),
                right.cost,
            )
            for tensor, left, right in rows
        )

    def _by_tensor(self, pieces: Mapping[int, Piece]) -> dict[int, Piece]:
        """What makes several tensors stands with the first of those that are used."""
        found: dict[int, Piece] = {}
        holders: dict[int, int] = {}
        for tensor, piece in sorted(pieces.items()):
            head = piece.enodes[0].head
            if isinstance(head, Projection):
                holders.setdefault(piece.enodes[0].children[0], tensor)
            if not (isinstance(head, Application) and head.operator.has_bundle):
                found[tensor] = piece
        for bundle, tensor in holders.items():
            if bundle in pieces:
                enodes = (*found[tensor].enodes, *pieces[bundle].enodes)
                found[tensor] = Piece(enodes, found[tensor].cost + pieces[bundle].cost)
        return found

    def _words(self, enodes: Iterable[ENode]) -> str:
        """What they are called; of what runs as one, the first operator first."""
        return " + ".join(dict.fromkeys(reversed([self._word(node) for node in enodes])))

    def _word(self, node: ENode) -> str:
        if isinstance(node.head, Application):
            return self.names.node(self.index.made[node])
        if isinstance(node.head, Projection):
            makers = self.index.makers(node.eclass)
            return self.names.node(next(m for m, _ in makers if m.enode.eclass == node.children[0]))
        return self.names.tensor(node.eclass)
