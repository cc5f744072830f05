"""What a person calls the tensors and nodes of an explored e-graph.

Enters: the original graph, its snapshot.  Leaves: words: the names of the original where it has
the tensor or node, else the operator and the rule that made it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tensat_dl.diagnosis.index import Index, Made
from tensat_dl.egraph.snapshot import Saturated
from tensat_dl.graph.model import Graph, Node
from tensat_dl.graph.names import operators_inside
from tensat_dl.graph.untyped import untyped_inputs
from tensat_dl.vocabulary.operators import Operator, OperatorKind


@dataclass
class Names:
    """Names of classes and applications."""

    graph: Graph
    saturated: Saturated
    index: Index
    _values: dict[int, list[str]] = field(default_factory=dict)
    _nodes: dict[object, Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index the original's values and nodes by class."""
        classes = self.saturated.value_class
        for name, eclass in classes.items():
            self._values.setdefault(eclass, []).append(name)
        for node in self.graph.nodes:
            inputs = tuple(self.index.absent if i is None else classes[i] for i in node.inputs)
            self._nodes.setdefault((node.operator, inputs, classes[node.outputs[0]]), node)
            if node.operator.commutative and len(inputs) == 2:
                self._nodes.setdefault(
                    (node.operator, inputs[::-1], classes[node.outputs[0]]), node
                )

    def holding(self, operator: str) -> str | None:
        """The first node of the original with that operator in a subgraph, in words."""
        source = self.graph.source
        if source is None:
            return None
        own = (node for node in self.graph.nodes if node.index >= 0)
        holds = (n for n in own if operator in operators_inside(source.node(n.index)))
        node = next(holds, None)
        return None if node is None else f"the subgraphs of {node_text(node)}"

    def carried(self, operator: str) -> str | None:
        """Of the first node of that operator that is carried along: that no rule acts there."""
        named = (n for n in self.graph.nodes if n.operator.qualified_name == operator)
        node = next((n for n in named if n.operator.kind is OperatorKind.OPAQUE), None)
        if node is None:
            return None
        blind = untyped_inputs(self.graph, node)
        why = f": nothing is known of the type of `{blind[0]}`" if blind else ""
        return f"{node_text(node)} is carried along as it is, where no rule acts{why}"

    def tensor(self, eclass: int) -> str:
        """`` `x` ``, or what makes it."""
        if eclass == self.index.absent:
            return "a missing input"
        if eclass in self._values:
            return f"`{self._values[eclass][0]}`"
        made = next((m for m, _ in self.index.makers(eclass)), None)
        return "a new constant" if made is None else f"a new {made.head.operator.name}"

    def values(self, made: Made) -> tuple[str, ...]:
        """The values of the original that an application makes."""
        classes = made.outputs.values()
        return tuple(self._values[eclass][0] for eclass in classes if eclass in self._values)

    def node(self, made: Made) -> str:
        """`MatMul node 'q_proj'`, or `MatMul made by rule `merge``."""
        name = operator_text(made.head.operator)
        first = next(iter(made.outputs.values()), -1)
        original = self._nodes.get((made.head.operator, made.enode.children, first))
        if original is not None:
            return node_text(original)
        return f"{name} made by rule `{made.enode.rule}`" if made.enode.rule else name

    def find(self, name: str) -> int | None:
        """The class of a node (its first output) or of a value of the original graph."""
        for node in self.graph.nodes:
            if node.name == name:
                return self.saturated.value_class[node.outputs[0]]
        return self.saturated.value_class.get(name)

    def known(self) -> list[str]:
        """Every name that `find` knows."""
        return [*(n.name for n in self.graph.nodes if n.name), *self.saturated.value_class]


def operator_text(operator: Operator) -> str:
    """As rules write it: virtual operators have a domain of their own only inside."""
    return operator.name if operator.kind is OperatorKind.VIRTUAL else operator.qualified_name


def node_text(node: Node) -> str:
    """`MatMul node 'q_proj'`, or by what it makes where it has no name."""
    name = operator_text(node.operator)
    return f"{name} node '{node.name}'" if node.name else f"{name} of `{node.outputs[0]}`"
