"""An explored e-graph, indexed for matching.

Enters: a snapshot.  Leaves: an :class:`Index`: applications by operator, by the tensor that they
make, and by the tensors that they read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from tensat_dl.egraph.interning import ABSENT_ANALYSIS, Analysis
from tensat_dl.egraph.snapshot import Application, ENode, Projection, Saturated, bundle_outputs
from tensat_dl.vocabulary.operators import Operator


@dataclass(frozen=True)
class Made:
    """An application with the classes of its outputs, by place."""

    enode: ENode
    head: Application
    outputs: Mapping[int, int]


@dataclass
class Index:
    """`made` has the outputs of an application, `rows` finds an e-node by its head and children."""

    saturated: Saturated
    by_operator: dict[Operator, list[Made]] = field(default_factory=dict)
    made: dict[ENode, Made] = field(default_factory=dict)
    rows: dict[tuple[object, tuple[int, ...]], ENode] = field(default_factory=dict)
    _makers: dict[int, list[tuple[Made, int]]] = field(default_factory=dict)
    _readers: dict[int, list[Made]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Index every e-node."""
        self.rows.update(((node.head, node.children), node) for node in self.saturated.nodes)
        outputs = bundle_outputs(self.saturated.nodes)
        for node in self.saturated.nodes:
            if isinstance(node.head, Application):
                bundle = node.head.operator.has_bundle
                made = outputs.get(node.eclass, {}) if bundle else {0: node.eclass}
                self._add(Made(node, node.head, made))

    @property
    def absent(self) -> int:
        """The class of the missing input, -1 where nothing misses one."""
        return self.saturated.absent_class

    def _add(self, made: Made) -> None:
        self.made[made.enode] = made
        self.by_operator.setdefault(made.head.operator, []).append(made)
        for place, eclass in made.outputs.items():
            self._makers.setdefault(eclass, []).append((made, place))
        for child in dict.fromkeys(made.enode.children):
            self._readers.setdefault(child, []).append(made)

    def application(self, head: Application, children: tuple[int, ...]) -> ENode | None:
        """The e-node of an application; operands of commutative operators stand in any order."""
        row = self.rows.get((head, children))
        if row is None and head.operator.commutative and len(children) == 2:
            row = self.rows.get((head, children[::-1]))
        return row

    def tensor(self, made: Made, place: int) -> ENode:
        """The e-node that stands for an output of an application, in the class of the tensor."""
        if not made.head.operator.has_bundle:
            return made.enode
        return self.rows[(Projection(place), (made.enode.eclass,))]

    def makers(self, eclass: int) -> Iterator[tuple[Made, int]]:
        """The applications that make a tensor, and as which output."""
        yield from self._makers.get(eclass, ())

    def readers(self, eclass: int) -> Iterator[Made]:
        """The applications that read a tensor."""
        yield from self._readers.get(eclass, ())

    def analysis(self, eclass: int) -> Analysis:
        """What is known of a tensor."""
        if eclass == self.absent:
            return ABSENT_ANALYSIS
        return Analysis(self.saturated.class_types[eclass], self.saturated.weight[eclass])
