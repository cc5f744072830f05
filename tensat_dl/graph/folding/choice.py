"""Which nodes are folded: those that depend on constants alone, within a budget of bytes.

Enters: a graph without dead code, and the budget.  Leaves: positions of the nodes whose outputs
become constants.  A node that is not folded stays computed where something needs it; what depends
on it may be folded all the same.

The constants that the folded graph needs may take `budget` bytes more than those the graph has.
Where they would take more, the values that add most stay computed, one after another, and what
they are computed from is folded instead.  Nodes that rules made are outside of the budget: the
cost counted them as folded, so it falls by folding them.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field

from tensat_dl.graph.model import Graph, Node
from tensat_dl.vocabulary.dtypes import DType
from tensat_dl.vocabulary.operators import Operator, OperatorKind
from tensat_dl.vocabulary.types import TensorType, Type

#: What rules made may be so many times larger than the budget and all constants together.
_RULE_FACTOR = 16

_NEVER = frozenset(("QuantizeLinear", "DequantizeLinear", "DynamicQuantizeLinear"))


def is_foldable(operator: Operator) -> bool:
    """Operators of ONNX that give the same at every run; quantisation is left as it is."""
    known = operator.kind is OperatorKind.ONNX
    return known and operator.deterministic and operator.name not in _NEVER


def may_fold(node: Node) -> bool:
    """The same for a node: Dropout that may be in training mode is random."""
    trains = node.operator.name == "Dropout" and any(node.inputs[2:])
    return is_foldable(node.operator) and not trains


def is_foldable_type(type_: Type) -> bool:
    """Values of these types can become constants."""
    return isinstance(type_, TensorType) and type_.dtype is not DType.STRING


def choose(graph: Graph, budget: int) -> frozenset[int]:
    """Positions of the nodes to fold."""
    choice = _Choice(graph, _candidates(graph, budget))
    choice.need(output.value for output in graph.outputs)
    choice.keep_within(budget)
    return frozenset(choice.folded)


def needed_values(graph: Graph, folded: frozenset[int]) -> tuple[str, ...]:
    """Values of folded nodes that the rest of the graph reads, in order."""
    choice = _Choice(graph, set(folded))
    choice.need(output.value for output in graph.outputs)
    made = (name for position in sorted(folded) for name in graph.nodes[position].outputs)
    return tuple(name for name in made if name in choice.needed)


def size(graph: Graph, name: str) -> int:
    """Bytes of a value; 0 where it is not known before it is computed."""
    type_ = graph.type_of(name)
    return (type_.nbytes or 0) if isinstance(type_, TensorType) else 0


def _candidates(graph: Graph, budget: int) -> set[int]:
    """Nodes that could be computed now, and whose outputs are tensors.  What is larger than the
    budget and all constants together is not even computed on the way to something smaller."""
    limit = budget + sum(constant.nbytes for constant in graph.constants.values())
    known: set[str | None] = {None, *graph.constants}
    found = set()
    for position, node in enumerate(graph.nodes):
        most = limit * _RULE_FACTOR if node.index < 0 else limit
        small = all(size(graph, name) <= most for name in node.outputs)
        if small and may_fold(node) and known.issuperset(node.inputs):
            known.update(node.outputs)
            if all(is_foldable_type(graph.type_of(name)) for name in node.outputs):
                found.add(position)
    return found


@dataclass
class _Choice:
    """`needed`: values that the graph needs while `folded` are constants; `added`: bytes that the
    needed constants take, old and new ones, more than those of the graph."""

    graph: Graph
    folded: set[int]
    needed: set[str] = field(default_factory=set)
    _frontier: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        nodes = self.graph.nodes
        self.makers = {name: p for p, node in enumerate(nodes) for name in node.outputs}
        self.added = -sum(constant.nbytes for constant in self.graph.constants.values())

    def need(self, names: Iterable[str | None]) -> None:
        """Note that `names` are needed, and all that they are computed from."""
        waiting = list(names)
        while waiting:
            name = waiting.pop()
            if name is None or name in self.needed:
                continue
            self.needed.add(name)
            position = self.makers.get(name)
            if position is None:
                constant = self.graph.constants.get(name)
                self.added += constant.nbytes if constant else 0
            elif position in self.folded:
                self._frontier.append(name)
                self.added += self._cost(name)
            else:
                waiting += self.graph.nodes[position].inputs

    def keep_within(self, budget: int) -> None:
        """Leave values computed, those that add most first, until `added` is within the budget."""
        heap: list[tuple[int, str]] = []
        while self.added > budget:
            for name in self._frontier:
                if cost := self._cost(name):
                    heapq.heappush(heap, (self._freed_by(name) - cost, name))
            self._frontier = []
            if not heap:
                return
            position = self.makers[heapq.heappop(heap)[1]]
            if position in self.folded:
                self._leave(position)

    def _leave(self, position: int) -> None:
        node = self.graph.nodes[position]
        self.folded.remove(position)
        self.added -= sum(self._cost(name) for name in node.outputs if name in self.needed)
        self.need(node.inputs)

    def _cost(self, name: str) -> int:
        """Bytes that count against the budget."""
        made_by_rule = self.graph.nodes[self.makers[name]].index < 0
        return 0 if made_by_rule else size(self.graph, name)

    def _freed_by(self, name: str) -> int:
        """Bytes of the constants that `name` is made from and nothing else needs."""
        waiting: list[str | None] = [name]
        seen: set[str | None] = {None}
        freed = 0
        while waiting:
            read = waiting.pop()
            if read in seen or read is None:
                continue
            seen.add(read)
            if read in self.graph.constants and read not in self.needed:
                freed += self.graph.constants[read].nbytes
            elif read in self.makers:
                waiting += self.graph.nodes[self.makers[read]].inputs
        return freed
