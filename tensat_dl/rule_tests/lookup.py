"""Is a term in an e-graph?

Enters: a snapshot and the nodes of a term.  Leaves: the e-nodes of the term, or the first of its
nodes that the e-graph does not hold.  Equal constants are one, and the operands of commutative
operators stand in any order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from tensat_dl.diagnosis.index import Index
from tensat_dl.egraph.lowering import LoweredNode
from tensat_dl.egraph.snapshot import ENode, Leaf, LeafKind, Saturated
from tensat_dl.graph.model import Constant
from tensat_dl.rule_tests.example import Term


class Missing(Exception):
    """The e-graph does not hold `node`."""

    def __init__(self, node: LoweredNode) -> None:
        super().__init__()
        self.node = node


@dataclass
class Lookup:
    """Finds terms; `classes` grows with the names that are known: value -> class."""

    saturated: Saturated
    constants: Mapping[str, Constant]
    classes: dict[str, int] = field(default_factory=dict)
    enodes: set[ENode] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.index = Index(self.saturated)
        self.classes.update(self.saturated.value_class)

    def find(self, term: Term) -> tuple[int, ...]:
        """The classes of a term's results; its applications are added to `enodes`.

        Raises Missing.
        """
        for node in term.nodes:
            self._find(node)
        return tuple(self._class_of(name) for name in term.results)

    def _find(self, node: LoweredNode) -> None:
        head = node.application
        try:
            children = tuple(self._child(name) for name in node.inputs)
        except KeyError:  # a constant that no rule made
            raise Missing(node) from None
        found = self.index.application(head, children)
        if found is None:
            raise Missing(node)
        self.enodes.add(found)
        for place, eclass in self.index.made[found].outputs.items():
            if place < len(node.outputs):
                self.classes[node.outputs[place]] = eclass

    def _child(self, name: str | None) -> int:
        return self.index.absent if name is None else self._class_of(name)

    def _class_of(self, name: str) -> int:
        constant = self.constants.get(name)
        if constant is None:
            return self.classes[name]
        return self.index.rows[(Leaf(LeafKind.CONSTANT, constant.digest), ())].eclass
