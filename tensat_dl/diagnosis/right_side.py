"""A right side looked up in the explored e-graph.

Enters: the builds of a recipe with their columns, and what the left side bound.  Leaves: the
e-nodes that stand for them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from tensat_dl.diagnosis.index import Index
from tensat_dl.egraph.build import ABSENT, Build, BuildConstant, BuildMap, BuildNode, Many, One
from tensat_dl.egraph.interning import Interner
from tensat_dl.egraph.snapshot import Application, ENode, Leaf, LeafKind
from tensat_dl.egraph.typing import Columns, first_id


@dataclass
class Finder:
    """Looks the builds of a right side up, inputs before what reads them."""

    index: Index
    interner: Interner
    tensors: dict[str, int]
    lists: dict[str, tuple[int, ...]]
    found: list[ENode] = field(default_factory=list)
    made: dict[str, ENode] = field(default_factory=dict)

    def find(self, build: Build, columns: Columns) -> None:
        """Find one build.  Raises KeyError where the snapshot has none."""
        number = first_id(columns)
        match build:
            case BuildConstant(name):
                leaf = Leaf(LeafKind.CONSTANT, self.interner.constant(number).digest)
                self._name(name, self.index.rows[(leaf, ())])
            case BuildNode():
                children = tuple(c for item in build.inputs for c in self._classes(item))
                head = Application(build.operator, *self.interner.attributes(number))
                self._outputs(build, self._row(head, children))
            case BuildMap():
                head = Application(build.operator, *self.interner.attributes(number))
                rows = [self._row(head, row) for row in self._mapped(build)]
                self.lists[build.name] = tuple(row.eclass for row in rows)

    def _row(self, head: Application, children: tuple[int, ...]) -> ENode:
        row = self.index.application(head, children)
        if row is None:
            raise KeyError(head.operator.name)
        self.found.append(row)
        return row

    def _outputs(self, build: BuildNode, row: ENode) -> None:
        made = self.index.made[row]
        for place in made.outputs:
            tensor = self.index.tensor(made, place)
            if place < len(build.outputs):
                self._name(build.outputs[place], tensor)
            if place == 0:
                self._name(build.name, tensor)

    def _name(self, name: str, tensor: ENode) -> None:
        self.tensors[name], self.made[name] = tensor.eclass, tensor

    def _classes(self, item: str | One | Many) -> tuple[int, ...]:
        if isinstance(item, Many):
            return self.lists[item.ref]
        ref = item.ref if isinstance(item, One) else item
        return (self.index.absent if ref == ABSENT else self.tensors[ref],)

    def _mapped(self, build: BuildMap) -> Iterator[tuple[int, ...]]:
        for operand in self.lists[build.over]:
            fixed = [self._classes(ref)[0] for ref in build.inputs if ref != build.over]
            fixed.insert(build.position, operand)
            yield tuple(fixed)
